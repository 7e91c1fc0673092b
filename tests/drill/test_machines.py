"""Machines of a drill: spot capacity by zone, refusals, and machines that register late or never."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from drill.play.faults import Faults
from drill.play.machines import Active
from drill.world.scenario import CapacityChange, Fault, Place
from sandbox.cloud.node_groups import ScaleRefused
from tests.drill.machine_bed import AZURE, GCP, Bed


def test_a_drill_begins_with_the_minimum_of_each_pool() -> None:
    assert [name for _, name, _ in Bed().joined] == ["t4od-0"]


def test_new_machines_register_after_their_time_in_the_zones_with_the_fewest() -> None:
    bed = Bed()
    bed.grow(3)
    bed.until(99)
    assert bed.zones == []
    bed.until(100)
    assert sorted(bed.zones) == ["eu-1", "eu-1", "eu-2"]


def test_a_zone_without_capacity_gets_none() -> None:
    bed = Bed()
    bed.machines.set_limit("NC4", "eu-1", 1)
    bed.grow(4)
    bed.until(100)
    assert sorted(bed.zones) == ["eu-1", "eu-2", "eu-2", "eu-2"]


@pytest.mark.parametrize(("facts", "came"), [(AZURE, 0), (GCP, 2)])
def test_a_request_beyond_the_capacity_is_refused_as_the_cloud_does(facts: Any, came: int) -> None:
    bed = Bed(facts, limit=1)
    bed.machines.shortage = "at-once"
    with pytest.raises(ScaleRefused, match=facts.refused.code):
        bed.grow(3)
    assert len(bed.machines.group("t4").nodes) == came
    bed.grow(2, "t4od")


def test_machines_on_demand_know_no_spot_capacity() -> None:
    bed = Bed()
    bed.machines.set_limit("NC4", "eu-1", 0)
    bed.grow(3, "t4od")
    bed.until(100)
    assert len(bed.joined) == 4


@pytest.mark.parametrize(
    ("kind", "seconds", "registered"), [("silent", 0.0, None), ("slow", 60.0, 160.0), ("late_plugin", 60.0, 100.0)]
)
def test_faults_of_the_registration(kind: str, seconds: float, registered: float | None) -> None:
    bed = Bed()
    bed.machines.active.append(Active(kind, Place(seconds=f"{seconds:.0f}s")))
    bed.grow(1)
    bed.until(1000)
    assert [time for time, name, _ in bed.joined if name != "t4od-0"] == ([registered] if registered else [])


def test_a_refusing_cloud_refuses_spot_alone() -> None:
    bed = Bed()
    bed.machines.active.append(Active("refuse", Place()))
    with pytest.raises(ScaleRefused):
        bed.grow(1)
    bed.grow(1, "t4od")


def test_the_surplus_is_what_runs_beyond_the_capacity_the_newest_first() -> None:
    bed = Bed()
    bed.grow(2)
    bed.until(10)
    bed.grow(2)
    bed.machines.set_limit("NC4", "eu-1", 1)
    (surplus,) = bed.machines.surplus()
    assert surplus.zone == "eu-1"
    assert surplus.name in ("t4-4", "t4-5")


def test_azure_makes_the_pool_smaller_and_google_makes_the_machine_anew_when_it_can() -> None:
    for facts, size in ((AZURE, 1), (GCP, 2)):
        bed = Bed(facts)
        bed.grow(2)
        bed.until(100)
        bed.limit(0)
        lost = bed.machines.group("t4").nodes[0]
        bed.machines.lose([lost], "evicted")
        assert len(bed.machines.group("t4").nodes) == size
        bed.until(500)
        assert [name for time, name, _ in bed.joined if time > 100] == []
        bed.limit(None)
        bed.machines.revive()
        bed.until(900)
        assert [(time, name) for time, name, _ in bed.joined if time > 100] == ([(600.0, lost)] if size == 2 else [])


def test_a_machine_to_be_made_anew_counts_in_its_pool_until_it_comes_and_costs_nothing() -> None:
    bed = Bed(GCP)
    bed.grow(1)
    bed.until(100)
    bed.limit(0)
    bed.lose_all()
    bed.until(400)
    bed.limit(None)
    bed.machines.revive()
    bed.until(900)
    lives = [(node.requested, node.registered, node.gone) for node in bed.lives]
    registered = [at for at, name, _ in bed.joined if name.startswith("t4-")]
    assert lives == [(0.0, None, 100.0), (100.0, None, 400.0), (400.0, None, None)]
    assert registered == [100.0, 500.0]


def test_a_machine_that_is_made_anew_at_once_was_never_absent() -> None:
    bed = Bed(GCP)
    bed.grow(1)
    bed.until(100)
    bed.lose_all()
    assert [node.requested for node in bed.lives] == [0.0, 100.0]


def test_a_machine_that_is_lost_while_it_boots_and_made_anew_registers_once() -> None:
    bed = Bed(GCP)
    bed.grow(1)
    bed.until(40)
    bed.lose_all()
    bed.until(900)
    assert [at for at, name, _ in bed.joined if name.startswith("t4-")] == [140.0]


def test_a_zone_takes_no_more_than_its_own_bound() -> None:
    bed = Bed(GCP)
    bed.cloud.groups["t4"] = replace(bed.cloud.groups["t4"], zone_most=3)
    bed.machines._groups = None
    bed.machines.set_limit("NC4", "eu-2", 0)
    with pytest.raises(ScaleRefused):
        bed.grow(4)
    bed.until(100)
    assert bed.zones == ["eu-1"] * 3


def test_absent_machines_fill_their_zone() -> None:
    bed = Bed(GCP)
    bed.cloud.groups["t4"] = replace(bed.cloud.groups["t4"], zone_most=1)
    bed.machines._groups = None
    bed.grow(1)
    bed.limit(0)
    bed.lose_all()
    bed.machines.set_limit("NC4", "eu-1", None)
    assert bed.machines.places(bed.machines.group("t4"), 1) == []


@pytest.mark.parametrize(("share", "limits"), [(75, [2, 2]), (50, [2, 1]), (25, [1, 0]), (0, [0, 0])])
def test_a_share_of_the_capacity_is_spread_over_the_zones(share: int, limits: list[int]) -> None:
    bed = Bed()
    assert [nodes for _, nodes in shared(bed, share)] == limits


def test_the_second_side_has_the_shares_of_the_first_and_its_own_in_further_zones() -> None:
    assert shared(Bed(), 75, {("NC4", "eu-1"): 8}) == [("eu-1", 6), ("eu-2", 2)]


def shared(bed: Bed, share: int, sizes: Any = None) -> list[tuple[str, int | None]]:
    """Return the nodes of each zone after a fault that leaves a share."""
    nothing = SimpleNamespace()
    faults = Faults(
        bed.clock, bed.machines, nothing, Random(1), lambda: None, lambda *event: None, lambda fault: "", sizes
    )  # type: ignore[arg-type]
    faults.plan([], [Fault(at="10s", capacity=CapacityChange(share=share))])
    bed.until(20)
    return [(step.zone, step.nodes) for step in faults.capacity]


def test_the_minimum_does_not_keep_a_machine_that_the_cloud_takes() -> None:
    bed = Bed()
    bed.machines.lose(["t4od-0"], "evicted")
    assert bed.machines.group("t4od").nodes == ()


@pytest.mark.parametrize(("policy", "stays"), [("Delete", False), ("Deallocate", True)])
def test_a_pool_that_deallocates_keeps_its_evicted_machines(policy: str, stays: bool) -> None:
    bed = Bed(policy=policy)
    bed.grow(1)
    assert bed.machines.stays("t4-2") is stays


def test_the_reach_of_a_pod_follows_from_its_selectors_whatever_it_tolerates() -> None:
    bed = Bed()
    spec = {"nodeSelector": {"kubeflow-spot.dev/pool": "t4"}, "containers": []}
    assert bed.machines.reach({"spec": spec}) == ("t4",)
    assert bed.machines.reach({"spec": {"containers": []}}) == ("t4", "t4od")


def test_aks_tells_a_shortage_by_machines_that_never_come_and_gke_by_a_refusal() -> None:
    """azure_scale_set.go returns before the outcome; errors of instances reach the loop on Google."""
    bed = Bed(limit=1)
    bed.grow(3)
    bed.until(4000)
    assert (len(bed.machines.group("t4").nodes), bed.zones) == (3, [])
    # They stay away when there are machines again, and take no room from those that come then.
    bed.limit(2)
    bed.grow(3)
    bed.until(5000)
    assert sorted(bed.zones) == ["eu-1", "eu-1", "eu-2"]
    with pytest.raises(ScaleRefused):
        Bed(GCP, limit=0).grow(1)


def test_machines_that_could_not_be_made_are_known_after_20_s() -> None:
    bed = Bed(limit=0)
    bed.machines.shortage = "20s"
    told: list[float] = []
    bed.machines.told = lambda: told.append(bed.clock.now)
    bed.grow(2)
    bed.until(19)
    assert bed.machines.failed == set()
    bed.until(21)
    assert bed.machines.failed == set(bed.machines.group("t4").nodes)
    assert told == [20.0, 20.0]
    bed.machines.remove(bed.machines.group("t4"), bed.machines.group("t4").nodes, "never registered")
    assert bed.machines.failed == set()
