"""Rules about node auto-provisioning: what AKS does not have it with, and what stays while it is on."""

from sandbox.azure.resources import provisioning_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import AUTOSCALED, CLUSTER, CLUSTER_INPUTS, REGULAR, SPOT, SYSTEM, Account
from .networks import subnet
from .requests import GUID, Put, cluster, id_of, pool

_AUTO = {"mode": "Auto"}
_SWITCHED = ({"mode": "Auto"}, ABSENT)
_CANNOT = ".properties.nodeProvisioningProfile.mode cannot be Auto"
_PAGE, _NETWORKS = "page node-auto-provisioning", "page node-auto-provisioning-networking"
_TWO = id_of(CLUSTER, resourceGroupName="ml", resourceName="two")
_MACHINE = {
    "hardware": {"vmSize": "Standard_D4s_v5"},
    "operatingSystem": {"osSKU": "Ubuntu2404", "osDiskType": "Managed"},
    "tags": {"karpenter.sh_nodepool": "cpu"},
}


def _with_machine(account: Account) -> None:
    account.cloud.put_machine(_TWO, "cpu-1", {"properties": _MACHINE})


def _without_machine(account: Account) -> None:
    account.cloud.delete_machines(_TWO, ["cpu-1"])


def _set_mode(mode: str) -> Put:
    return Put(CLUSTER, {**CLUSTER_INPUTS, "resourceName": "two", "nodeProvisioningProfile": {"mode": mode}})


ROWS = [
    Row("node auto-provisioning with autoscaled pools", provisioning_rules.autoscaled_or_windows, "2.1")
    .assumes("OperationNotAllowed", f"{_CANNOT} if .properties.agentPoolProfiles.enableAutoScaling is specified.")
    .tries(cluster, nodeProvisioningProfile=_AUTO, agentPoolProfiles=([AUTOSCALED], ABSENT)),
    Row("autoscaled pool under node auto-provisioning", provisioning_rules.autoscaled_or_windows, "2.1")
    .assumes("OperationNotAllowed", _CANNOT)
    .given(cluster(nodeProvisioningProfile=_AUTO))
    .tries(pool, (SPOT, REGULAR), resourceName="two"),
    Row("node auto-provisioning with IPv6", provisioning_rules.address_family, "2.1")
    .says("OperationNotAllowed", "unless .properties.networkProfile.ipFamilies is set to one of [IPv4].")
    .tries(cluster, nodeProvisioningProfile=_SWITCHED, networkProfile={"ipFamilies": ["IPv4", "IPv6"]}),
    Row("node auto-provisioning with a service principal", provisioning_rules.managed_identity, "2.1")
    .assumes("OperationNotAllowed", "if .properties.servicePrincipalProfile is specified.")
    .tries(
        cluster,
        nodeProvisioningProfile=_SWITCHED,
        identity=None,
        servicePrincipalProfile={"clientId": GUID, "secret": "x"},
    ),
    Row("node auto-provisioning on kubenet", provisioning_rules.plugin, _NETWORKS)
    .assumes("OperationNotAllowed", "unless .properties.networkProfile.networkPlugin is set to one of [azure none].")
    .tries(cluster, nodeProvisioningProfile=_AUTO, networkProfile={"networkPlugin": ("kubenet", "azure")}),
    Row("node auto-provisioning with Calico", provisioning_rules.policy, _NETWORKS)
    .assumes("OperationNotAllowed", "if .properties.networkProfile.networkPolicy is set to calico.")
    .tries(
        cluster,
        nodeProvisioningProfile=_AUTO,
        networkProfile={"networkPlugin": "azure", "networkPolicy": ("calico", "azure")},
    ),
    Row("node auto-provisioning with a pod subnet", provisioning_rules.pod_subnets, _NETWORKS)
    .assumes("OperationNotAllowed", "if .properties.agentPoolProfiles.podSubnetID is specified.")
    .tries(
        cluster,
        nodeProvisioningProfile=_SWITCHED,
        networkProfile={"networkPlugin": "azure"},
        agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet("nodes"), "podSubnetID": subnet("pods")}],
    ),
    Row("node auto-provisioning with a basic balancer", provisioning_rules.balancer_of_own_network, _PAGE)
    .assumes("OperationNotAllowed", "unless .properties.networkProfile.loadBalancerSku is set to one of [standard].")
    .tries(
        cluster,
        nodeProvisioningProfile=_AUTO,
        networkProfile={"loadBalancerSku": ("basic", "standard")},
        agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet("nodes")}],
    ),
    Row("another way out under node auto-provisioning", provisioning_rules.egress_stays, _PAGE)
    .assumes("PropertyChangeNotAllowed", "Changing property 'properties.networkProfile.outboundType' is not allowed")
    .given(cluster(nodeProvisioningProfile=_AUTO))
    .tries(
        cluster, nodeProvisioningProfile=_AUTO, networkProfile={"outboundType": ("managedNATGateway", "loadBalancer")}
    ),
    Row("off while its nodes exist", provisioning_rules.machines_left, "page use-node-auto-provisioning")
    .assumes("OperationNotAllowed", "cannot be Manual while 1 nodes of node auto-provisioning exist.")
    .given(cluster(nodeProvisioningProfile=_AUTO), _with_machine)
    .refuses(_set_mode("Manual"))
    .accepts(_without_machine, _set_mode("Manual")),
]
