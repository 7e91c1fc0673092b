"""Rules of AKS on outbound traffic of a cluster (pages egress-outboundtype, nat-gateway, egress-udr).

Codes: list. Texts are ours, except where a source stands beside them.
"""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.azure.resources.cluster_pools import ClusterPools
from sandbox.cloud import rules

_TARGET = "networkProfile.outboundType"


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
    return aks("ManagedNATGatewayWithCustomVNetNotAllowed", text, _TARGET)


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
            return aks("UserAssignedNATGatewayWithManagedVNetNotAllowed", text, _TARGET)
        if "natGateway" not in _subnet(fleet, pool["vnetSubnetID"]):
            text = f"Subnet {pool['vnetSubnetID']} is not associated with a NAT gateway."
            return aks("SubnetNotAssociatedWithNATGateway", text, _TARGET).as_read()
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
            return aks("ExistingRouteTableNotAssociatedWithSubnet", text, _TARGET).as_read()
        hops = [r["nextHopType"] for r in table.body["routes"] if r["addressPrefix"] == "0.0.0.0/0"]
        if not hops:
            text = f"Route table {table.id} has no default route 0.0.0.0/0."
            return aks("RouteTableMissingDefaultRouteError", text, _TARGET).as_read()
        if hops[0] not in ("VirtualAppliance", "VirtualNetworkGateway"):
            # terraform-provider-azurerm #8609
            text = (
                f"Default route 0.0.0.0/0 has a next hop of {hops[0]} but only next hops of VirtualAppliance or "
                "VirtualNetworkGateway are allowed. Please see http://aka.ms/aks/outboundtype for more details"
            )
            return aks("RouteTableInvalidNextHop", text, _TARGET)
    return None


def _subnet(fleet: ClusterPools, id: str) -> dict[str, dict[str, str]]:
    subnet = fleet.resources.get(id)
    return subnet.body if subnet else {}
