"""Virtual networks and subnets.

The codes and texts of the network provider are those in its public documentation; the fact files do not hold them.
"""

import ipaddress
from typing import Any

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.azure_requests import CLUSTER, POOL
from sandbox.azure.resources.azure_resource_type import AzureType, merged, require_group, require_parent, type_named
from sandbox.azure.resources.egress import NAT_GATEWAY, ROUTE_TABLE
from sandbox.cloud.state import Body, Record, Resources

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"

# Resources that a subnet names must exist. (A network security group is not checked: that type is not emulated.)
_ATTACHED = {"natGateway": NAT_GATEWAY, "routeTable": ROUTE_TABLE}


def cidr(text: str, where: str) -> Network:
    """Parse an address prefix; Azure wants the network address itself (no host bits)."""
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise arm(
            "InvalidAddressPrefixFormat", f"Address prefix {text} of {where} is not formatted correctly."
        ) from None


def overlap(first: Network, second: Network) -> bool:
    return first.version == second.version and first.overlaps(second)


def prefixes(body: Body) -> list[str]:
    """Return the address prefixes of a subnet."""
    return [*([body["addressPrefix"]] if body.get("addressPrefix") else []), *body.get("addressPrefixes", [])]


def space(network: Body) -> list[str]:
    address_prefixes: list[str] = network.get("addressSpace", {}).get("addressPrefixes", [])
    return address_prefixes


def require_unused(resources: Resources, subnet_id: str, going: str = "") -> None:
    """Refuse to remove a subnet that a pool or an API server is in, unless the user is below `going`."""
    users: list[tuple[str, Any]] = [
        (pool.id, pool.body.get(name)) for pool in resources.of_type(POOL) for name in ("vnetSubnetID", "podSubnetID")
    ]
    users += [(c.id, c.body.get("apiServerAccessProfile", {}).get("subnetId")) for c in resources.of_type(CLUSTER)]
    for user, subnet in users:
        if subnet and azure_ids.key(subnet) == azure_ids.key(subnet_id):
            if going and azure_ids.key(user).startswith(azure_ids.key(going) + "/"):
                continue
            raise arm(
                "InUseSubnetCannotBeDeleted",
                f"Subnet {azure_ids.last(subnet_id)} is in use by {user} and cannot be deleted. In order to delete the subnet, "
                "delete all the resources within the subnet. See aka.ms/deletesubnet.",
            )


def check_subnet(resources: Resources, network: Record, name: str, body: Body) -> None:
    """Refuse a subnet outside its network's address space or over another subnet, or with a missing gateway."""
    if not prefixes(body):
        raise arm("InvalidRequestFormat", f"Subnet {name} needs an address prefix.").as_read()
    for field, token in _ATTACHED.items():
        if field in body:
            subnet_id, region = f"{network.id}/subnets/{name}", network.body.get("location", "")
            reference.referenced(resources, body[field], token, subnet_id, region)
    reserved = [cidr(text, network.id) for text in space(network.body)]
    for text in prefixes(body):
        own_range = cidr(text, name)
        if not any(own_range.version == r.version and own_range.subnet_of(r) for r in reserved):  # type: ignore[arg-type]
            raise arm(
                "NetcfgSubnetRangeOutsideVnet",
                f"Subnet '{name}' is not valid because its IP address range is outside the IP address range of "
                f"virtual network '{azure_ids.last(network.id)}'.",
            )
        for other in resources.of_type(SUBNET, below=network.id):
            if azure_ids.last(other.id).lower() == name.lower():
                continue
            if any(overlap(own_range, cidr(taken, other.id)) for taken in prefixes(other.body)):
                raise arm(
                    "NetcfgSubnetRangesOverlap",
                    f"Subnet '{name}' is not valid because its IP address range overlaps with that of an existing "
                    f"subnet in virtual network '{azure_ids.last(network.id)}'.",
                )


class VirtualNetwork(AzureType):
    """`Microsoft.Network/virtualNetworks`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        body: Body = merged(current or {}, {k: v for k, v in wanted.items() if k != "subnets"})
        if not space(body):
            raise arm("InvalidRequestFormat", "A virtual network needs addressSpace.addressPrefixes.").as_read()
        for text in space(body):
            cidr(text, "addressSpace")
        body = self.completed(id, {**self.service, **body, "subnets": []})
        network = Record(self.token, id, body)
        if "subnets" in wanted:
            self._replace_subnets(resources, network, wanted["subnets"])
        for subnet in resources.of_type(SUBNET, below=id):
            check_subnet(resources, network, azure_ids.last(subnet.id), subnet.body)
        return body

    def _replace_subnets(self, resources: Resources, network: Record, subnets: list[Body]) -> None:
        # An inline list is the complete list: Azure removes the subnets it does not name.
        named = {f"{network.id}/subnets/{w.get('name', '')}": w for w in subnets}
        for old in resources.of_type(SUBNET, below=network.id):
            if azure_ids.key(old.id) not in {azure_ids.key(i) for i in named}:
                require_unused(resources, old.id)
                resources.remove(old.id)
        for id, subnet in named.items():
            if not subnet.get("name"):
                raise arm("InvalidRequestFormat", "An inline subnet needs a name.").as_read()
            known = resources.get(id)
            resources.put(Record(SUBNET, id, subnet_body(id, merged(_detached(known), subnet))))

    def check_delete(self, resources: Resources, id: str) -> None:
        for subnet in resources.of_type(SUBNET, below=id):
            require_unused(resources, subnet.id)

    def view(self, resources: Resources, record: Record) -> Body:
        body = super().view(resources, record)
        body["subnets"] = [{**s.body, "id": s.id} for s in resources.of_type(SUBNET, below=record.id)]
        return body


def _detached(subnet: Record | None) -> Body:
    """Return the body that a PUT of a subnet is laid over: a gateway or route table that the PUT does not name is detached.

    That is how azure-cli does it: `subnet update --nat-gateway null` is a PUT without the property.
    """
    return {k: v for k, v in (subnet.body if subnet else {}).items() if k not in _ATTACHED}


def subnet_body(id: str, body: Body) -> Body:
    subnet = type_named(SUBNET)
    return subnet.completed(id, {**subnet.service, **body})


class Subnet(AzureType):
    """`Microsoft.Network/virtualNetworks/subnets`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        network = require_parent(resources, id, self.arm_type)
        body = subnet_body(id, merged(_detached(resources.get(id)), wanted))
        check_subnet(resources, network, azure_ids.last(id), body)
        if current is not None and prefixes(current) != prefixes(body):
            self._require_free(resources, id)
        return body

    @staticmethod
    def _require_free(resources: Resources, id: str) -> None:
        try:
            require_unused(resources, id)
        except azure_errors.AzureRefused as used:
            raise arm("InUsePrefixCannotBeDeleted", used.message.replace("deleted", "changed", 1)) from None

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unused(resources, id)
