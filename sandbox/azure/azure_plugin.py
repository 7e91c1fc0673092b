"""Azure's plugin."""

from sandbox.azure import arm_server, azure_ids
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_operations import Propagation
from sandbox.azure.azure_provider import AzureProvider
from sandbox.azure.azure_quotas import Quotas
from sandbox.azure.resources.azure_table import TYPES
from sandbox.azure.scale_sets import PROVISIONED_SPOT, SPOT
from sandbox.cloud.facts import data
from sandbox.cloud.plugin import Driver, Plugin
from sandbox.kubernetes import node_objects

_DISK, _FILE = "disk.csi.azure.com", "file.csi.azure.com"

PLUGIN = Plugin(
    name="azure",
    package="azure-native",
    state_file="azure.json",
    quotas=Quotas,
    open=AzureCloud,
    provider=lambda cloud: AzureProvider(cloud, Propagation()),
    id_of=lambda type, inputs: TYPES[type].id(azure_ids.SUBSCRIPTION, inputs),
    naming=lambda type: TYPES[type].parameters[-1:],
    # "Can I use admission controller plugins" in the AKS FAQ (https://learn.microsoft.com/azure/aks/faq).
    admission=("ExtendedResourceToleration", "PodNodeSelector", "PodTolerationRestriction"),
    drivers={_DISK: Driver(_DISK, "topology.disk.csi.azure.com/zone"), _FILE: Driver(_FILE)},
    spot=SPOT,
    provisioned_spot=PROVISIONED_SPOT,
    autoscaler_status=True,
    serve=arm_server.serve,
    objects=lambda version: node_objects.manifests_in(data("azure", "objects")),
)
