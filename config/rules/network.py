"""Checks of the network around a cluster that clouds share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from config.model.fields import Model
from config.problems import Problem

PATH = "cloud.network"


def not_of_existing(network: Model, *names: str) -> Iterator[Problem]:
    """A problem for each of these settings that is set beside an existing network."""
    for name in names:
        if name in network.model_fields_set:
            yield Problem(
                f"{PATH}.{type(network).model_fields[name].alias}",
                "is set for a network this stack does not make",
                "remove it, or remove `existing` for a network that the stack makes",
            )


def readable_ranges(written: Mapping[str, str]) -> dict[str, IPv4Network]:
    """The texts that are ranges, by their key."""
    ranges: dict[str, IPv4Network] = {}
    for key, text in written.items():
        try:
            ranges[key] = IPv4Network(text)
        except ValueError:
            continue
    return ranges


def are_ranges(written: Mapping[str, str], example: str) -> Iterator[Problem]:
    """A problem for each text that is not a range."""
    for key, text in written.items():
        try:
            IPv4Network(text)
        except ValueError as reason:
            yield Problem(f"{PATH}.{key}", f"{text!r} is not a range: {reason}", f"write for example {example}")
