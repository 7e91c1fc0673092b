"""Reservations of Compute Engine in GKE's form (page consuming-reservations)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulumi_gcp import container

from components.gcp.gcp_live import LiveCluster, block, config

_KEY = "compute.googleapis.com/reservation-name"

_BLOCKS = "/reservationBlocks/"


def affinity(
    reservation: str, name: str, project: str, live: LiveCluster
) -> container.NodePoolNodeConfigReservationAffinityArgs:
    """Return the affinity to this reservation alone, for the pool of this name.

    A block needs its project, otherwise GKE answers 404 (GoogleCloudPlatform/cluster-toolkit pull
    request 5043). A live pool keeps its spelling of the same reservation, because a change would
    replace the pool.
    """
    block_alone = _BLOCKS in reservation and not reservation.startswith("projects/")
    value = _whole(reservation, project) if block_alone else reservation
    now = named(live.pools.get(name, {}))
    if now and _whole(now, project) == _whole(reservation, project):
        value = now
    return container.NodePoolNodeConfigReservationAffinityArgs(
        consume_reservation_type="SPECIFIC_RESERVATION", key=_KEY, values=[value]
    )


def named(pool: Mapping[str, Any]) -> str:
    """Return the reservation of a live pool; empty without one."""
    return ", ".join(block(config(pool), "reservationAffinities").get("values") or ())


def held(reservation: str, name: str, project: str, live: LiveCluster) -> bool:
    """Return whether another pool uses the reservation or a block of it."""

    def of(value: str) -> str:
        return _whole(value, project).partition(_BLOCKS)[0]

    return any(
        of(named(pool)) == of(reservation)
        for other, pool in live.pools.items()
        if other != name and named(pool)
    )


def _whole(value: str, project: str) -> str:
    return value if value.startswith("projects/") else f"projects/{project}/reservations/{value}"
