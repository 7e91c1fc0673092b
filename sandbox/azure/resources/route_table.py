"""Route tables, with their routes inline."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.resource_type import GROUP_NAME, NETWORK_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Record, Resources


class RouteTable(Tracked):
    """`Microsoft.Network/routeTables`. A subnet names its table, not the other way round."""

    token = "azure-native:network:RouteTable"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Network/routeTables/{routeTableName}"
    )
    names: ClassVar[dict[str, NameRule]] = {"resourceGroupName": GROUP_NAME, "routeTableName": NETWORK_NAME}
    maintained = ("routes",)

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        # The provider sends the routes that are there where a program says nothing of them.
        routes: list[Body] = wanted["routes"] if "routes" in wanted else (current or {}).get("routes", [])
        return {
            "disableBgpRoutePropagation": False,
            **wanted,
            "routes": list(_routes(id, routes)),
            "resourceGuid": ids.guid("route table", ids.key(id)),
        }

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unused(resources, id)

    def view(self, resources: Resources, record: Record) -> Body:
        attached = [{"id": user} for user in reference.users(resources, record.id)]
        return super().view(resources, record) | ({"subnets": attached} if attached else {})


def _routes(id: str, wanted: list[Body]) -> Iterator[Body]:
    """The routes as the service returns them. Codes and texts of the refusals are UNCONFIRMED."""
    names: set[str] = set()
    for route in wanted:
        name = route.get("name", "")
        if not name or name.lower() in names:
            raise arm("InvalidRequestFormat", f"Every route of {id} needs a name of its own.")
        names.add(name.lower())
        prefix = route.get("addressPrefix", "")
        # Besides ranges a route takes the tag of an Azure service, which starts with a letter.
        if not prefix[:1].isalpha() and not _is(ipaddress.ip_network, prefix):
            raise arm(
                "InvalidAddressPrefixFormat", f"Address prefix {prefix} of route {name} is not formatted correctly."
            )
        appliance, hop = route["nextHopType"] == "VirtualAppliance", route.get("nextHopIpAddress", "")
        if appliance != _is(ipaddress.ip_address, hop) or (hop and not appliance):
            raise arm(
                "InvalidNextHopIpAddress",
                f"Route {name} needs an address in nextHopIpAddress if, and only if, nextHopType is VirtualAppliance.",
            )
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


def require_unused(resources: Resources, id: str, going: str = "") -> None:
    """Refuse to remove a table that a subnet has, unless the subnet is below `going`."""
    if reference.users(resources, id, going):
        # Seen in a public log of a Terraform run; AKS error page inuseroutetablecannotbedeleted.
        raise arm("InUseRouteTableCannotBeDeleted", f"Route table {ids.last(id)} is in use and cannot be deleted.")
