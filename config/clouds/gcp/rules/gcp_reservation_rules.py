"""Checks of pools that use a reservation of Compute Engine (page consuming-reservations)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.model.reading import known
from config.rules.draft import Draft

_NAME = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_RESERVATION = rf"(projects/[^/\s]+/reservations/)?{_NAME}(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?"
"""GoogleCloudPlatform/cluster-toolkit, gke-node-pool: the forms that GKE takes as the value of reservation-name."""


def _form(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reservation and not re.fullmatch(_RESERVATION, pool.reservation):
        yield Problem(
            f"{path}.reservation",
            f"is {pool.reservation!r}, which names no reservation",
            "write its name, such as l4-prod, or projects/PROJECT/reservations/NAME of another project",
        )


def _zones(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The page: reservations are of a zone; a pool in several zones needs one of the name in each.
    zones = known(lambda: pool.zone_count(draft.cloud), 1)
    if pool.reservation and not pool.reclaimable and zones > 1:
        yield Problem(
            f"{path}.reservation",
            f"is in one zone, and the pool may grow in {zones}: without a reservation of that name a zone gets no node",
            "name the reservation's zone in `zones`, or reserve under one name in each",
            warning=True,
        )


def _surge(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Page node-upgrades-quota: surge nodes come out of the reservation; without room for one the upgrade fails.
    if not pool.reservation or not pool.upgrade or pool.reclaimable:
        return
    if (pool.upgrade.max_unavailable or "0") == "0" != (pool.upgrade.max_surge or "0"):
        yield Problem(
            f"{path}.upgrade",
            "adds a node first, which comes out of the reservation too: while the pool has all of it, no upgrade ends",
            'write `maxUnavailable: "1"`, or leave `upgrade` out: its nodes are then exchanged one by one',
            warning=True,
        )


POOL_RULES = (_form, _zones, _surge)
