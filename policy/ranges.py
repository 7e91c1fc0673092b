"""Ranges of addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

_PRIVATE = [
    ipaddress.IPv4Network(text)
    for text in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")
]
"""Nobody on the internet has these (RFC 1918, RFC 6598)."""

_ALL_OF_IPV6 = 2**128
_ALL_OF_IPV4 = 2**32


def public_addresses(ranges: Iterable[Any]) -> int:
    """The number of public IPv4 addresses in any of these ranges, each counted once. The cloud refuses texts that are no range.

    IPv6 counts by its share of all addresses.
    """
    known = [network for network in map(_network, ranges) if network]
    old = [network for network in known if isinstance(network, ipaddress.IPv4Network)]
    new = [network for network in known if isinstance(network, ipaddress.IPv6Network)]
    everything, private = _size(old), _size(old + _PRIVATE) - _size(old)
    ours = sum(network.num_addresses for network in _PRIVATE) - private
    share = (
        sum(network.num_addresses for network in ipaddress.collapse_addresses(new))
        * _ALL_OF_IPV4
        // _ALL_OF_IPV6
    )
    return everything - ours + share


def _size(networks: Iterable[ipaddress.IPv4Network]) -> int:
    return sum(network.num_addresses for network in ipaddress.collapse_addresses(networks))


def _network(text: Any) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None
