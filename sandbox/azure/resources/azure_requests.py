"""Clusters and pools in a request, as the rules see them."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.azure import azure_ids
from sandbox.azure.azure_catalogue import Machine, machines
from sandbox.azure.azure_errors import NAMING_RULES, AzureRefused, aks
from sandbox.azure.resources.azure_resource_type import type_named
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
MACHINES = "sandbox:Machines"
"""Machines of node auto-provisioning (`provisioned`). No type of azure-native: no resource of a program is one."""


def pools_of(resources: Resources, cluster_id: str) -> list[Record]:
    """Return a cluster's pools, inline and standalone, in order of creation."""
    return resources.of_type(POOL, below=cluster_id)


def machines_of(resources: Resources, cluster_id: str) -> list[Record]:
    """Return all that has machines in a cluster: its pools, and what node auto-provisioning made."""
    return [*pools_of(resources, cluster_id), *resources.of_type(MACHINES, below=cluster_id)]


class ClusterRequest(ResourceRequest):
    """A PUT of a cluster; `body` has defaults once the rules of `RESULT` see it."""

    @property
    def name(self) -> str:
        return azure_ids.last(self.id)

    def part(self, name: str) -> Body:
        """Return one of the objects in the resulting body; empty when it is missing."""
        part: Body = self.body.get(name) or {}
        return part

    @property
    def identities(self) -> list[str]:
        """The ids of the cluster's user-assigned identities."""
        return list(self.part("identity").get("userAssignedIdentities", []))


ClusterRule = Callable[[ClusterRequest], AzureRefused | None]


POOL_NAME: str = type_named(POOL).facts["names"]["agentPoolName"]["pattern"]

SPOT_LABEL = ("kubernetes.azure.com/scalesetpriority", "spot")
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


@dataclass
class PoolRequest:
    """One pool in a PUT. `wanted` is what was sent, `body` what would result (defaults added for `check_result`)."""

    name: str
    wanted: Body
    current: Body | None
    body: Body
    cluster: Body
    resources: Resources
    inline: bool
    first: bool

    @property
    def machine(self) -> Machine | None:
        return machines().get(self.body["vmSize"])

    @property
    def spot(self) -> bool:
        return self.body.get("scaleSetPriority") == "Spot"

    @property
    def system(self) -> bool:
        return self.body.get("mode") == "System"

    @property
    def section(self) -> str:
        return "agentPoolProfile" if self.inline else "properties"


PoolRule = Callable[[PoolRequest], AzureRefused | None]


def invalid(parameter: str, details: str = "") -> AzureRefused:
    """Return `InvalidParameter` in the words AKS uses for parameters."""
    more = f" Error details: {details}." if details else ""
    return aks("InvalidParameter", f"The value of parameter {parameter} is invalid.{more} {NAMING_RULES}", parameter)


@dataclass(frozen=True)
class ClusterPools:
    """The bodies that would result; `deleting` when a pool is taken away."""

    cluster: Body
    pools: list[Body]
    resources: Resources
    deleting: bool = False

    @property
    def network(self) -> Body:
        profile: Body = self.cluster["networkProfile"]
        return profile

    @property
    def subnets(self) -> list[Record]:
        """The subnets of nodes and pods that exist, each once."""
        named = [pool.get(field) for pool in self.pools for field in ("vnetSubnetID", "podSubnetID")]
        records = {azure_ids.key(id): self.resources.get(id) for id in named if id}
        return [record for record in records.values() if record is not None]


PoolsRule = Callable[[ClusterPools], AzureRefused | None]
