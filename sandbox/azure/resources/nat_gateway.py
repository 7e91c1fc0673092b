"""NAT gateways."""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.public_address import PublicIPAddress
from sandbox.azure.resources.resource_type import GROUP_NAME, NETWORK_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Record, Resources

_SUBNET = "azure-native:network:Subnet"

# https://learn.microsoft.com/azure/nat-gateway/nat-gateway-resource: idle timeout in minutes, addresses, one zone.
_IDLE = range(4, 121)
_MOST_ADDRESSES = 16


class NatGateway(Tracked):
    """`Microsoft.Network/natGateways`. A subnet names its gateway, not the other way round."""

    token = "azure-native:network:NatGateway"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Network/natGateways/{natGatewayName}"
    )
    names: ClassVar[dict[str, NameRule]] = {"resourceGroupName": GROUP_NAME, "natGatewayName": NETWORK_NAME}

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        # Codes and texts of the first three are UNCONFIRMED.
        if "sku" not in wanted:
            raise arm("InvalidRequestFormat", f"NAT gateway {id} needs sku.name.")
        if wanted.get("idleTimeoutInMinutes", 4) not in _IDLE:
            text = f"The idle timeout of NAT gateway {id} must be between {_IDLE[0]} and {_IDLE[-1]} minutes."
            raise arm("InvalidIdleTimeout", text)
        if len(wanted.get("zones", [])) > 1:
            raise arm("InvalidZones", f"NAT gateway {id} can be in one zone at most.")
        self._check_addresses(resources, id, wanted)
        return {"idleTimeoutInMinutes": 4, **wanted, "resourceGuid": ids.guid("nat gateway", ids.key(id))}

    @staticmethod
    def _check_addresses(resources: Resources, id: str, wanted: Body) -> None:
        addresses = wanted.get("publicIpAddresses", [])
        if len(addresses) > _MOST_ADDRESSES:
            # Code and text UNCONFIRMED.
            raise arm("TooManyPublicIPAddresses", f"NAT gateway {id} takes {_MOST_ADDRESSES} public addresses at most.")
        for address in addresses:
            found = reference.referenced(resources, address, PublicIPAddress.token, id, wanted["location"])
            for user in reference.users(resources, found.id):
                if ids.key(user) != ids.key(id):
                    # AKS page on PublicIPAddressInUse; seen for network interfaces.
                    raise arm(
                        "PublicIPAddressInUse",
                        f"Resource {id} is referencing public IP address {found.id} that is already allocated to "
                        f"resource {user}.",
                    )

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unused(resources, id)

    def view(self, resources: Resources, record: Record) -> Body:
        attached = [{"id": user} for user in _subnets(resources, record.id)]
        return super().view(resources, record) | ({"subnets": attached} if attached else {})


def _subnets(resources: Resources, id: str, going: str = "") -> list[str]:
    found = (resources.get(user) for user in reference.users(resources, id, going))
    return [record.id for record in found if record is not None and record.token == _SUBNET]


def require_unused(resources: Resources, id: str, going: str = "") -> None:
    """Refuse to remove a gateway that a subnet has, unless the subnet is below `going`."""
    attached = _subnets(resources, id, going)
    if attached:
        # Azure-Samples/Copilot-Studio-with-Azure-AI-Search #62 (2025-05)
        raise arm(
            "CannotDeleteNatGatewayAssociatedToSubnet",
            f"NAT Gateway {id} is still configured on {len(attached)} subnets. Remove NAT Gateway from all referenced "
            "subnets and then delete NAT Gateway.",
        )
