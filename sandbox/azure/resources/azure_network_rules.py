"""Rules of AKS on the network of a cluster: plugin, policy and dataplane, outbound traffic, address ranges, subnets.

Codes on outbound traffic (pages egress-outboundtype, nat-gateway, egress-udr): list. Its texts are ours, except where a source
stands beside them.
"""

import ipaddress
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_network
from sandbox.azure.resources.azure_requests import ClusterPools, ClusterRequest
from sandbox.cloud import rules
from sandbox.cloud.state import Record

_POLICY = "networkProfile.networkPolicy"


@rules.as_read
def overlay_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS page azure-cni-overlay; code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    if profile.get("networkPluginMode") != "overlay" or profile["networkPlugin"] == "azure":
        return None
    text = f"Network plugin mode overlay needs network plugin azure, not {profile['networkPlugin']}."
    return aks("BadRequest", text, "networkProfile.networkPluginMode")


@rules.as_read
def pod_range_plugin(request: ClusterRequest) -> AzureRefused | None:
    # azure-cli PR 25113: a pod CIDR is for kubenet and overlay; code and text of the service UNCONFIRMED.
    profile = request.body["networkProfile"]
    if (
        profile["networkPlugin"] != "azure"
        or profile.get("networkPluginMode") == "overlay"
        or not profile.get("podCidr")
    ):
        return None
    text = "podCidr cannot be set with network plugin azure unless its mode is overlay."
    return aks("InvalidParameter", text, "networkProfile.podCIDR")


@rules.as_read
def cilium_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS page azure-cni-powered-by-cilium; code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    if profile["networkDataplane"] != "cilium" or profile["networkPlugin"] == "azure":
        return None
    text = f"Cilium dataplane requires network plugin azure, not {profile['networkPlugin']}."
    return aks("BadRequest", text, "networkProfile.networkPlugin")


def cilium_policy(request: ClusterRequest) -> AzureRefused | None:
    # AKS-Construction #535, bicep-registry-modules PR 3361. A missing policy is `none` (REST text), and that is refused too
    # (azure-cli-extensions PR 7011).
    profile = request.body["networkProfile"]
    if profile["networkDataplane"] == "cilium" and profile["networkPolicy"] != "cilium":
        subcode = "CiliumDataplaneRequiresNetworkPolicyCilium"
        return aks("BadRequest", "Cilium dataplane requires network policy cilium.", _POLICY, subcode=subcode)
    if profile["networkPolicy"] == "cilium" and profile["networkDataplane"] != "cilium":
        # REST text of networkPolicy; code and text UNCONFIRMED.
        return aks("BadRequest", "Network policy cilium requires network dataplane cilium.", _POLICY).as_read()
    return None


@rules.as_read
def policy_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS pages use-network-policies and use-byo-cni; codes: list.
    profile = request.body["networkProfile"]
    plugin, policy = profile["networkPlugin"], profile["networkPolicy"]
    if plugin == "kubenet" and policy == "azure":
        text = "Network policy azure is not supported for network plugin kubenet."
        return aks("NetworkPolicyAzureNotSupportedForKubenet", text, _POLICY)
    if plugin == "none" and policy != "none":
        text = "Network policy is not supported for network plugin none."
        return aks("NetworkPolicyNotSupportedForNone", text, _POLICY)
    return None


_OUTBOUND_TYPE = "networkProfile.outboundType"


@rules.as_read
def balancer(request: ClusterRequest) -> AzureRefused | None:
    profile = request.body["networkProfile"]
    if profile["outboundType"] == "loadBalancer" or profile["loadBalancerSku"].lower() == "standard":
        return None
    text = f"Outbound type {profile['outboundType']} needs load balancer SKU Standard."
    return aks("UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration", text, "networkProfile.loadBalancerSku")


@rules.as_read
def managed_gateway(fleet: ClusterPools) -> AzureRefused | None:
    if fleet.network["outboundType"] != "managedNATGateway" or not fleet.subnets:
        return None
    text = "Outbound type is managedNATGateway but agent pool is using custom VNet, which is not allowed."
    return aks("ManagedNATGatewayWithCustomVNetNotAllowed", text, _OUTBOUND_TYPE)


def own_gateway(fleet: ClusterPools) -> AzureRefused | None:
    # The stricter reading: the subnet of every pool needs the gateway, not only the first one's.
    if fleet.network["outboundType"] != "userAssignedNATGateway":
        return None
    for pool in fleet.pools:
        if not pool.get("vnetSubnetID"):
            # Quoted in a public troubleshooting page of 2026.
            text = (
                f"Outbound type is userAssignedNATGateway but agent pool `{pool['name']}` is not using custom VNet, which is "
                "not allowed."
            )
            return aks("UserAssignedNATGatewayWithManagedVNetNotAllowed", text, _OUTBOUND_TYPE)
        if "natGateway" not in _subnet(fleet, pool["vnetSubnetID"]):
            text = f"Subnet {pool['vnetSubnetID']} is not associated with a NAT gateway."
            return aks("SubnetNotAssociatedWithNATGateway", text, _OUTBOUND_TYPE).as_read()
    return None


