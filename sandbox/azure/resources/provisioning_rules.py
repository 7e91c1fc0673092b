"""Rules of AKS on node auto-provisioning (NAP). The AKS pages node-auto-provisioning, node-auto-provisioning-networking and
use-node-auto-provisioning list its limits. Codes and texts follow the pattern of Azure/AKS #4759 and #5345; each is UNCONFIRMED but
the first.
"""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_requests import MACHINES, ClusterPools, ClusterRequest, ClusterRule, PoolsRule
from sandbox.cloud import rules
from sandbox.cloud.state import Body

_MODE = "properties.nodeProvisioningProfile.mode"


def enabled(cluster: Body | None) -> bool:
    """Return whether AKS runs Karpenter for a cluster."""
    return ((cluster or {}).get("nodeProvisioningProfile") or {}).get("mode") == "Auto"


def _refused(condition: str) -> AzureRefused:
    return aks("OperationNotAllowed", f".{_MODE} cannot be Auto {condition}.", _MODE)


def address_family(request: ClusterRequest) -> AzureRefused | None:
    # Azure/AKS #4759
    if not enabled(request.body) or request.body["networkProfile"]["ipFamilies"] == ["IPv4"]:
        return None
    return _refused("unless .properties.networkProfile.ipFamilies is set to one of [IPv4]")


@rules.as_read
def managed_identity(request: ClusterRequest) -> AzureRefused | None:
    # Page node-auto-provisioning: no service principals.
    if not enabled(request.body) or "identity" in request.body:
        return None
    return _refused("if .properties.servicePrincipalProfile is specified")


@rules.as_read
def plugin(request: ClusterRequest) -> AzureRefused | None:
    # Page node-auto-provisioning-networking (2026-09-09): no kubenet; a network of one's own (none) is allowed.
    if not enabled(request.body) or request.body["networkProfile"]["networkPlugin"] != "kubenet":
        return None
    return _refused("unless .properties.networkProfile.networkPlugin is set to one of [azure none]")


@rules.as_read
def policy(request: ClusterRequest) -> AzureRefused | None:
    # The same page: no Calico.
    if not enabled(request.body) or request.body["networkProfile"]["networkPolicy"] != "calico":
        return None
    return _refused("if .properties.networkProfile.networkPolicy is set to calico")


@rules.as_read
def egress_stays(request: ClusterRequest) -> AzureRefused | None:
    # Page node-auto-provisioning: the outbound type cannot change "after you create a cluster enabled with NAP".
    before, after = (
        (body or {}).get("networkProfile", {}).get("outboundType") for body in (request.current, request.body)
    )
    if not enabled(request.current) or not before or before == after:
        return None
    target = "properties.networkProfile.outboundType"
    text = f"Changing property '{target}' is not allowed with node auto-provisioning."
    return aks("PropertyChangeNotAllowed", text, target)


@rules.as_read
def machines_left(request: ClusterRequest) -> AzureRefused | None:
    # Page use-node-auto-provisioning: only without nodes of NAP. It also wants `limits.cpu: 0` in every NodePool, which is in the
    # cluster: not read here.
    if not enabled(request.current) or enabled(request.body):
        return None
    left = sum(group.body["count"] for group in request.resources.of_type(MACHINES, below=request.id))
    if not left:
        return None
    return aks(
        "OperationNotAllowed", f".{_MODE} cannot be Manual while {left} nodes of node auto-provisioning exist.", _MODE
    )


@rules.as_read
def autoscaled_or_windows(fleet: ClusterPools) -> AzureRefused | None:
    # Pages node-auto-provisioning and migrate-from-autoscaler-to-node-auto-provisioning: autoscaled pools need a feature flag.
    for pool in fleet.pools if enabled(fleet.cluster) else ():
        if pool["enableAutoScaling"] or pool["osType"] == "Windows":
            what = "enableAutoScaling" if pool["enableAutoScaling"] else "osType Windows"
            return _refused(f"if .properties.agentPoolProfiles.{what} is specified")
    return None


@rules.as_read
def pod_subnets(fleet: ClusterPools) -> AzureRefused | None:
    # Page node-auto-provisioning-networking: no pod subnet with dynamic IP allocation.
    if not enabled(fleet.cluster) or not any(pool.get("podSubnetID") for pool in fleet.pools):
        return None
    return _refused("if .properties.agentPoolProfiles.podSubnetID is specified")


@rules.as_read
def balancer_of_own_network(fleet: ClusterPools) -> AzureRefused | None:
    # Page node-auto-provisioning: a Standard Load Balancer in a virtual network of one's own.
    if not enabled(fleet.cluster) or fleet.network["loadBalancerSku"].lower() == "standard" or not fleet.subnets:
        return None
    return _refused("unless .properties.networkProfile.loadBalancerSku is set to one of [standard]")


RESULT: tuple[ClusterRule, ...] = (address_family, managed_identity, plugin, policy, egress_stays, machines_left)
POOLS: tuple[PoolsRule, ...] = (autoscaled_or_windows, pod_subnets, balancer_of_own_network)
