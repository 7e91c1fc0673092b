"""A small cloud to make requests to: a recording runtime, and requests in the engine's order (check, then create or update)."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.azure import azure_ids, azure_schema
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.azure_operations import Throttle
from sandbox.azure.azure_provider import AzureProvider
from sandbox.azure.azure_quotas import UNLIMITED, Quotas
from sandbox.cloud.provider import Resource
from sandbox.tests.engine_side import Caller, CheckFailed, Props, RecordingRuntime, no_waiting_for_the_disk

__all__ = ["CheckFailed", "Props", "RecordingRuntime", "no_waiting_for_the_disk"]

GROUP = "azure-native:resources:ResourceGroup"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"
ROLE = "azure-native:authorization:RoleAssignment"
CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"

CLUSTER_ID = (
    "/subscriptions/00000000-0000-4000-8000-00000000a2e5/resourcegroups/ml"
    "/providers/Microsoft.ContainerService/managedClusters/aks"
)
"""The id of the cluster that `Account.cluster` makes."""


def ml(**inputs: Any) -> Props:
    """Return inputs of a resource in the resource group `ml`."""
    return {"resourceGroupName": "ml", **inputs}


SYSTEM = {
    "name": "system",
    "mode": "System",
    "count": 1,
    "vmSize": "Standard_D4s_v5",
    "type": "VirtualMachineScaleSets",
}
AUTOSCALED = {**SYSTEM, "enableAutoScaling": True, "minCount": 1, "maxCount": 3}
SPOT = {
    "agentPoolName": "t4spot",
    "resourceGroupName": "ml",
    "resourceName": "aks",
    "type": "VirtualMachineScaleSets",
    "mode": "User",
    "count": 0,
    "enableAutoScaling": True,
    "minCount": 0,
    "maxCount": 4,
    "vmSize": "Standard_NC4as_T4_v3",
    "scaleSetPriority": "Spot",
}
REGULAR = {
    "agentPoolName": "cpu",
    "resourceGroupName": "ml",
    "resourceName": "aks",
    "count": 2,
    "vmSize": "Standard_D4s_v5",
}
CLUSTER_INPUTS: Props = ml(
    resourceName="aks",
    dnsPrefix="ml",
    kubernetesVersion="1.35",
    identity={"type": "SystemAssigned"},
    agentPoolProfiles=[SYSTEM],
)

ADDRESS_INPUTS: Props = ml(publicIpAddressName="egress", sku={"name": "Standard"}, publicIPAllocationMethod="Static")
NAT_INPUTS: Props = ml(natGatewayName="egress", sku={"name": "Standard"})
ROUTE = {"name": "out", "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.0.0.4"}
ROUTES_INPUTS: Props = ml(routeTableName="egress", routes=[ROUTE])
VAULT_INPUTS: Props = ml(
    vaultName="keys", properties={"tenantId": azure_ids.TENANT, "sku": {"family": "A", "name": "standard"}}
)


def deployment(pool: str, properties: Props) -> Props:
    """Return a deployment named `pool` that puts a pool of the cluster `aks`."""
    return {
        "resourceGroupName": "ml",
        "deploymentName": "pool",
        "properties": {
            "mode": "Incremental",
            "template": {
                "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
                "contentVersion": "1.0.0.0",
                "resources": [
                    {
                        "type": "Microsoft.ContainerService/managedClusters/agentPools",
                        "apiVersion": azure_schema.STORED.version_of(POOL),
                        "name": f"aks/{pool}",
                        "properties": {name: value for name, value in properties.items() if name != "name"},
                    }
                ],
            },
        },
    }


def refusal(act: Callable[..., object], *args: Any, **changes: Any) -> AzureRefused:
    """Make a request, which is refused."""
    with pytest.raises(AzureRefused) as refused:
        act(*args, **changes)
    return refused.value


class Clock:
    """Seconds that pass only during a wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class Account(Caller):
    """A subscription, and the engine's side of it."""

    def __init__(self, state_file: Path) -> None:
        self.state_file = state_file
        self.runtime = RecordingRuntime()
        self.clock = Clock()
        self.limit(UNLIMITED)

    def limit(self, quotas: Quotas) -> None:
        """Go on as a process of its own would, with other quotas."""
        throttle = Throttle(lambda: self.clock.now, self.clock.wait)
        self.cloud = AzureCloud(self.state_file, self.runtime, quotas, throttle)
        self.provider = AzureProvider(self.cloud)
        self.provider.configure({"location": "westeurope"})

    def group(self) -> Resource:
        return self.create(GROUP, ml())

    def _some_group(self) -> None:
        if self.cloud.get(f"/subscriptions/{azure_ids.SUBSCRIPTION}/resourceGroups/ml") is None:
            self.group()

    def cluster(self, **changes: Any) -> Resource:
        self._some_group()
        return self.create(CLUSTER, {**CLUSTER_INPUTS, **changes})

    def network(self, **changes: Any) -> Resource:
        self._some_group()
        inputs = ml(virtualNetworkName="net", addressSpace={"addressPrefixes": ["10.100.0.0/16"]})
        return self.create(NETWORK, {**inputs, **changes})

    def subnet(self, **changes: Any) -> Resource:
        inputs = ml(virtualNetworkName="net", subnetName="nodes", addressPrefix="10.100.0.0/20")
        return self.create(SUBNET, {**inputs, **changes})


@pytest.fixture
def account(tmp_path: Path) -> Account:
    """Return an empty subscription."""
    return Account(tmp_path / "azure.json")


@pytest.fixture(scope="session")
def _ready(tmp_path_factory: pytest.TempPathFactory) -> Account:
    account = Account(tmp_path_factory.mktemp("ready") / "azure.json")
    account.cluster()
    return account


@pytest.fixture
def ready(account: Account, _ready: Account) -> Account:
    """Return a subscription with a resource group and a cluster `aks` of one system node."""
    shutil.copy(_ready.state_file, account.state_file)
    account.runtime.calls = list(_ready.runtime.calls)
    account.runtime.nodes = dict(_ready.runtime.nodes)
    return account
