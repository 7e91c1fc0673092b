"""Networks, subnets, NAT gateways, public addresses and route tables: what is refused, and what goes with what."""

from typing import Any

import pytest

from sandbox.cloud.provider import Resource
from sandbox.tests.rule_walk import ABSENT, chosen

from .conftest import (
    ADDRESS_INPUTS,
    GROUP,
    NAT_INPUTS,
    ROUTE,
    ROUTES_INPUTS,
    SUBNET,
    SYSTEM,
    Account,
    Props,
    refusal,
)

NAT = "azure-native:network:NatGateway"
ADDRESS = "azure-native:network:PublicIPAddress"
ROUTES = "azure-native:network:RouteTable"


@pytest.fixture
def group(account: Account) -> Resource:
    return account.group()


@pytest.fixture
def address(account: Account, group: Resource) -> Resource:
    return account.create(ADDRESS, ADDRESS_INPUTS)


def test_address_gets_the_recorded_defaults(address: Resource) -> None:
    body = {k: v for k, v in address.old_outputs.items() if k not in ("ipAddress", "resourceGuid")}
    assert body == {
        "name": "egress",
        "type": "Microsoft.Network/publicIPAddresses",
        "location": "westeurope",
        "sku": {"name": "Standard", "tier": "Regional"},
        "publicIPAddressVersion": "IPv4",
        "publicIPAllocationMethod": "Static",
        "idleTimeoutInMinutes": 4,
        "ipTags": [],
        "ddosSettings": {"protectionMode": "VirtualNetworkInherited"},
        "provisioningState": "Succeeded",
        "azureApiVersion": "2024-05-01",
    }
    assert address.old_outputs["ipAddress"].startswith("198.1")


def route(**changes: Any) -> Props:
    return {"routes": [{**ROUTE, **changes}]}


BASES = {ADDRESS: ADDRESS_INPUTS, NAT: NAT_INPUTS, ROUTES: ROUTES_INPUTS}
LIMIT = "IPv4BasicSkuPublicIpCountLimitReached"
STATIC = "StandardAndStandardV2SkuPublicIPAddressesMustBeStatic"

# Pairs of a refused value and of one that is accepted.
REFUSED: list[tuple[str, Props, str, str]] = [
    (ADDRESS, {"sku": {"name": ("Basic", "Standard")}}, LIMIT, "Cannot create more than 0 IPv4 Basic SKU"),
    (ADDRESS, {"sku": {"tier": "Regional", "name": (ABSENT, "Standard")}}, LIMIT, "Cannot create more than 0"),
    (ADDRESS, {"publicIPAllocationMethod": ("Dynamic", "Static")}, STATIC, "must have AllocationMethod"),
    (ADDRESS, {"idleTimeoutInMinutes": (31, 30)}, "InvalidIdleTimeout", "between 4 and 30 minutes"),
    (NAT, {"sku": (None, {"name": "Standard"})}, "InvalidRequestFormat", ""),
    (NAT, {"idleTimeoutInMinutes": (3, 4)}, "InvalidIdleTimeout", ""),
    (NAT, {"idleTimeoutInMinutes": (121, 120)}, "InvalidIdleTimeout", ""),
    (NAT, {"zones": (["1", "2"], ["1"])}, "InvalidZones", ""),
    (NAT, {"publicIpAddresses": ([{"id": "/subscriptions/s/no"}], [])}, "InvalidResourceReference", ""),
    (NAT, {"publicIpAddresses": ([{}], [])}, "InvalidResourceReference", ""),
    (NAT, {"publicIpAddresses": ([{"id": "x"}] * 17, [])}, "TooManyPublicIPAddresses", ""),
    (ROUTES, route(name=(None, "out")), "InvalidRequestFormat", ""),
    (ROUTES, route(addressPrefix=("10.0.0.1/8", "10.0.0.0/8")), "InvalidAddressPrefixFormat", ""),
    (ROUTES, route(addressPrefix=(None, "AzureMonitor")), "InvalidAddressPrefixFormat", ""),
    (ROUTES, route(nextHopIpAddress=(None, "10.0.0.4")), "InvalidNextHopIpAddress", ""),
    (ROUTES, route(nextHopIpAddress=("firewall", "10.0.0.4")), "InvalidNextHopIpAddress", ""),
    (ROUTES, route(nextHopType=("Internet", "VirtualAppliance")), "InvalidNextHopIpAddress", ""),
    (ROUTES, route(nextHopType="Internet", nextHopIpAddress=("10.0.0.4", None)), "InvalidNextHopIpAddress", ""),
    (ROUTES, {"routes": ([ROUTE, {**ROUTE, "addressPrefix": "10.0.0.0/8"}], [ROUTE])}, "InvalidRequestFormat", ""),
]


