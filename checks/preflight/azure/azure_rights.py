"""Rights: whether whoever deploys may make what a stack declares, each at the place where it is
made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.check import Remark, ok, wrong
from checks.preflight.answers import Answers, Document
from checks.preflight.azure.azure_declared import (
    ACTIONS,
    GROUP,
    STORAGE_GROUP,
    existing_network,
    group_of,
    resources,
)
from checks.preflight.azure.azure_names import group
from checks.preflight.demand import Demand
from config.clouds.azure.azure_settings import Azure, kept_group

ELSEWHERE = "permissions at "
"""Beginning of the name of an answer about a resource of another owner; its id follows."""


@dataclass(frozen=True)
class Place:
    """What is to be done at one place."""

    part: str
    """The name of the answer that lists what whoever deploys may do there."""
    where: str
    actions: tuple[str, ...]
    group: str = ""
    """The name of the answer that has the resource group, where the stack makes it."""


def places(demand: Demand) -> list[Place]:
    """Return where a stack makes what, with the actions for it (docs/azure.md and docs/workloads.md,
    Rights)."""
    cloud, name, account = demand.spec.cloud, group(demand), demand.existing_bucket
    assert isinstance(cloud, Azure)
    actions: dict[str, dict[str, None]] = {GROUP: {}}
    for type, place in resources(demand):
        actions.setdefault(place, {}).update(dict.fromkeys(ACTIONS[f"azure-native:{type}"]))
    if demand.new and (network := existing_network(cloud)):
        actions[network]["Microsoft.Network/virtualNetworks/subnets/join/action"] = None
    own = demand.new and not cloud.existing_resource_group
    known = {
        GROUP: ("permissions", f"resource group {name}", "resourceGroup" if own else ""),
        # Another group than the cluster's, which it outlives.
        STORAGE_GROUP: (
            "storagePermissions",
            f"resource group {kept_group(name, demand.bucket)}",
            "storageGroup",
        ),
    }
    if account:
        holder = group_of(account)
        known[holder] = (
            "accountGroupPermissions",
            f"resource group {holder.rpartition('/')[2]}",
            "",
        )
        known[account] = ("accountPermissions", f"storage account {account.rpartition('/')[2]}", "")

    def described(place: str, wanted: Iterable[str]) -> Place:
        part, where, made = known.get(place) or (f"{ELSEWHERE}{place}", place, "")
        return Place(part, where, tuple(wanted), made)

    return [described(place, wanted) for place, wanted in actions.items() if wanted]


def permissions_held(answers: Answers) -> Iterator[Remark]:
    """Check that the deploying account may do each action."""
    count, fine = 0, True
    for place in places(answers.demand):
        granted = answers.part(place.part)
        if granted is None:  # It is not there. Its own check, or AKS, says so.
            continue
        there = not place.group or answers.parts.get(place.group)
        where = place.where if there else f"the subscription, where {place.where} is to be made"
        count += len(place.actions)
        for action in place.actions:
            if not any(_allows(entry, action) for entry in granted):
                fine = False
                yield wrong(
                    f"whoever deploys may not {action} on {where}",
                    "ask for a role that has it (docs/azure.md and docs/workloads.md, Rights)",
                )
    if fine:
        yield ok(f"whoever deploys has {count} of {count} rights")


def _allows(entry: Document, action: str) -> bool:
    """Return whether a role allows an action; `*` stands for any text, and case is ignored
    (learn.microsoft.com/azure/role-based-access-control/role-definitions)."""
    return any(_covers(form, action) for form in entry.get("actions") or ()) and not any(
        _covers(form, action) for form in entry.get("notActions") or ()
    )


def _covers(form: str, action: str) -> bool:
    return re.fullmatch(re.escape(form).replace(r"\*", ".*"), action, re.IGNORECASE) is not None
