"""Rules of AKS on all pools of a cluster together, inline and standalone, and on versions of a cluster and its pools."""

from sandbox.azure import azure_catalogue
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_network_rules, provisioning_rules, subnet_sizes
from sandbox.azure.resources.azure_requests import ClusterPools, ClusterRequest, PoolsRule, pools_of
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


RULES: tuple[PoolsRule, ...] = (
    *(system_pool, number_of_pools, *provisioning_rules.POOLS, skew, standard_balancer),
    *(azure_network_rules.service_range, azure_network_rules.pod_range, subnet_sizes.subnet_size),
    *(subnet_sizes.pod_range_size, azure_network_rules.managed_gateway, azure_network_rules.own_gateway),
    azure_network_rules.own_routes,
)

REMAINING: tuple[PoolsRule, ...] = (some_pool, system_pool)
"""Rules on the pools that remain after a pool is deleted."""


def check_pools(fleet: ClusterPools) -> None:
    rules.raise_first(REMAINING if fleet.deleting else RULES, fleet)


def version(request: ClusterRequest) -> AzureRefused | None:
    requested = request.body.get("kubernetesVersion", azure_catalogue.DEFAULT_VERSION)
    if request.current is not None and requested == request.current["kubernetesVersion"]:
        return None
    if azure_catalogue.long_term_only(requested) and request.body.get("supportPlan") != "AKSLongTermSupport":
        # apecloud/kubeblocks PR 10136, kubernetes-sigs/cluster-api-provider-azure #5953
        return aks(
            "K8sVersionNotSupported",
            f"Managed cluster {request.name} is on version {azure_catalogue.patch(requested)}, which is only available for "
            "Long-Term Support (LTS). If you intend to onboard to LTS, please ensure the cluster is in Premium tier and LTS "
            "support plan (see https://aka.ms/aks/enable-lts). Otherwise, use [az aks get-versions] command to get the supported "
            "version list in this region. For more information, please check https://aka.ms/supported-version-list",
        )
    if azure_catalogue.patch(requested) is not None:
        return None
    # azure-native PR 3550; Microsoft-Defender-for-Cloud #923
    if azure_catalogue.alias(requested) in azure_catalogue.PATCHES:
        text = f"Managed cluster {request.name} has invalid version {requested}."
    else:
        text = (
            f"Managed cluster {request.name} is on version {requested} which is not supported in this region. "
            "Please use [az aks get-versions] command to get the supported version list in this region."
        )
    return aks("K8sVersionNotSupported", text)


@rules.as_read
def version_step(request: ClusterRequest) -> AzureRefused | None:
    # AKS page upgrade-aks-cluster: one minor version at a time, and never back; code and text UNCONFIRMED.
    requested, current = request.body.get("kubernetesVersion"), (request.current or {}).get("currentKubernetesVersion")
    if not requested or not current or azure_catalogue.minor(requested) - azure_catalogue.minor(current) in (0, 1):
        return None
    text = f"Upgrading Kubernetes version {current} to {requested} is not allowed."
    return aks("OperationNotAllowed", text, "properties.kubernetesVersion")


def pool_versions(request: ClusterRequest) -> AzureRefused | None:
    """Refuse pool versions in a cluster's PUT but for all or none, each unchanged or the control plane's.

    Azure/AKS #3087 and #4765, pulumi-azure-native #2094, terraform-provider-azurerm #23436, Azure/ARO-HCP PR 662 (a cluster that
    lists its system pool only). UNCONFIRMED: whether a missing pool is refused where no version changes. It is here, as the
    stricter reading.
    """
    if request.current is None or not _named(request):
        return None
    pools = _versions(request)
    stay = all(version in (pools.get(name), _version(request)) for name, version in _named(request).items())
    if stay and _named(request).keys() == pools.keys():
        return None
    refused = _not_all_specified()
    return refused if _moves(request) or not stay else refused.as_read()


def upgraded_with_channel(request: ClusterRequest) -> AzureRefused | None:
    """Refuse to upgrade the control plane without its pools under an auto-upgrade channel (page auto-upgrade-cluster).

    `spot_with_cluster` forbids both together for clusters with spot pools. The page gives the code for `az aks upgrade
    --control-plane-only`. UNCONFIRMED: whether a PUT without pool versions is refused as well, and one that switches the channel
    off at the same time. Both are here.
    """
    bodies = (request.current or {}, request.body)
    channels = {body.get("autoUpgradeProfile", {}).get("upgradeChannel", "none") for body in bodies}
    if not _moves(request) or channels == {"none"}:
        return None
    if all(_named(request).get(pool) == _version(request) for pool in _versions(request)):
        return None
    refused = _not_all_specified()
    return refused if _named(request) and "none" not in channels else refused.as_read()


@rules.as_read
def spot_with_cluster(request: ClusterRequest) -> AzureRefused | None:
    # AKS page spot-node-pool: with spot pools, control plane and pools cannot be upgraded at the same time; code: list.
    if not _moves(request):
        return None
    pools = pools_of(request.resources, request.id)
    spot = [pool.body["name"] for pool in pools if pool.body.get("scaleSetPriority") == "Spot"]
    current = _versions(request)
    if not spot or all(version == current.get(name) for name, version in _named(request).items()):
        return None
    text = f"The control plane cannot be upgraded together with node pools: {', '.join(spot)} are spot pools."
    return aks("SpotPoolUpgradeNotAllowedDuringClusterUpgradeAll", text, "agentPoolProfiles")


def _moves(request: ClusterRequest) -> bool:
    return request.current is not None and _version(request) != request.current["kubernetesVersion"]


def _version(request: ClusterRequest) -> str:
    return str(request.body.get("kubernetesVersion", azure_catalogue.DEFAULT_VERSION))


def _named(request: ClusterRequest) -> dict[str, str]:
    """Return the pool versions that were sent, by pool."""
    profiles = request.wanted.get("agentPoolProfiles", [])
    return {pool["name"]: pool["orchestratorVersion"] for pool in profiles if pool.get("orchestratorVersion")}


def _versions(request: ClusterRequest) -> dict[str, str]:
    """Return the versions of the existing pools, by pool."""
    return {pool.body["name"]: pool.body["orchestratorVersion"] for pool in pools_of(request.resources, request.id)}


def _not_all_specified() -> AzureRefused:
    text = (
        "Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified. If all "
        "specified, they must be stay unchanged or the same with control plane. For agent pool specific change, please use per "
        "agent pool operations: https://aka.ms/agent-pool-rest-api"
    )
    return aks("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", text)
