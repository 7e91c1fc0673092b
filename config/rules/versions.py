"""Checks of a Kubernetes version against those a cloud had when its list was read."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.versions import Versions, number
from config.problems import Problem

_AHEAD = 6
"""Minor versions of two years: Kubernetes has three a year (kubernetes.io/releases/release). A stack that is further ahead of this
program's lists has a typing mistake, or a program that is too old for it."""


def offered(path: str, version: str, had: Versions, title: str, command: str) -> Iterator[Problem]:
    """A problem for a version that the cloud does not offer; `command` lists those that it offers today.

    A minor version that a cloud has dropped never comes back: an error. A newer one than the list's may be there by now: a warning.
    """
    if number(version) < number(had.first):
        yield Problem(
            path,
            f"is {version}: {title} had {had.first} to {had.last} in {had.read}, and takes no older version back",
            f'a later version, such as "{had.last}"; `{command}` lists them',
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