@pytest.mark.parametrize(("token", "changes", "code", "text"), REFUSED)
def test_request_is_refused_and_its_neighbour_is_not(
    account: Account, group: Resource, token: str, changes: Props, code: str, text: str
) -> None:
    refused = refusal(account.create, token, {**BASES[token], **chosen(changes, "refused")})
    assert refused.code == code
    assert text in refused.message
    assert token != NAT or refused.confirmed == (code == "InvalidResourceReference")
    account.create(token, {**BASES[token], **chosen(changes, "accepted")})


def test_routes_get_the_recorded_defaults(account: Account, group: Resource) -> None:
    routes = [ROUTE, {"name": "azure", "addressPrefix": "AzureMonitor", "nextHopType": "Internet"}]
    table = account.create(ROUTES, {**ROUTES_INPUTS, "routes": routes})
    assert [r["provisioningState"] for r in table.old_outputs["routes"]] == ["Succeeded", "Succeeded"]
    assert table.old_outputs["disableBgpRoutePropagation"] is False


def test_nat_gateway_with_an_address_and_a_subnet(account: Account, address: Resource) -> None:
    gateway = account.create(NAT, {**NAT_INPUTS, "publicIpAddresses": [{"id": address.id}]})
    assert gateway.old_outputs["idleTimeoutInMinutes"] == 4
    assert gateway.old_outputs["publicIpAddresses"] == [{"id": address.id}]
    assert "subnets" not in gateway.old_outputs
    account.network()
    subnet = account.subnet(natGateway={"id": gateway.id})
    again = account.refresh(gateway)
    assert again.old_outputs["subnets"] == [{"id": subnet.id}]
    assert again.old_inputs == gateway.old_inputs


def test_gateway_and_its_address_are_in_one_region(account: Account, address: Resource) -> None:
    elsewhere = {**NAT_INPUTS, "location": "northeurope", "publicIpAddresses": [{"id": address.id}]}
    refused = refusal(account.create, NAT, elsewhere)
    assert refused.message.endswith("that both resources are in the same region.")
    assert account.create(NAT, {**elsewhere, "location": "West Europe"}).id


def test_address_serves_one_gateway(account: Account, address: Resource) -> None:
    first = account.create(NAT, {**NAT_INPUTS, "publicIpAddresses": [{"id": address.id}]})
    second = {**NAT_INPUTS, "natGatewayName": "second"}
    refused = refusal(account.create, NAT, {**second, "publicIpAddresses": [{"id": address.id}]})
    assert refused.code == "PublicIPAddressInUse"
    assert refused.message.endswith(f"already allocated to resource {first.id}.")
    other = account.create(ADDRESS, {**ADDRESS_INPUTS, "publicIpAddressName": "other"})
    account.create(NAT, {**second, "publicIpAddresses": [{"id": other.id}]})


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize(
    ("field", "token", "inputs"), [("natGateway", NAT, NAT_INPUTS), ("routeTable", ROUTES, ROUTES_INPUTS)]
)
def test_subnet_refers_to_existing_resources_of_its_region(
    account: Account, group: Resource, inline: bool, field: str, token: str, inputs: Props
) -> None:
    def attach(id: str) -> Resource:
        subnet = {"addressPrefix": "10.100.0.0/20", field: {"id": id}}
        if inline:
            return account.network(subnets=[{"name": "nodes", **subnet}])
        return account.create(
            SUBNET, {"resourceGroupName": "ml", "virtualNetworkName": "net", "subnetName": "nodes", **subnet}
        )

    if not inline:
        account.network()
    here, elsewhere = (
        account.create(token, {**inputs, "location": place} | _named(token, place))
        for place in ("westeurope", "eastus")
    )
    for wrong in (here.id + "x", elsewhere.id, group.id):
        refused = refusal(attach, wrong)
        assert refused.code == "InvalidResourceReference"
        assert refused.message.startswith(f"Resource {wrong} referenced by resource ")
    attach(here.id)


def _named(token: str, name: str) -> Props:
    return {"natGatewayName" if token == NAT else "routeTableName": name}


