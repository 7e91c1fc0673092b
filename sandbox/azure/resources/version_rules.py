"""Rules of AKS on the version of a cluster, and on pool versions in a request for the cluster."""

from sandbox.azure import azure_versions
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_path import pools_of
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.cloud import rules


def version(request: ClusterRequest) -> AzureRefused | None:
    requested = request.body.get("kubernetesVersion", azure_versions.DEFAULT)
    if request.current is not None and requested == request.current["kubernetesVersion"]:
        return None
    if azure_versions.long_term_only(requested) and request.body.get("supportPlan") != "AKSLongTermSupport":
        # apecloud/kubeblocks PR 10136, kubernetes-sigs/cluster-api-provider-azure #5953
        return aks(
            "K8sVersionNotSupported",
            f"Managed cluster {request.name} is on version {azure_versions.patch(requested)}, which is only available for Long-Term "
            "Support (LTS). If you intend to onboard to LTS, please ensure the cluster is in Premium tier and LTS support plan "
            "(see https://aka.ms/aks/enable-lts). Otherwise, use [az aks get-versions] command to get the supported version list "
            "in this region. For more information, please check https://aka.ms/supported-version-list",
        )
    if azure_versions.patch(requested) is not None:
        return None
    # azure-native PR 3550; Microsoft-Defender-for-Cloud #923
    if azure_versions.alias(requested) in azure_versions.PATCHES:
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
    if not requested or not current or azure_versions.minor(requested) - azure_versions.minor(current) in (0, 1):
        return None
    text = f"Upgrading Kubernetes version {current} to {requested} is not allowed."
    return aks("OperationNotAllowed", text, "properties.kubernetesVersion")


def pool_versions(request: ClusterRequest) -> AzureRefused | None:
    """Pool versions in a cluster's PUT: all or none; each one unchanged, or the control plane's.

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
    """Upgrades under an auto-upgrade channel: control plane and pools together (page auto-upgrade-cluster).

    `spot_with_cluster` forbids that for clusters with spot pools. The page gives the code for `az aks upgrade
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
    return str(request.body.get("kubernetesVersion", azure_versions.DEFAULT))


def _named(request: ClusterRequest) -> dict[str, str]:
    """The pool versions that were sent, by pool."""
    profiles = request.wanted.get("agentPoolProfiles", [])
    return {pool["name"]: pool["orchestratorVersion"] for pool in profiles if pool.get("orchestratorVersion")}


def _versions(request: ClusterRequest) -> dict[str, str]:
    """The versions of the existing pools, by pool."""
    return {pool.body["name"]: pool.body["orchestratorVersion"] for pool in pools_of(request.resources, request.id)}


def _not_all_specified() -> AzureRefused:
    text = (
        "Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified. If all "
        "specified, they must be stay unchanged or the same with control plane. For agent pool specific change, please use per "
        "agent pool operations: https://aka.ms/agent-pool-rest-api"
    )
    return aks("NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", text)
