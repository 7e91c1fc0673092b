"""Pools on reservations of Compute Engine: how they are named, and how they give way to one another."""

from __future__ import annotations

from typing import Any

import pytest

from components.gcp import gcp_immutable_pools
from components.gcp.gcp_live import LiveCluster
from tests.components.google import L4
from tests.components.test_gcp_pools import pool_inputs

OWN, BLOCK = "projects/example-lab/reservations/l4-prod", "/reservationBlocks/b1"


@pytest.mark.parametrize(
    ("name", "live", "sent"),
    [
        ("l4-prod", "", "l4-prod"),
        ("projects/example-shared/reservations/l4-prod", "", "projects/example-shared/reservations/l4-prod"),
        # GKE finds no block without its project.
        (f"l4-prod{BLOCK}", "", f"{OWN}{BLOCK}"),
        # What a pool has stays as it is spelled there: another value replaces the pool.
        (f"l4-prod{BLOCK}", f"l4-prod{BLOCK}", f"l4-prod{BLOCK}"),
        (OWN, "l4-prod", "l4-prod"),
        ("l4-prod", "l4-dev", "l4-prod"),
    ],
)
def test_a_reserved_pool_takes_machines_of_its_reservation_alone(name: str, live: str, sent: str) -> None:
    cluster = LiveCluster({"nodePools": [held_by("l4", live)]})
    inputs = pool_inputs({**L4, "capacity": "on-demand", "reservation": name}, live=cluster)["l4"]
    config = inputs["nodeConfig"]
    assert config["reservationAffinity"] == {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [sent],
    }
    assert not {"spot", "flexStart", "maxRunDuration"} & config.keys()
    changed = [key for key, _, _ in gcp_immutable_pools._changes(inputs, cluster.pools["l4"])]
    assert ("reservation" in changed) is (live != sent)


def held_by(name: str, reservation: str) -> dict[str, Any]:
    """A live pool with two nodes in each zone, on a reservation unless that is empty."""
    affinity = [{"values": [reservation]}] if reservation else []
    config = {"labels": {"kubeflow-spot.dev/pool": "l4"}, "reservationAffinities": affinity}
    return {"name": name, "nodeCount": 2, "nodeConfigs": [config]}


@pytest.mark.parametrize(
    ("live", "first"),
    [
        (held_by("l4", ""), 2),
        (held_by("l4", "l4-dev"), 2),
        (held_by("l4", "l4-prod"), 0),
        # One of another name, on a block of the same reservation.
        (held_by("old", f"{OWN}{BLOCK}"), 0),
    ],
)
def test_a_pool_begins_empty_while_another_one_holds_its_reservation(live: dict[str, Any], first: int) -> None:
    """The machines are free when the other pool is gone; before that GKE would refuse the new one."""
    pool = {**L4, "capacity": "on-demand", "reservation": "l4-prod", "generation": "b", "zones": ["europe-west4-b"]}
    inputs = pool_inputs({**pool, "minNodes": 1}, live=LiveCluster({"nodePools": [live]}))["l4b"]
    assert (inputs["initialNodeCount"], inputs["autoscaling"]["totalMinNodeCount"]) == (first, 1)