def test_nothing_in_use_can_be_deleted(account: Account, address: Resource) -> None:
    nat = account.create(NAT, {**NAT_INPUTS, "publicIpAddresses": [{"id": address.id}]})
    routes = account.create(ROUTES, ROUTES_INPUTS)
    account.network()
    subnet = account.subnet(natGateway={"id": nat.id}, routeTable={"id": routes.id})
    for resource, code, text in (
        (nat, "CannotDeleteNatGatewayAssociatedToSubnet", "is still configured on 1 subnets."),
        (routes, "InUseRouteTableCannotBeDeleted", "Route table egress is in use and cannot be deleted."),
        (address, "PublicIPAddressCannotBeDeleted", f"still allocated to resource {nat.id}."),
    ):
        refused = refusal(account.provider.delete, resource)
        assert refused.code == code
        assert text in refused.message
    # A PUT without them takes them off.
    account.update(subnet, {k: v for k, v in subnet.old_inputs.items() if k not in ("natGateway", "routeTable")})
    for resource in (nat, routes, address):
        account.provider.delete(resource)
        assert account.provider.read(resource) is None


def test_subnet_keeps_its_range_when_it_loses_its_gateway(account: Account, group: Resource) -> None:
    nat = account.create(NAT, NAT_INPUTS)
    account.network()
    subnet = account.subnet(natGateway={"id": nat.id})
    account.cluster(agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    updated = account.update(subnet, {k: v for k, v in subnet.old_inputs.items() if k != "natGateway"})
    assert updated.old_outputs["addressPrefix"] == "10.100.0.0/20"
    assert "natGateway" not in updated.old_outputs


def test_address_and_subnet_of_a_cluster_in_another_group_block_their_own(account: Account, group: Resource) -> None:
    address = account.create(ADDRESS, ADDRESS_INPUTS)
    other = account.create(GROUP, {"resourceGroupName": "other"})
    balancer = {"loadBalancerProfile": {"outboundIPs": {"publicIPs": [{"id": address.id}]}}}
    cluster = account.cluster(resourceGroupName="other", networkProfile=balancer)
    assert refusal(account.provider.delete, group).code == "PublicIPAddressCannotBeDeleted"
    account.network()
    profile = {**SYSTEM, "vnetSubnetID": account.subnet().id}
    account.cluster(resourceGroupName="other", networkProfile=balancer, agentPoolProfiles=[profile], resourceName="in")
    assert refusal(account.provider.delete, group).code == "InUseSubnetCannotBeDeleted"
    account.provider.delete(other)
    assert account.provider.read(cluster) is None
    account.provider.delete(group)


def test_region_is_fixed(account: Account, address: Resource) -> None:
    nat = account.create(NAT, NAT_INPUTS)
    moved = {**NAT_INPUTS, "location": "eastus"}
    # Not force-new in azure-native, so the service refuses; a public address is replaced.
    assert account.diff(nat, moved).replaces == set()
    assert refusal(account.update, nat, moved).code == "InvalidResourceLocation"
    assert account.diff(address, {**ADDRESS_INPUTS, "location": "eastus"}).replaces == {"location"}


def test_subnet_in_use_stays_until_its_cluster_is_gone(account: Account) -> None:
    group = account.group()
    network, subnet = account.network(), account.subnet()
    cluster = account.cluster(agentPoolProfiles=[{**SYSTEM, "vnetSubnetID": subnet.id}])
    for resource in (subnet, network):
        assert refusal(account.provider.delete, resource).code == "InUseSubnetCannotBeDeleted"
    account.provider.delete(cluster)
    account.provider.delete(subnet)
    account.provider.delete(network)
    account.provider.delete(group)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"addressPrefix": "10.200.0.0/20"}, "NetcfgSubnetRangeOutsideVnet"),
        ({"addressPrefix": "10.100.8.0/24"}, "NetcfgSubnetRangesOverlap"),
        ({"addressPrefix": "10.100.16.1/24"}, "InvalidAddressPrefixFormat"),
        ({"virtualNetworkName": "no"}, "ParentResourceNotFound"),
    ],
)
def test_subnet_must_fit_its_network(account: Account, changes: dict[str, str], code: str) -> None:
    account.network()
    account.subnet()
    assert refusal(account.subnet, subnetName="second", **changes).code == code
    account.subnet(subnetName="second", addressPrefix="10.100.16.0/20")
