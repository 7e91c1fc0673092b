"""Checks of pools that use a capacity reservation group (page use-capacity-reservation-groups)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft

_TYPE = "Microsoft.Compute/capacityReservationGroups"
_ID = r"(?i)/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+"

_NOT_RESERVED = re.compile(r"(?i)standard_(nd.*|nc\d+ads_h100_v5)")
"""learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview of 2026-02, "Limitations": ND and NCads H100 v5."""


def _group(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where, id = f"{path}.reservation", pool.reservation
    if not id:
        return
    if not re.fullmatch(_ID, id):
        yield Problem(
            where,
            f"is {id!r}, not the id of a capacity reservation group",
            f"/subscriptions/.../resourceGroups/.../providers/{_TYPE}/NAME",
        )
        return
    yield from azure_id_rules.check(where, id, _TYPE, "a capacity reservation group")
    yield from azure_id_rules.subscription(where, id)


def _size(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reservation and _NOT_RESERVED.fullmatch(pool.machine):
        yield Problem(
            f"{path}.reservation",
            f"is set for {cloud.size(pool.machine)}, of which Azure takes no reservations",
            "use another size, or remove it",
            warning=True,
        )


def _identity(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The page: a system-assigned identity does not work, and Contributor is granted before.
    if pool.reservation and not draft.makes_cluster:
        yield Problem(
            f"{path}.reservation",
            "is used by the identity of the existing cluster, which this program gives no roles",
            "let that be a user-assigned identity with Contributor at the group",
            warning=True,
        )


POOL_RULES = (_group, _size, _identity)
