"""Answers of the clouds in the form of their REST documentation. Each names the page; the figures are made up (`about`)."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from checks import stack
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand, demand

PROJECT = Path(__file__).resolve().parents[4]
STACKS = {"azure": "dev", "gcp": "staging"}

_LISTS = {"azure": {"skus", "usages", "providers", "permissions"}}
"""Answers of which the clients return the items."""


@cache
def file(cloud: str) -> dict[str, Any]:
    """The recorded file of a cloud."""
    content: dict[str, Any] = json.loads((Path(__file__).parent / f"{cloud}.json").read_text())
    return content


@cache
def wanted(cloud: str) -> Demand:
    """The demand of the checked-in stack of a cloud."""
    return demand(stack.read_spec(PROJECT, STACKS[cloud]))


def answers(cloud: str) -> Answers:
    """A copy of the good answers, to be broken by a test."""
    recorded = copy.deepcopy(file(cloud))
    parts: dict[str, Any] = {}
    for name, entry in recorded["answers"].items():
        parts[name] = entry["answer"]["value"] if name in _LISTS.get(cloud, ()) else entry["answer"]
    for kind in ("machineTypes", "acceleratorTypes"):
        if kind in recorded:
            parts[kind] = {name: entry["answer"] for name, entry in recorded[kind].items()}
    return Answers(wanted(cloud), parts)


def documents(cloud: str) -> dict[str, Any]:
    """The recorded answers by the path of their request; None where the cloud says 404."""
    recorded = file(cloud)
    tables = [recorded[kind] for kind in ("answers", "machineTypes", "acceleratorTypes") if kind in recorded]
    return {entry["path"].lower(): entry["answer"] for table in tables for entry in table.values()}
