"""Checks of the network around a cluster that clouds share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, collapse_addresses
from itertools import islice

from config.base.problems import Problem
from config.model.fields import Model

PATH = "cloud.network"


def refuse_beside_existing(network: Model, *names: str) -> Iterator[Problem]:
    """Refuse each of these settings beside an existing network."""
    for name in names:
        if name in network.model_fields_set:
            yield Problem(
                f"{PATH}.{type(network).model_fields[name].alias}",
                "is set for a network this stack does not make",
                "remove it, or remove `existing` for a network that the stack makes",
            )


def readable_ranges(written: Mapping[str, str]) -> dict[str, IPv4Network]:
    """Return the texts that are ranges, by their key."""
    ranges: dict[str, IPv4Network] = {}
    for key, text in written.items():
        try:
            ranges[key] = IPv4Network(text)
        except ValueError:
            continue
    return ranges


def free_range(
    ranges: Mapping[str, IPv4Network], key: str, prefix: int = 0, inside: IPv4Network | None = None
) -> str:
    """Return such words as `, such as 10.8.0.0/16` for a range in place of one: as large, or a
    /`prefix`, which overlaps no other, and lies `inside` another; empty without one.
    """
    own, length = ranges[key], prefix or ranges[key].prefixlen
    taken = [each for other, each in ranges.items() if other != key or not prefix]
    places = _PRIVATE if length >= 16 else (IPv4Network("10.0.0.0/8"),)
    if own.is_private and own.prefixlen > 16 <= length:
        places = (own.supernet(new_prefix=16), *places)  # a block that the network has
    for place in (inside,) if inside else places:
        parts = place.subnets(new_prefix=length) if length >= place.prefixlen else iter(())
        for free in islice(parts, _TRIES):
            if not any(map(free.overlaps, taken)):
                return f", such as {free}"
    return ""


_TRIES = 1000
"""Parts of a range that are looked at for a free one."""


def no_overlap(ranges: Mapping[str, IPv4Network], key: str) -> str:
    """Return the remedy for a range that overlaps another."""
    free = free_range(ranges, key)
    return f"write a free range{free}" if free else "choose ranges that share no address"


def larger(prefix: int, free: str) -> str:
    """Return the remedy for a range without room: a /`prefix` has it, such as one that is free."""
    return f"a range of /{prefix} or larger{free or ' (a smaller number)'}, or smaller maxNodes"


_PRIVATE = tuple(IPv4Network(f"10.{block}.0.0/16") for block in range(100, 250, 10))
"""RFC 1918: blocks that are seldom those of an office, or a cloud's default."""


def refuse_open_to_all(path: str, ranges: Sequence[str]) -> Iterator[Problem]:
    """Refuse a list of callers that lets everybody in, by one range or by several together."""
    networks = readable_ranges({f"{path}[{index}]": text for index, text in enumerate(ranges)})
    if IPv4Network("0.0.0.0/0") in collapse_addresses(networks.values()):
        one = next((key for key, network in networks.items() if not network.prefixlen), path)
        yield Problem(
            one,
            "lets in every address there is: as a list of callers it keeps nobody out",
            "write the ranges of your callers, or `authorizedRanges: []` where everybody may try",
        )


def refuse_non_ranges(written: Mapping[str, str], example: str) -> Iterator[Problem]:
    """Refuse each text that is not a range."""
    for key, text in written.items():
        try:
            IPv4Network(text)
        except ValueError as reason:
            yield Problem(
                f"{PATH}.{key}",
                f"{text!r} is not a range: {reason}",
                f"write for example {example}",
            )
