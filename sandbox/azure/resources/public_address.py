"""Public IP addresses.

The body is that of the azure-cli recording test_natgateway_basic.yaml (2025-04).
"""

from __future__ import annotations

import hashlib
import ipaddress
from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.resource_type import GROUP_NAME, NETWORK_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Resources

# RFC 2544 keeps this network for benchmarks: nobody is reached at such an address.
_NOBODYS = ipaddress.ip_network("198.18.0.0/15")


class PublicIPAddress(Tracked):
    """`Microsoft.Network/publicIPAddresses`.

    GET is said to show the NAT gateway that has the address as well; that is UNCONFIRMED, and left out.
    """

    token = "azure-native:network:PublicIPAddress"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Network/publicIPAddresses/{publicIpAddressName}"
    )
    names: ClassVar[dict[str, NameRule]] = {"resourceGroupName": GROUP_NAME, "publicIpAddressName": NETWORK_NAME}
    force_new = frozenset({"location", "publicIPAddressVersion", "publicIPPrefix", "sku"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
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
            raise arm("StandardAndStandardV2SkuPublicIPAddressesMustBeStatic", text)
        if not 4 <= wanted.get("idleTimeoutInMinutes", 4) <= 30:
            # https://learn.microsoft.com/azure/virtual-network/ip-services/public-ip-addresses; text UNCONFIRMED.
            raise arm("InvalidIdleTimeout", f"The idle timeout of {id} must be between 4 and 30 minutes.")
        return {
            "publicIPAddressVersion": "IPv4",
            "idleTimeoutInMinutes": 4,
            "ipTags": [],
            "ddosSettings": {"protectionMode": "VirtualNetworkInherited"},
            "ipAddress": _address(id),
            **wanted,
            "sku": {"tier": "Regional", **wanted["sku"]},
            "resourceGuid": ids.guid("public address", ids.key(id)),
        }

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unused(resources, id)


def _address(id: str) -> str:
    number = int(hashlib.sha256(ids.key(id).encode()).hexdigest(), 16)
    return str(_NOBODYS[number % _NOBODYS.num_addresses])


def require_unused(resources: Resources, id: str, going: str = "") -> None:
    """Refuse to remove an address that a gateway or a cluster has, unless that is below `going`."""
    for user in reference.users(resources, id, going):
        # AKS error page publicipaddresscannotbedeleted; seen for network interfaces and load balancers.
        raise arm(
            "PublicIPAddressCannotBeDeleted",
            f"Public IP address {id} can not be deleted since it is still allocated to resource {user}. In order to delete "
            "the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see "
            "aka.ms/deletepublicip.",
        )
