"""The vocabulary that the clouds share: node pools, ranges of addresses, and a cloud's checks."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policy.declared import UNKNOWN, Declared, Unknown
from policy.rule import Finding

_KEEP_OFF = ("NoSchedule", "NoExecute", UNKNOWN)

_PRIVATE = [
    ipaddress.IPv4Network(text)
    for text in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")
]
"""Ranges that are not on the internet (RFC 1918, RFC 6598)."""


@dataclass(frozen=True)
class Taint:
    """A taint in Kubernetes' spelling; an unknown key or effect is `UNKNOWN`."""

    key: str | Unknown
    effect: str | Unknown


@dataclass(frozen=True)
class Taints:
    """The taints of a pool, and where they are declared."""

    path: str
    listed: tuple[Taint, ...] | Unknown
    """`UNKNOWN` if any of them is unknown."""
    form: str
    """The form of a taint at `path`; `{key}` and `{value}` stand for its parts."""

    def lack(self, *keys: str) -> bool:
        """Return whether it is certain that no taint with one of these keys keeps pods off."""
        if self.listed is UNKNOWN or not isinstance(self.listed, tuple):
            return False
        return not any(
            taint.key is UNKNOWN or (taint.key in keys and taint.effect in _KEEP_OFF)
            for taint in self.listed
        )

    def spell(self, key: str, value: str) -> str:
        """Return a taint in the pool's form."""
        return self.form.replace("{key}", key).replace("{value}", value)


@dataclass(frozen=True)
class Bounds:
    """The largest size of a pool: its maximum, or its constant size."""

    path: str
    maximum: float | Unknown | None
    """Nodes of the whole pool; None without a maximum."""


@dataclass(frozen=True)
class Spot:
    """The setting that makes a pool's machines evictable."""

    path: str
    taint: tuple[str, str]
    """Key and value of the cloud's own taint."""
    kept_off_by: tuple[str, ...]
    """Keys of taints; each keeps off the pods that do not ask for such nodes."""


@dataclass(frozen=True)
class Pool:
    """One pool. Unknown values are left out: no rule may rely on them."""

    nvidia_at: str | None
    """The path of the setting that means NVIDIA GPUs; None without GPUs."""
    spot: Spot | None
    """None for an on-demand pool."""
    system_at: str | None
    """The path of the setting that makes it a system pool; None if no setting does."""
    taints: Taints
    bounds: Bounds | None
    """None if the size is unknown or declared in a way that these rules do not read."""


Check = Callable[[Declared], Iterator[Finding]]
"""Yields the findings in one resource; none in a resource of another type or cloud."""


@dataclass(frozen=True)
class Cloud:
    """Types and checks of one cloud, which is a folder and a line of `policy.clouds`."""

    cluster: str
    """The type of its clusters."""
    tags: Mapping[str, str]
    """By type of resource, the path of the tags or labels that divide the bill."""
    pools: Callable[[Declared], Iterator[Pool]]
    """Yields the node pools in one resource."""
    api_server: Callable[[Declared, int], Iterator[Finding]]
    """Yields API servers that more public addresses than this number can reach."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """The cloud's checks by rule."""
    logs: Callable[[Sequence[Declared]], Iterator[tuple[Declared, Finding]]] = lambda _: iter(())
    """Yields the clusters of a stack whose logs are not kept."""


def public_addresses(ranges: Iterable[Any]) -> int:
    """Return the number of public IPv4 addresses in these ranges, each counted once.

    An IPv6 range counts by its share of all addresses. A text that is no range is ignored: the
    cloud refuses it.
    """
    known = [network for network in map(_network, ranges) if network]
    old = [network for network in known if isinstance(network, ipaddress.IPv4Network)]
    new = [network for network in known if isinstance(network, ipaddress.IPv6Network)]
    private_outside = _size(old + _PRIVATE) - _size(old)
    private_inside = sum(network.num_addresses for network in _PRIVATE) - private_outside
    share = sum(each.num_addresses for each in ipaddress.collapse_addresses(new)) * 2**32 // 2**128
    return _size(old) - private_inside + share


def _size(networks: Iterable[ipaddress.IPv4Network]) -> int:
    return sum(network.num_addresses for network in ipaddress.collapse_addresses(networks))


def _network(text: Any) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if isinstance(text, str) else None
    except ValueError:
        return None
