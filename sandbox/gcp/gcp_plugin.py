"""Google Cloud's plugin."""

from sandbox.cloud.facts import data
from sandbox.cloud.plugin import Driver, Object, Plugin
from sandbox.gcp import gcp_catalogue, workstation
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_provider import GcpProvider
from sandbox.gcp.gcp_quotas import Quotas
from sandbox.gcp.gcp_spot import SPOT
from sandbox.gcp.resources.gcp_resource_type import Settings
from sandbox.gcp.resources.gcp_table import TYPES
from sandbox.kubernetes import node_objects

_ADMISSION_POLICIES = (1, 36)
"""The first version with MutatingAdmissionPolicy v1."""


def _objects(version: str) -> list[Object]:
    objects = node_objects.manifests_in(data("gcp", "objects"))
    if gcp_catalogue.number(version)[:2] >= _ADMISSION_POLICIES:
        return objects
    return [body for body in objects if not body["kind"].startswith("MutatingAdmissionPolicy")]


_DISK = Driver("pd.csi.storage.gke.io", "topology.gke.io/zone")

PLUGIN = Plugin(
    name="gcp",
    package="gcp",
    state_file="gcp.json",
    quotas=Quotas,
    open=GcpCloud,
    provider=GcpProvider,
    id_of=lambda type, inputs: TYPES[type].id(inputs, Settings()),
    naming=lambda type: ["project", *filter(None, [TYPES[type].auto_name])],
    # For GPU node pools (https://cloud.google.com/kubernetes-engine/docs/how-to/gpus).
    admission=("ExtendedResourceToleration",),
    # The old name stands for the same driver (kubernetes.io, page persistent-volumes, "CSI migration").
    drivers={_DISK.name: _DISK, "kubernetes.io/gce-pd": _DISK},
    spot=SPOT,
    compute_classes=True,
    manager="gke",
    objects=_objects,
    trust=workstation.trust,
    furnish=workstation.furnish,
)
