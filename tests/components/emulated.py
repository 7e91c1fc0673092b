"""The emulated Azure behind Pulumi's mocks.

`seed` creates the existing resources that a stack file refers to, so that each reference is checked.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_provider import AzureProvider
from sandbox.azure.resources.azure_resource_type import type_of_id
from sandbox.tests.azure.conftest import CLUSTER, GROUP, NETWORK, SUBNET, RecordingRuntime
from tests.components.emulation import Emulated

NAT = "azure-native:network:NatGateway"
ADDRESS = "azure-native:network:PublicIPAddress"
ROUTES = "azure-native:network:RouteTable"

_LEAST: dict[str, dict[str, Any]] = {
    "azure-native:containerregistry:Registry": {"sku": {"name": "Standard"}},
    "azure-native:keyvault:Vault": {
        "properties": {"tenantId": azure_ids.TENANT, "sku": {"family": "A", "name": "standard"}, "accessPolicies": []}
    },
    "azure-native:compute:DiskEncryptionSet": {
        "activeKey": {"keyUrl": "https://keys.vault.azure.net/keys/disks/1"},
        "identity": {"type": "SystemAssigned"},
    },
    "azure-native:operationalinsights:Workspace": {},
    "azure-native:monitor:AzureMonitorWorkspace": {},
    "azure-native:storage:StorageAccount": {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}},
}
"""The least inputs of what a stack file names by id."""


class EmulatedAzure(Emulated):
    """The emulated Azure, with what stacks refer to."""

    prefix = "azure-native:"

    def __init__(self, state: Path, location: str) -> None:
        super().__init__(AzureProvider(AzureCloud(state, RecordingRuntime())))
        self._location = location
        self._groups: set[tuple[str, str]] = set()
        """Those that exist, after their subscription."""
        self.provider.configure({"location": location})

    def kubelet(self, resource_group: str, cluster: str = "") -> str:
        """Return the object id of the identity a cluster's nodes pull images with."""
        read = self.provider.invoke(
            "azure-native:containerservice:getManagedCluster",
            {"resourceGroupName": resource_group, "resourceName": cluster or resource_group},
        )
        return str(read["identityProfile"]["kubeletidentity"]["objectId"])

    def seed(self, settings: Mapping[str, Any]) -> None:
        """Make what the settings of a stack, as in its file's `config`, refer to."""
        cloud = settings["kubeflow-spot:cloud"]
        if "existingResourceGroup" in cloud:
            self._group(cloud["existingResourceGroup"])
        network = cloud.get("network", {})
        if "existing" in network:
            self._network(network["existing"], _subnets(settings), network.get("outboundType", "loadBalancer"))
        for id in sorted(_ids(settings)):
            self._named_by_id(id)
        self.provider.configure({"location": self._location})
        if "existingCluster" in cloud:
            self._cluster(cloud["existingCluster"], _subnets(settings))

    def _group(self, name: str, subscription: str = azure_ids.SUBSCRIPTION) -> None:
        if (subscription.lower(), name.lower()) not in self._groups:
            self._groups.add((subscription.lower(), name.lower()))
            self.make(GROUP, {"resourceGroupName": name, "location": self._location})

    def _network(self, names: Mapping[str, str], subnets: set[str], outbound: str) -> str:
        """Make the network with these subnets and the one it names; return that one's id."""
        self._group(names["resourceGroup"])
        place = {"resourceGroupName": names["resourceGroup"], "location": self._location}
        attached: dict[str, Any] = {}
        if outbound == "userAssignedNATGateway":
            sku = {"sku": {"name": "Standard"}}
            static = {"publicIPAllocationMethod": "Static"}
            address, _ = self.make(ADDRESS, {**place, **sku, **static, "publicIpAddressName": "out"})
            gateway, _ = self.make(
                NAT, {**place, **sku, "natGatewayName": "out", "publicIpAddresses": [{"id": address}]}
            )
            attached = {"natGateway": {"id": gateway}}
        if outbound == "userDefinedRouting":
            hop = {"nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.224.255.4"}
            route = {"name": "out", "addressPrefix": "0.0.0.0/0", **hop}
            table, _ = self.make(ROUTES, {**place, "routeTableName": "out", "routes": [route]})
            attached = {"routeTable": {"id": table}}
        space = {"addressSpace": {"addressPrefixes": ["10.224.0.0/16"]}}
        self.make(NETWORK, {**place, "virtualNetworkName": names["name"], **space})
        subnet_ids = {}
        for index, subnet in enumerate(sorted({names["subnet"], *subnets})):
            subnet_ids[subnet], _ = self.make(
                SUBNET,
                {
                    "resourceGroupName": names["resourceGroup"],
                    "virtualNetworkName": names["name"],
                    "subnetName": subnet,
                    "addressPrefix": f"10.224.{16 * index}.0/20",
                    **attached,
                },
            )
        return subnet_ids[names["subnet"]]

    def _named_by_id(self, id: str) -> None:
        kind = type_of_id(id)
        parameters = kind.matches(id) if kind else None
        # The emulated Azure accepts every id of another type, such as a DNS zone.
        if kind and parameters and kind.token in _LEAST:
            subscription = id.split("/")[2]
            self.provider.configure({"location": self._location, "subscriptionId": subscription})
            self._group(azure_ids.group_name(id), subscription)
            self.make(kind.token, {**parameters, **_LEAST[kind.token]})
            if kind.token.endswith(":StorageAccount"):
                self.make("azure-native:storage:BlobContainer", {**parameters, "containerName": "checkpoints"})

    def _cluster(self, names: Mapping[str, str], subnets: set[str]) -> None:
        network = {"resourceGroup": names["resourceGroup"], "name": names["name"], "subnet": "nodes"}
        nodes = self._network(network, subnets, "loadBalancer")
        system = {"name": "agentpool", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5", "vnetSubnetID": nodes}
        self.make(
            CLUSTER,
            {
                "resourceGroupName": names["resourceGroup"],
                "resourceName": names["name"],
                "dnsPrefix": names["name"],
                "identity": {"type": "SystemAssigned"},
                "agentPoolProfiles": [{**system, "type": "VirtualMachineScaleSets"}],
            },
        )


def _subnets(settings: Mapping[str, Any]) -> set[str]:
    pools = [*settings.get("kubeflow-spot:pools", ()), settings.get("kubeflow-spot:systemPool", {})]
    return {pool["subnet"] for pool in pools if "subnet" in pool}


def _ids(value: Any) -> Iterator[str]:
    """Yield every Azure id in the settings."""
    if isinstance(value, str) and value.lower().startswith("/subscriptions/"):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _ids(item)
