"""The way out of a virtual network: public addresses, NAT gateways, and route tables with their routes inline."""

import hashlib
import ipaddress
from collections.abc import Callable, Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources import reference
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Resources

NAT_GATEWAY = "azure-native:network:NatGateway"
ROUTE_TABLE = "azure-native:network:RouteTable"
PUBLIC_ADDRESS = "azure-native:network:PublicIPAddress"
_SUBNET = "azure-native:network:Subnet"

# https://learn.microsoft.com/azure/nat-gateway/nat-gateway-resource: idle timeout in minutes, addresses, one zone.
_IDLE = range(4, 121)
_MOST_ADDRESSES = 16

# RFC 2544 keeps this network for benchmarks: nobody is reached at such an address.
_NOBODYS = ipaddress.ip_network("198.18.0.0/15")


def address(request: ResourceRequest) -> None:
    """Check a public address."""
    wanted, id = request.wanted, request.id
    # Without a SKU an address is Basic, and those are not made any more since 2025-09-30 (seen in several public
    # logs of 2025 and 2026).
    if wanted.get("sku", {}).get("name", "Basic") == "Basic":
        raise arm(
            "IPv4BasicSkuPublicIpCountLimitReached",
            "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region.",
        )
    if wanted.get("publicIPAllocationMethod", "Dynamic") != "Static":
        # Seen in a public log; that no method at all is Dynamic is UNCONFIRMED.
        text = f"Standard sku publicIp {id} must have AllocationMethod set to Static."
        refused = arm("StandardAndStandardV2SkuPublicIPAddressesMustBeStatic", text)
        raise refused if "publicIPAllocationMethod" in wanted else refused.as_read()
    if not 4 <= request.body["idleTimeoutInMinutes"] <= 30:
        # https://learn.microsoft.com/azure/virtual-network/ip-services/public-ip-addresses; text UNCONFIRMED.
        raise arm("InvalidIdleTimeout", f"The idle timeout of {id} must be between 4 and 30 minutes.").as_read()
    number = int(hashlib.sha256(azure_ids.key(id).encode()).hexdigest(), 16)
    request.body.setdefault("ipAddress", str(_NOBODYS[number % _NOBODYS.num_addresses]))


def address_held(resources: Resources, id: str, going: str) -> None:
    """Refuse to remove an address that a gateway or a cluster has."""
    for user in reference.users(resources, id, going):
        # AKS error page publicipaddresscannotbedeleted; seen for network interfaces and load balancers.
        raise arm(
            "PublicIPAddressCannotBeDeleted",
            f"Public IP address {id} can not be deleted since it is still allocated to resource {user}. In order to delete "
            "the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see "
            "aka.ms/deletepublicip.",
        )


def gateway(request: ResourceRequest) -> None:
    """Check a NAT gateway. Codes and texts of all but the last are UNCONFIRMED."""
    resources, id, body = request.resources, request.id, request.body
    if "sku" not in body:
        raise arm("InvalidRequestFormat", f"NAT gateway {id} needs sku.name.").as_read()
    if body["idleTimeoutInMinutes"] not in _IDLE:
        text = f"The idle timeout of NAT gateway {id} must be between {_IDLE[0]} and {_IDLE[-1]} minutes."
        raise arm("InvalidIdleTimeout", text).as_read()
    if len(body.get("zones", [])) > 1:
        raise arm("InvalidZones", f"NAT gateway {id} can be in one zone at most.").as_read()
    addresses = body.get("publicIpAddresses", [])
    if len(addresses) > _MOST_ADDRESSES:
        raise arm(
            "TooManyPublicIPAddresses", f"NAT gateway {id} takes {_MOST_ADDRESSES} public addresses at most."
        ).as_read()
    for item in addresses:
        public_address = reference.referenced(resources, item, PUBLIC_ADDRESS, id, body["location"])
        for user in reference.users(resources, public_address.id):
            if azure_ids.key(user) != azure_ids.key(id):
                # AKS page on PublicIPAddressInUse; seen for network interfaces.
                raise arm(
                    "PublicIPAddressInUse",
                    f"Resource {id} is referencing public IP address {public_address.id} that is already allocated to "
                    f"resource {user}.",
                )


def gateway_held(resources: Resources, id: str, going: str) -> None:
    """Refuse to remove a gateway that a subnet has."""
    if attached := _subnets(resources, id, going):
        # Azure-Samples/Copilot-Studio-with-Azure-AI-Search #62 (2025-05)
        raise arm(
            "CannotDeleteNatGatewayAssociatedToSubnet",
            f"NAT Gateway {id} is still configured on {len(attached)} subnets. Remove NAT Gateway from all referenced "
            "subnets and then delete NAT Gateway.",
        )


def attached(resources: Resources, id: str) -> Body:
    """Return the subnets that a gateway or route table shows in its own body."""
    subnets = [{"id": subnet} for subnet in _subnets(resources, id)]
    return {"subnets": subnets} if subnets else {}


def _subnets(resources: Resources, id: str, going: str = "") -> list[str]:
    records = (resources.get(user) for user in reference.users(resources, id, going))
    return [record.id for record in records if record is not None and record.token == _SUBNET]


def routes(request: ResourceRequest) -> None:
    """Check a route table."""
    # The provider sends the existing routes when a program declares none.
    declared: list[Body] = {**(request.current or {}), **request.body}.get("routes", [])
    request.body["routes"] = list(_routes(request.id, declared))


def _routes(id: str, routes: list[Body]) -> Iterator[Body]:
    """Yield the routes as the service returns them. Codes and texts of the refusals are UNCONFIRMED."""
    names: set[str] = set()
    for route in routes:
        name = route.get("name", "")
        if not name or name.lower() in names:
            raise arm("InvalidRequestFormat", f"Every route of {id} needs a name of its own.").as_read()
        names.add(name.lower())
        prefix = route.get("addressPrefix", "")
        # Besides ranges a route takes the tag of an Azure service, which starts with a letter.
        if not prefix[:1].isalpha() and not _is(ipaddress.ip_network, prefix):
            raise arm(
                "InvalidAddressPrefixFormat", f"Address prefix {prefix} of route {name} is not formatted correctly."
            ).as_read()
        appliance, hop = route["nextHopType"] == "VirtualAppliance", route.get("nextHopIpAddress", "")
        if appliance != _is(ipaddress.ip_address, hop) or (hop and not appliance):
            raise arm(
                "InvalidNextHopIpAddress",
                f"Route {name} needs an address in nextHopIpAddress if, and only if, nextHopType is VirtualAppliance.",
            ).as_read()
        yield {
            **route,
            "id": f"{id}/routes/{name}",
            "type": "Microsoft.Network/routeTables/routes",
            "hasBgpOverride": False,
            "provisioningState": "Succeeded",
        }


def _is(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def table_held(resources: Resources, id: str, going: str) -> None:
    """Refuse to remove a route table that a subnet has."""
    if reference.users(resources, id, going):
        # Seen in a public log of a Terraform run; AKS error page inuseroutetablecannotbedeleted.
        raise arm(
            "InUseRouteTableCannotBeDeleted", f"Route table {azure_ids.last(id)} is in use and cannot be deleted."
        )
