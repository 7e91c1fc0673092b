"""Checks of a Kubernetes version against those a cloud had when its list was read."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.versions import Versions, number

_AHEAD = 6
"""Minor versions of two years: Kubernetes has three a year (kubernetes.io/releases/release). A stack that is further ahead of this
program's lists has a typing mistake, or a program that is too old for it."""

_BEHIND = 9
"""Minor versions of three years. A cluster may stay on a version for long after its cloud stopped making clusters of it: the check
of AKS is of a new cluster or an upgrade (hashicorp/terraform-provider-azurerm #8147, ansible/ansible PR 54090)."""

KEPT = "a new cluster cannot have it, an existing one may keep it"
"""The reason why a version that a cloud dropped only draws a warning."""


def offered(path: str, version: str, had: Versions, title: str, command: str) -> Iterator[Problem]:
    """A problem for a version that the cloud does not offer; `command` lists those that it offers today.

    An older version than the list's is a warning, because an existing cluster may have it; so is a newer one, which may be there
    by now. A version far from the list is an error: no cluster has it.
    """
    if number(version) < number(had.first) - _BEHIND:
        yield Problem(
            path,
            f"is {version}: {title} had {had.first} to {had.last} in {had.read}, and has had no {version} for years",
            f'a later version, such as "{had.last}"; `{command}` lists them',
        )
    elif number(version) < number(had.first):
        yield Problem(
            path,
            f"is {version}: {title} had {had.first} to {had.last} in {had.read}; {KEPT}",
            f'for a new cluster a later version, such as "{had.last}"; `{command}` lists them',
            warning=True,
        )
    elif number(version) > number(had.last) + _AHEAD:
        yield Problem(
            path,
            f"is {version}, which does not exist: in {had.read} {title} had {had.first} to {had.last}, and Kubernetes has three"
            " minor versions a year",
            f'for example "{had.last}"; `{command}` lists them',
        )
    elif number(version) > number(had.last):
        yield Problem(
            path,
            f"is {version}, newer than any that {title} had in {had.read}",
            f"make sure that the cloud has it: `{command}`",
            warning=True,
        )
