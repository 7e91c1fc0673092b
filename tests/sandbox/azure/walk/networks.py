"""Rules about a cluster's network: plugin, policy, ranges, subnets, and the way out."""

from __future__ import annotations

from typing import Any

from sandbox.azure import allocation
from sandbox.azure.resources import cluster_pools_rules, outbound_rules, plugin_rules, range_rules, subnet_rules

from ..conftest import REGULAR, SPOT, SUBNET, SYSTEM
from .row import Put, Row, cluster, id_of, pool


def subnet(name: str) -> str:
    return id_of(SUBNET, resourceGroupName="ml", virtualNetworkName="net", subnetName=name)


def _in(where: str, network: Any = None, **changes: Any) -> Put:
    """A cluster whose nodes are in a subnet."""
    profile = {**SYSTEM, "vnetSubnetID": subnet(where), **changes}
    return cluster(agentPoolProfiles=[profile], networkProfile=network or {})


def _profile(**profile: Any) -> Put:
    return cluster(networkProfile=profile)


_FLAT = {"networkPlugin": "azure"}
_SMALL = {**REGULAR, "vnetSubnetID": subnet("small")}

ROWS = [
    Row(
        "overlay for kubenet",
        "page azure-cni-overlay",
        plugin_rules.overlay_plugin,
        "BadRequest",
        "mode overlay needs network plugin azure",
        bad=_profile(networkPlugin="kubenet", networkPluginMode="overlay"),
        good=_profile(networkPlugin="azure", networkPluginMode="overlay"),
    ),
    Row(
        "pod range without overlay",
        "azure-cli PR 25113",
        plugin_rules.pod_range_plugin,
        "InvalidParameter",
        "podCidr cannot be set",
        bad=_profile(networkPlugin="azure", podCidr="10.244.0.0/16"),
        good=_profile(networkPlugin="kubenet", podCidr="10.244.0.0/16"),
    ),
    Row(
        "Cilium on kubenet",
        "page azure-cni-powered-by-cilium",
        plugin_rules.cilium_plugin,
        "BadRequest",
        "Cilium dataplane requires network plugin azure",
        bad=_profile(networkPlugin="kubenet", networkDataplane="cilium", networkPolicy="cilium"),
        good=_profile(networkPlugin="azure", networkDataplane="cilium", networkPolicy="cilium"),
    ),
    Row(
        "Cilium without its policy",
        "AKS-Construction #535",
        plugin_rules.cilium_policy,
        "BadRequest",
        "Cilium dataplane requires network policy cilium.",
        bad=_profile(networkDataplane="cilium"),
        good=_profile(networkDataplane="cilium", networkPolicy="cilium"),
    ),
    Row(
        "Cilium's policy without Cilium",
        "REST text",
        plugin_rules.cilium_policy,
        "BadRequest",
        "requires network dataplane cilium",
        bad=_profile(networkPolicy="cilium"),
        good=_profile(networkPolicy="azure"),
    ),
    Row(
        "Azure's policy on kubenet",
        "page use-network-policies",
        plugin_rules.policy_plugin,
        "NetworkPolicyAzureNotSupportedForKubenet",
        "kubenet",
        bad=_profile(networkPlugin="kubenet", networkPolicy="azure"),
        good=_profile(networkPlugin="kubenet", networkPolicy="calico"),
    ),
    Row(
        "policy without a plugin",
        "page use-byo-cni",
        plugin_rules.policy_plugin,
        "NetworkPolicyNotSupportedForNone",
        "plugin none",
        bad=_profile(networkPlugin="none", networkPolicy="calico"),
        good=_profile(networkPlugin="none"),
    ),
    Row(
        "range Azure keeps",
        "page configure-azure-cni",
        range_rules.kept_ranges,
        "InvalidParameter",
        "overlaps with reserved CIDR 172.30.0.0/16",
        bad=_profile(podCidr="172.30.0.0/17"),
        good=_profile(podCidr="172.29.0.0/17"),
    ),
    Row(
        "service range too large",
        "page configure-azure-cni",
        range_rules.service_range_size,
        "InvalidParameter",
        "must be smaller than /12",
        bad=_profile(serviceCidr="10.16.0.0/12", dnsServiceIP="10.16.0.10"),
        good=_profile(serviceCidr="10.16.0.0/13", dnsServiceIP="10.16.0.10"),
    ),
    Row(
        "DNS service outside the service range",
        "REST text",
        range_rules.dns_address,
        "DnsServiceIpOutOfServiceCidr",
        "10.0.0.10 is not in the service CIDR 10.1.0.0/16",
        bad=_profile(serviceCidr="10.1.0.0/16"),
        good=_profile(serviceCidr="10.1.0.0/16", dnsServiceIP="10.1.0.10"),
    ),
    Row(
        "DNS service at the API server's address",
        "page configure-azure-cni",
        range_rules.dns_address,
        "DnsServiceIpConflicting",
        "10.0.0.1",
        bad=_profile(dnsServiceIP="10.0.0.1"),
        good=_profile(dnsServiceIP="10.0.0.2"),
    ),
    Row(
        "pod range over the service range",
        "page configure-azure-cni",
        range_rules.ranges_overlap,
        "PodCidrOverlapServiceCidr",
        "is conflicted with service CIDR 10.0.0.0/16",
        bad=_profile(podCidr="10.0.128.0/17"),
        good=_profile(podCidr="10.1.0.0/17"),
    ),
    Row(
        "service range over a subnet",
        "2.1, 7.17",
        range_rules.service_range,
        "ServiceCidrOverlapExistingSubnetsCidr",
        "The specified service CIDR 10.100.0.0/24 is conflicted with an existing subnet CIDR 10.100.0.0/20",
        bad=_in("small", {"serviceCidr": "10.100.0.0/24", "dnsServiceIP": "10.100.0.10"}),
        good=_in("small", {"serviceCidr": "10.101.0.0/24", "dnsServiceIP": "10.101.0.10"}),
    ),
    Row(
        "pod range over the network",
        "2.1, 7.17",
        range_rules.pod_range,
        "NetworkProfileCIDROverlapVNET",
        "NetworkProfile CIDR 10.100.128.0/17 overlaps with reserved VNET CIDR 10.100.0.0/16",
        bad=_in("nodes", {"podCidr": "10.100.128.0/17"}),
        good=_in("nodes", {"podCidr": "10.102.128.0/17"}),
    ),
    Row(
        "pod range over the network of a later pool",
        "2.1, 7.17",
        range_rules.pod_range,
        "NetworkProfileCIDROverlapVNET",
        "overlaps with reserved VNET CIDR 10.100.0.0/16",
        given=(_profile(podCidr="10.100.128.0/17"),),
        bad=pool(REGULAR, resourceName="two", vnetSubnetID=subnet("nodes")),
        good=pool(REGULAR, resourceName="two"),
    ),
    Row(
        "subnet too small for the maximum",
        "2.1, 7.17",
        subnet_rules.subnet_size,
        "InsufficientSubnetSize",
        "Pre-allocated IPs 12 exceeds IPs available 11 in Subnet Cidr 10.100.16.0/28, Subnet Name small. If Autoscaler is enabled",
        bad=pool(_SMALL, enableAutoScaling=True, minCount=0, maxCount=12),
        good=pool(_SMALL, enableAutoScaling=True, minCount=0, maxCount=11),
    ),
    Row(
        "subnet too small for two pools",
        "2.1, 7.17",
        subnet_rules.subnet_size,
        "InsufficientSubnetSize",
        "Pre-allocated IPs 12",
        given=(pool(_SMALL, count=6),),
        bad=pool(_SMALL, agentPoolName="other", count=6),
        good=pool(_SMALL, agentPoolName="other", count=5),
    ),
    Row(
        "subnet too small for the pods in it",
        "2.1, 7.17",
        subnet_rules.subnet_size,
        "InsufficientSubnetSize",
        "Pre-allocated IPs 279 exceeds IPs available 251 in Subnet Cidr 10.100.32.0/24, Subnet Name pods.",
        bad=_in("pods", _FLAT, count=9),
        good=_in("pods", _FLAT, count=8),
    ),
    Row(
        "subnet of the pods too small",
        "2.1, 7.17",
        subnet_rules.subnet_size,
        "InsufficientSubnetSize",
        "Pre-allocated IPs 330 exceeds IPs available 251 in Subnet Cidr 10.100.32.0/24, Subnet Name pods.",
        bad=_in("nodes", _FLAT, podSubnetID=subnet("pods"), count=3),
        good=_in("nodes", _FLAT, podSubnetID=subnet("pods"), count=2),
    ),
    Row(
        "pod range too small",
        "2.1, 7.17",
        subnet_rules.pod_range_size,
        "InsufficientSubnetSize",
        "Pre-allocated IPs 1280 exceeds IPs available 1024 in Subnet Cidr 10.240.100.0/22, Subnet Name networkProfile.podCIDR.",
        given=(_profile(podCidr="10.240.100.0/22"),),
        bad=pool(REGULAR, resourceName="two", enableAutoScaling=True, minCount=1, maxCount=4),
        good=pool(REGULAR, resourceName="two", enableAutoScaling=True, minCount=1, maxCount=3),
    ),
    Row(
        "subnet that another cluster has filled",
        "2.2",
        allocation._subnet_full,
        "SubnetIsFull",
        "Subnet small with address prefix 10.100.16.0/28 does not have enough capacity for 5 IP addresses.",
        given=(_in("small", count=7),),
        bad=pool(_SMALL, count=5),
        good=pool(_SMALL, agentPoolName="other", count=4),
    ),
    Row(
        "spot behind a basic balancer",
        "page spot-node-pool",
        cluster_pools_rules.standard_balancer,
        "InvalidParameter",
        "Spot node pools need a Standard Load Balancer.",
        given=(_profile(loadBalancerSku="basic"), cluster(resourceName="three")),
        bad=pool(SPOT, resourceName="two"),
        good=pool(SPOT, resourceName="three"),
    ),
    Row(
        "zones behind a basic balancer",
        "page availability-zones",
        cluster_pools_rules.standard_balancer,
        "SLBRequiredForAvailabilityZone",
        "Standard Load Balancer",
        bad=cluster(
            networkProfile={"loadBalancerSku": "basic"}, agentPoolProfiles=[{**SYSTEM, "availabilityZones": ["1"]}]
        ),
        good=cluster(networkProfile={"loadBalancerSku": "basic"}),
    ),
    Row(
        "own routes behind a basic balancer",
        "page egress-outboundtype",
        outbound_rules.balancer,
        "UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration",
        "userDefinedRouting",
        bad=_in("routed", {"outboundType": "userDefinedRouting", "loadBalancerSku": "basic"}),
        good=_in("routed", {"outboundType": "userDefinedRouting"}),
    ),
    Row(
        "AKS' NAT gateway in a network of one's own",
        "page nat-gateway",
        outbound_rules.managed_gateway,
        "ManagedNATGatewayWithCustomVNetNotAllowed",
        "agent pool is using custom VNet",
        bad=_in("nodes", {"outboundType": "managedNATGateway"}),
        good=_profile(outboundType="managedNATGateway"),
    ),
    Row(
        "own NAT gateway in AKS' network",
        "page nat-gateway",
        outbound_rules.own_gateway,
        "UserAssignedNATGatewayWithManagedVNetNotAllowed",
        "agent pool `system` is not using custom VNet",
        bad=_profile(outboundType="userAssignedNATGateway"),
        good=_in("nat", {"outboundType": "userAssignedNATGateway"}),
    ),
    Row(
        "own NAT gateway that the subnet does not have",
        "page nat-gateway",
        outbound_rules.own_gateway,
        "SubnetNotAssociatedWithNATGateway",
        "subnets/nodes is not associated with a NAT gateway",
        given=(_in("nat", {"outboundType": "userAssignedNATGateway"}),),
        bad=pool(REGULAR, resourceName="two", vnetSubnetID=subnet("nodes")),
        good=pool(REGULAR, resourceName="two", vnetSubnetID=subnet("nat")),
    ),
    Row(
        "own routes without a table",
        "azure-docs #52060",
        outbound_rules.own_routes,
        "ExistingRouteTableNotAssociatedWithSubnet",
        "Please update the route table association",
        bad=_in("nodes", {"outboundType": "userDefinedRouting"}),
        good=_in("routed", {"outboundType": "userDefinedRouting"}),
    ),
    Row(
        "own routes without a default",
        "page egress-udr",
        outbound_rules.own_routes,
        "RouteTableMissingDefaultRouteError",
        "has no default route 0.0.0.0/0",
        bad=_in("lost", {"outboundType": "userDefinedRouting"}),
        good=_in("lost", {"outboundType": "loadBalancer"}),
    ),
    Row(
        "own routes straight to the internet",
        "azurerm #8609",
        outbound_rules.own_routes,
        "RouteTableInvalidNextHop",
        "Default route 0.0.0.0/0 has a next hop of Internet but only next hops of VirtualAppliance or VirtualNetworkGateway",
        bad=_in("leaking", {"outboundType": "userDefinedRouting"}),
        good=_in("leaking", {"outboundType": "loadBalancer"}),
    ),
]
