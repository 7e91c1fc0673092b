"""Checks of the network around a cluster that clouds share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, collapse_addresses

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
