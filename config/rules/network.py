"""What is checked of the network around a cluster on either cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from config.model.fields import Model
from config.problems import Problem

PATH = "cloud.network"


def theirs(network: Model, *names: str) -> Iterator[Problem]:
    """Settings that leave no choice in a network of somebody else."""
    for name in names:
        if name in network.model_fields_set:
            yield Problem(
                f"{PATH}.{type(network).model_fields[name].alias}",
                "is set for a network this stack does not make",
                "remove it, or `existing` for a network that is made here",
            )


def readable_ranges(written: Mapping[str, str]) -> dict[str, IPv4Network]:
    """Those of the texts that are ranges, by their key."""
    found: dict[str, IPv4Network] = {}
    for key, text in written.items():
        try:
            found[key] = IPv4Network(text)
        except ValueError:
            continue
    return found


def are_ranges(written: Mapping[str, str], example: str) -> Iterator[Problem]:
    """A problem for each text that is none."""
    for key, text in written.items():
        try:
            IPv4Network(text)
        except ValueError as reason:
            yield Problem(f"{PATH}.{key}", f"{text!r} is not a range: {reason}", f"write for example {example}")
