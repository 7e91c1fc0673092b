"""Rules of AKS on all pools of a cluster together, inline and standalone."""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_range_rules, azure_subnet_rules, outbound_rules
from sandbox.azure.resources.cluster_pools import ClusterPools, Rule
from sandbox.cloud import rules

_MOST_POOLS = 100


def some_pool(fleet: ClusterPools) -> AzureRefused | None:
    if fleet.pools or not fleet.deleting:
        return None
    return aks("OperationNotAllowed", "There has to be at least one agent pool.")  # azure-native #1575


def system_pool(fleet: ClusterPools) -> AzureRefused | None:
    # Only the mode makes a pool a system pool.
    if any(pool["mode"] == "System" for pool in fleet.pools):
        return None
    if fleet.deleting:
        # azure-cli #13420; the code is UNCONFIRMED.
        return aks("OperationNotAllowed", "There has to be at least one system agent pool.").as_read()
    # Azure/AKS #1568, #1602
    return aks("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")


@rules.as_read
def number_of_pools(fleet: ClusterPools) -> AzureRefused | None:
    # AKS page quotas-skus-regions; code: list.
    if len(fleet.pools) <= _MOST_POOLS:
        return None
    return aks("MaxAgentPoolCountReached", f"A cluster has at most {_MOST_POOLS} agent pools.", "agentPoolProfiles")


@rules.as_read
def node_provisioning(fleet: ClusterPools) -> AzureRefused | None:
    # AKS pages node-auto-provisioning and migrate-from-autoscaler-to-node-auto-provisioning: autoscaled pools need a feature
    # flag, Windows is not supported. The message follows the pattern of Azure/AKS #5345; for these two it is UNCONFIRMED.
    if fleet.cluster.get("nodeProvisioningProfile", {}).get("mode") != "Auto":
        return None
    for pool in fleet.pools:
        if pool["enableAutoScaling"] or pool["osType"] == "Windows":
            what = "enableAutoScaling" if pool["enableAutoScaling"] else "osType Windows"
            text = (
                ".properties.nodeProvisioningProfile.mode cannot be Auto if "
                f".properties.agentPoolProfiles.{what} is specified."
            )
            return aks("OperationNotAllowed", text, "properties.nodeProvisioningProfile.mode")
    return None


def skew(fleet: ClusterPools) -> AzureRefused | None:
    for pool in fleet.pools:
        refused = too_far_apart(pool["currentOrchestratorVersion"], fleet.cluster["currentKubernetesVersion"])
        if refused is not None:
            return refused
    return None


def too_far_apart(pool: str, control_plane: str) -> AzureRefused | None:
    # AKS error page nodepoolmcversionincompatible
    older, newer = (tuple(int(part) for part in version.split(".")) for version in (pool, control_plane))
    if older <= newer and newer[1] - older[1] <= 2:
        return None
    text = (
        f"Node pool version {pool} and control plane version {control_plane} are incompatible. Minor version of node pool "
        "cannot be more than 2 versions less than control plane's version."
    )
    return aks("NodePoolMcVersionIncompatible", text)


@rules.as_read
def standard_balancer(fleet: ClusterPools) -> AzureRefused | None:
    # AKS pages spot-node-pool, availability-zones and create-node-pools; codes: list, for spot pools UNCONFIRMED.
    if fleet.network["loadBalancerSku"].lower() == "standard":
        return None
    target = "networkProfile.loadBalancerSku"
    if any(pool.get("availabilityZones") for pool in fleet.pools):
        return aks("SLBRequiredForAvailabilityZone", "Availability zones need a Standard Load Balancer.", target)
    if any(pool.get("scaleSetPriority") == "Spot" for pool in fleet.pools):
        return aks("InvalidParameter", "Spot node pools need a Standard Load Balancer.", target)
    if len(fleet.pools) > 1:
        return aks("SLBRequiredForMultipleAgentPools", "Several agent pools need a Standard Load Balancer.", target)
    return None


RULES: tuple[Rule, ...] = (
    system_pool,
    number_of_pools,
    node_provisioning,
    skew,
    standard_balancer,
    azure_range_rules.service_range,
    azure_range_rules.pod_range,
    azure_subnet_rules.subnet_size,
    azure_subnet_rules.pod_range_size,
    outbound_rules.managed_gateway,
    outbound_rules.own_gateway,
    outbound_rules.own_routes,
)

REMAINING: tuple[Rule, ...] = (some_pool, system_pool)
"""Rules on the pools that remain after a pool is deleted."""


def check(fleet: ClusterPools) -> None:
    rules.check(REMAINING if fleet.deleting else RULES, fleet)