def own_routes(fleet: ClusterPools) -> AzureRefused | None:
    if fleet.network["outboundType"] != "userDefinedRouting":
        return None
    for pool in fleet.pools:
        subnet = pool.get("vnetSubnetID") or ""
        table = fleet.resources.get(_subnet(fleet, subnet).get("routeTable", {}).get("id", ""))
        if table is None:
            # azure-docs #52060 quotes the second sentence alone.
            text = (
                f"An existing route table has not been associated with subnet {subnet}. Please update the route table "
                "association"
            )
            return aks("ExistingRouteTableNotAssociatedWithSubnet", text, _OUTBOUND_TYPE).as_read()
        hops = [r["nextHopType"] for r in table.body["routes"] if r["addressPrefix"] == "0.0.0.0/0"]
        if not hops:
            text = f"Route table {table.id} has no default route 0.0.0.0/0."
            return aks("RouteTableMissingDefaultRouteError", text, _OUTBOUND_TYPE).as_read()
        if hops[0] not in ("VirtualAppliance", "VirtualNetworkGateway"):
            # terraform-provider-azurerm #8609
            text = (
                f"Default route 0.0.0.0/0 has a next hop of {hops[0]} but only next hops of VirtualAppliance or "
                "VirtualNetworkGateway are allowed. Please see http://aka.ms/aks/outboundtype for more details"
            )
            return aks("RouteTableInvalidNextHop", text, _OUTBOUND_TYPE)
    return None


def _subnet(fleet: ClusterPools, id: str) -> dict[str, dict[str, str]]:
    subnet = fleet.resources.get(id)
    return subnet.body if subnet else {}


# AKS page configure-azure-cni: a cluster must not use any part of these.
_KEPT = tuple(map(ipaddress.ip_network, ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")))

_LARGEST_SERVICE_PREFIX = 12


@rules.as_read
def kept_ranges(request: ClusterRequest) -> AzureRefused | None:
    # Code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    for field, name in (("serviceCidrs", "serviceCIDR"), ("podCidrs", "podCIDR")):
        for text in profile.get(field, []):
            own_range = azure_network.cidr(text, f"networkProfile.{name}")
            for kept in _KEPT:
                if azure_network.overlap(own_range, kept):
                    words = f"NetworkProfile CIDR {text} overlaps with reserved CIDR {kept}"
                    return aks("InvalidParameter", words, f"networkProfile.{name}")
    return None


@rules.as_read
def service_range_size(request: ClusterRequest) -> AzureRefused | None:
    # AKS page configure-azure-cni: a service range is smaller than /12. Code and text UNCONFIRMED.
    for text in request.body["networkProfile"]["serviceCidrs"]:
        service = azure_network.cidr(text, "networkProfile.serviceCIDR")
        if service.version == 4 and service.prefixlen <= _LARGEST_SERVICE_PREFIX:
            words = f"The service CIDR {text} must be smaller than /{_LARGEST_SERVICE_PREFIX}."
            return aks("InvalidParameter", words, "networkProfile.serviceCIDR")
    return None


@rules.as_read
def dns_address(request: ClusterRequest) -> AzureRefused | None:
    # AKS page configure-azure-cni; codes: list.
    profile = request.body["networkProfile"]
    text, target = profile["dnsServiceIP"], "networkProfile.dnsServiceIP"
    service = azure_network.cidr(profile["serviceCidrs"][0], "networkProfile.serviceCIDR")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return aks("DnsServiceIpParseError", f"The DNS service IP {text} is not an IP address.", target)
    if address not in service:
        words = f"The DNS service IP {text} is not in the service CIDR {service}."
        return aks("DnsServiceIpOutOfServiceCidr", words, target)
    if address == service[1]:
        words = f"The DNS service IP {text} is the first address of the service CIDR, which is the API server's."
        return aks("DnsServiceIpConflicting", words, target)
    return None


@rules.as_read
def ranges_overlap(request: ClusterRequest) -> AzureRefused | None:
    # Code: list; the page configure-azure-cni.
    profile = request.body["networkProfile"]
    for text in profile.get("podCidrs", []):
        for other in profile["serviceCidrs"]:
            pods, service = (
                azure_network.cidr(text, "networkProfile.podCIDR"),
                azure_network.cidr(other, "networkProfile.serviceCIDR"),
            )
            if azure_network.overlap(pods, service):
                words = f"The specified pod CIDR {text} is conflicted with service CIDR {other}"
                return aks("PodCidrOverlapServiceCidr", words, "networkProfile.podCIDR")
    return None


def service_range(fleet: ClusterPools) -> AzureRefused | None:
    # AKS error page servicecidroverlapexistingsubnetscidr
    for text in fleet.network["serviceCidrs"]:
        service = azure_network.cidr(text, "networkProfile.serviceCIDR")
        for vnet in _networks(fleet):
            for subnet in fleet.resources.of_type(azure_network.SUBNET, below=vnet.id):
                for taken in azure_network.prefixes(subnet.body):
                    if azure_network.overlap(service, azure_network.cidr(taken, subnet.id)):
                        words = f"The specified service CIDR {text} is conflicted with an existing subnet CIDR {taken}"
                        return aks("ServiceCidrOverlapExistingSubnetsCidr", words, "networkProfile.serviceCIDR")
    return None


def pod_range(fleet: ClusterPools) -> AzureRefused | None:
    # AKS-Construction #403
    for text in fleet.network.get("podCidrs", []):
        pods = azure_network.cidr(text, "networkProfile.podCIDR")
        for vnet in _networks(fleet):
            for taken in azure_network.space(vnet.body):
                if azure_network.overlap(pods, azure_network.cidr(taken, vnet.id)):
                    words = f"NetworkProfile CIDR {text} overlaps with reserved VNET CIDR {taken}"
                    return aks("NetworkProfileCIDROverlapVNET", words, "networkProfile.podCIDR")
    return None


def _networks(fleet: ClusterPools) -> Iterator[Record]:
    """Yield the VNets of the cluster's pools."""
    networks = {
        azure_ids.key(azure_ids.parent(subnet.id)): fleet.resources.get(azure_ids.parent(subnet.id))
        for subnet in fleet.subnets
    }
    yield from (record for record in networks.values() if record is not None)
