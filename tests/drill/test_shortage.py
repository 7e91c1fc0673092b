"""A shortage of spot machines, as each cloud tells it."""

from __future__ import annotations

import pytest

from sandbox.azure.scale_sets import SPOT as AZURE
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.gcp.instance_groups import SPOT as GCP
from tests.drill.test_machines import Bed


def test_aks_tells_a_shortage_by_machines_that_never_come_and_gke_by_a_refusal() -> None:
    """azure_scale_set.go returns before the outcome; errors of instances reach the loop on Google."""
    bed = Bed(AZURE)
    for zone in ("eu-1", "eu-2"):
        bed.machines.set_limit("NC4", zone, 1)
    bed.grow(3)
    bed.until(4000)
    assert (len(bed.machines.group("t4").nodes), bed.zones) == (3, [])
    # They stay away when there are machines again, and take no room from those that come then.
    for zone in ("eu-1", "eu-2"):
        bed.machines.set_limit("NC4", zone, 2)
    bed.grow(3)
    bed.until(5000)
    assert sorted(bed.zones) == ["eu-1", "eu-1", "eu-2"]
    gke = Bed(GCP)
    for zone in ("eu-1", "eu-2"):
        gke.machines.set_limit("NC4", zone, 0)
    with pytest.raises(ScaleRefused):
        gke.grow(1)


def test_machines_that_could_not_be_made_are_known_after_20_s() -> None:
    bed = Bed(AZURE)
    bed.machines.shortage = "20s"
    told: list[float] = []
    bed.machines.told = lambda: told.append(bed.clock.now)
    for zone in ("eu-1", "eu-2"):
        bed.machines.set_limit("NC4", zone, 0)
    bed.grow(2)
    bed.until(19)
    assert bed.machines.failed == set()
    bed.until(21)
    assert bed.machines.failed == set(bed.machines.group("t4").nodes)
    assert told == [20.0, 20.0]
    bed.machines.remove(bed.machines.group("t4"), bed.machines.group("t4").nodes, "never registered")
    assert bed.machines.failed == set()
