"""Rules about a cluster's network: plugin, policy, ranges, subnets, and the way out."""

from typing import Any

from sandbox.azure import allocation
from sandbox.azure.resources import azure_network_rules, azure_pool_rules, cluster_pools_rules, subnet_sizes
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, SUBNET, SYSTEM
from .requests import Put, cluster, id_of, pool


def subnet(name: str) -> str:
    return id_of(SUBNET, resourceGroupName="ml", virtualNetworkName="net", subnetName=name)


def _in(location: str, network: Any = None, **changes: Any) -> Put:
    """Put a cluster whose nodes are in a subnet."""
    profile = {**SYSTEM, "vnetSubnetID": subnet(location), **changes}
    return cluster(agentPoolProfiles=[profile], networkProfile=network or {})


def _profile(**profile: Any) -> Put:
    return cluster(networkProfile=profile)


_FLAT = {"networkPlugin": "azure"}
_SMALL = {**REGULAR, "vnetSubnetID": subnet("small")}

ROWS = [
    Row("nodes among gateways", azure_pool_rules.services_subnet, "page vpn-gateway-vpn-faq")
    .assumes("GatewaySubnet is reserved for another service")
    .tries(_in, ("GatewaySubnet", "nodes")),
    Row("overlay for kubenet", azure_network_rules.overlay_plugin, "page azure-cni-overlay")
    .assumes("BadRequest", "mode overlay needs network plugin azure")
    .tries(_profile, networkPlugin=("kubenet", "azure"), networkPluginMode="overlay"),
    Row("pod range without overlay", azure_network_rules.pod_range_plugin, "azure-cli PR 25113")
    .assumes("podCidr cannot be set")
    .tries(_profile, networkPlugin=("azure", "kubenet"), podCidr="10.244.0.0/16"),
    Row("Cilium on kubenet", azure_network_rules.cilium_plugin, "page azure-cni-powered-by-cilium")
    .assumes("BadRequest", "Cilium dataplane requires network plugin azure")
    .tries(_profile, networkPlugin=("kubenet", "azure"), networkDataplane="cilium", networkPolicy="cilium"),
    Row("Cilium without its policy", azure_network_rules.cilium_policy, "AKS-Construction #535")
    .says("BadRequest", "Cilium dataplane requires network policy cilium.")
    .tries(_profile, networkDataplane="cilium", networkPolicy=(ABSENT, "cilium")),
    Row("Cilium's policy without Cilium", azure_network_rules.cilium_policy, "REST text")
    .assumes("BadRequest", "requires network dataplane cilium")
    .tries(_profile, networkPolicy=("cilium", "azure")),
    Row("Azure's policy on kubenet", azure_network_rules.policy_plugin, "page use-network-policies")
    .assumes("NetworkPolicyAzureNotSupportedForKubenet", "kubenet")
    .tries(_profile, networkPlugin="kubenet", networkPolicy=("azure", "calico")),
    Row("policy without a plugin", azure_network_rules.policy_plugin, "page use-byo-cni")
    .assumes("NetworkPolicyNotSupportedForNone", "plugin none")
    .tries(_profile, networkPlugin="none", networkPolicy=("calico", ABSENT)),
    Row("range Azure keeps", azure_network_rules.kept_ranges, "page configure-azure-cni")
    .assumes("overlaps with reserved CIDR 172.30.0.0/16")
    .tries(_profile, podCidr=("172.30.0.0/17", "172.29.0.0/17")),
    Row("service range too large", azure_network_rules.service_range_size, "page configure-azure-cni")
    .assumes("must be smaller than /12")
    .tries(_profile, serviceCidr=("10.16.0.0/12", "10.16.0.0/13"), dnsServiceIP="10.16.0.10"),
    Row("DNS service outside the service range", azure_network_rules.dns_address, "REST text")
    .assumes("DnsServiceIpOutOfServiceCidr", "10.0.0.10 is not in the service CIDR 10.1.0.0/16")
    .tries(_profile, serviceCidr="10.1.0.0/16", dnsServiceIP=(ABSENT, "10.1.0.10")),
    Row("DNS service at the API server's address", azure_network_rules.dns_address, "page configure-azure-cni")
    .assumes("DnsServiceIpConflicting", "10.0.0.1")
    .tries(_profile, dnsServiceIP=("10.0.0.1", "10.0.0.2")),
    Row("pod range over the service range", azure_network_rules.ranges_overlap, "page configure-azure-cni")
    .assumes("PodCidrOverlapServiceCidr", "is conflicted with service CIDR 10.0.0.0/16")
    .tries(_profile, podCidr=("10.0.128.0/17", "10.1.0.0/17")),
    Row("service range over a subnet", azure_network_rules.service_range, "2.1, 7.17")
    .says(
        "ServiceCidrOverlapExistingSubnetsCidr",
        "The specified service CIDR 10.100.0.0/24 is conflicted with an existing subnet CIDR 10.100.0.0/20",
    )
    .tries(
        _in,
        "small",
        {"serviceCidr": ("10.100.0.0/24", "10.101.0.0/24"), "dnsServiceIP": ("10.100.0.10", "10.101.0.10")},
    ),
    Row("pod range over the network", azure_network_rules.pod_range, "2.1, 7.17")
    .says(
        "NetworkProfileCIDROverlapVNET",
        "NetworkProfile CIDR 10.100.128.0/17 overlaps with reserved VNET CIDR 10.100.0.0/16",
    )
    .tries(_in, "nodes", {"podCidr": ("10.100.128.0/17", "10.102.128.0/17")}),
    Row("pod range over the network of a later pool", azure_network_rules.pod_range, "2.1, 7.17")
    .says("NetworkProfileCIDROverlapVNET", "overlaps with reserved VNET CIDR 10.100.0.0/16")
    .given(_profile(podCidr="10.100.128.0/17"))
    .tries(pool, REGULAR, resourceName="two", vnetSubnetID=(subnet("nodes"), ABSENT)),
    Row("subnet too small for the maximum", subnet_sizes.subnet_size, "2.1, 7.17")
    .says(
        "InsufficientSubnetSize",
        "Pre-allocated IPs 12 exceeds IPs available 11 in Subnet Cidr 10.100.16.0/28, Subnet Name small. If Autoscaler is enabled",
    )
    .tries(pool, _SMALL, enableAutoScaling=True, minCount=0, maxCount=(12, 11)),
    Row("subnet too small for two pools", subnet_sizes.subnet_size, "2.1, 7.17")
    .says("InsufficientSubnetSize", "Pre-allocated IPs 12")
    .given(pool(_SMALL, count=6))
    .tries(pool, _SMALL, agentPoolName="other", count=(6, 5)),
    Row("subnet too small for the pods in it", subnet_sizes.subnet_size, "2.1, 7.17")
    .says(
        "InsufficientSubnetSize",
        "Pre-allocated IPs 279 exceeds IPs available 251 in Subnet Cidr 10.100.32.0/24, Subnet Name pods.",
    )
    .tries(_in, "pods", _FLAT, count=(9, 8)),
    Row("subnet of the pods too small", subnet_sizes.subnet_size, "2.1, 7.17")
    .says(
        "InsufficientSubnetSize",
        "Pre-allocated IPs 330 exceeds IPs available 251 in Subnet Cidr 10.100.32.0/24, Subnet Name pods.",
    )
    .tries(_in, "nodes", _FLAT, podSubnetID=subnet("pods"), count=(3, 2)),
    Row("pod range too small", subnet_sizes.pod_range_size, "2.1, 7.17")
    .says(
        "InsufficientSubnetSize",
        "Pre-allocated IPs 1280 exceeds IPs available 1024 in Subnet Cidr 10.240.100.0/22, Subnet Name networkProfile.podCIDR.",
    )
    .given(_profile(podCidr="10.240.100.0/22"))
    .tries(pool, REGULAR, resourceName="two", enableAutoScaling=True, minCount=1, maxCount=(4, 3)),
    Row("subnet that another cluster has filled", allocation._subnet_full, "2.2", late=True)
    .says(
        "SubnetIsFull",
        "Subnet small with address prefix 10.100.16.0/28 does not have enough capacity for 5 IP addresses.",
    )
    .given(_in("small", count=7))
    .tries(pool, _SMALL, count=(5, 4), agentPoolName=(ABSENT, "other")),
    Row("spot behind a basic balancer", cluster_pools_rules.standard_balancer, "page spot-node-pool")
    .assumes("Spot node pools need a Standard Load Balancer.")
    .given(_profile(loadBalancerSku="basic"), cluster(resourceName="three"))
    .tries(pool, SPOT, resourceName=("two", "three")),
    Row("zones behind a basic balancer", cluster_pools_rules.standard_balancer, "page availability-zones")
    .assumes("SLBRequiredForAvailabilityZone", "Standard Load Balancer")
    .tries(
        cluster,
        networkProfile={"loadBalancerSku": "basic"},
        agentPoolProfiles=([{**SYSTEM, "availabilityZones": ["1"]}], ABSENT),
    ),
    Row("own routes behind a basic balancer", azure_network_rules.balancer, "page egress-outboundtype")
    .assumes("UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration", "userDefinedRouting")
    .tries(_in, "routed", {"outboundType": "userDefinedRouting", "loadBalancerSku": ("basic", ABSENT)}),
    Row("AKS' NAT gateway in a network of one's own", azure_network_rules.managed_gateway, "page nat-gateway")
    .assumes("ManagedNATGatewayWithCustomVNetNotAllowed", "agent pool is using custom VNet")
    .refuses(_in("nodes", {"outboundType": "managedNATGateway"}))
    .accepts(_profile(outboundType="managedNATGateway")),
    Row("own NAT gateway in AKS' network", azure_network_rules.own_gateway, "page nat-gateway")
    .says("UserAssignedNATGatewayWithManagedVNetNotAllowed", "agent pool `system` is not using custom VNet")
    .refuses(_profile(outboundType="userAssignedNATGateway"))
    .accepts(_in("nat", {"outboundType": "userAssignedNATGateway"})),
    Row("own NAT gateway that the subnet does not have", azure_network_rules.own_gateway, "page nat-gateway")
    .assumes("SubnetNotAssociatedWithNATGateway", "subnets/nodes is not associated with a NAT gateway")
    .given(_in("nat", {"outboundType": "userAssignedNATGateway"}))
    .tries(pool, REGULAR, resourceName="two", vnetSubnetID=(subnet("nodes"), subnet("nat"))),
    Row("own routes without a table", azure_network_rules.own_routes, "azure-docs #52060")
    .assumes("ExistingRouteTableNotAssociatedWithSubnet", "Please update the route table association")
    .tries(_in, ("nodes", "routed"), {"outboundType": "userDefinedRouting"}),
    Row("own routes without a default", azure_network_rules.own_routes, "page egress-udr")
    .assumes("RouteTableMissingDefaultRouteError", "has no default route 0.0.0.0/0")
    .tries(_in, "lost", {"outboundType": ("userDefinedRouting", "loadBalancer")}),
    Row("own routes straight to the internet", azure_network_rules.own_routes, "azurerm #8609")
    .says(
        "RouteTableInvalidNextHop",
        "Default route 0.0.0.0/0 has a next hop of Internet but only next hops of VirtualAppliance or VirtualNetworkGateway",
    )
    .tries(_in, "leaking", {"outboundType": ("userDefinedRouting", "loadBalancer")}),
]
