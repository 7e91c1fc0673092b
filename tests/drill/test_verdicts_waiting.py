"""Verdicts about pods that never get a node, get a pod late, or wait for full pools; most of them also without Google's timers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drill.judge.verdicts import failed
from drill.world.record import Node, Pod, Record, Role, Work
from tests.drill import records
from tests.drill.changes import COMPLETE, FALLBACK, FULL, PLATFORM, WAIT, judged, late_on_demand, red


def on_gke(record: Record) -> Record:
    record.provider, record.settings = "gcp", {}
    return record


def test_a_good_drill_on_gke_has_no_red_verdict() -> None:
    assert red(on_gke(records.spot_gone())) == set()


@pytest.mark.parametrize("role", ["platform", "predictor", "notebook"])
def test_what_serves_and_never_gets_a_node_is_red_on_gke(role: Role) -> None:
    record = on_gke(records.spot_gone())
    record.pods.append(records.serving("a/web", role, 900.0))
    assert red(record) == {COMPLETE, WAIT}
    assert "a/web-0" in judged(record)[COMPLETE].why
    record.pods[-1].created = record.clock.length - 60
    assert red(record) == set()


def test_a_full_pool_explains_that_what_serves_waits() -> None:
    record = on_gke(records.spot_gone())
    record.pools[0] = replace(record.pools[0], most=1)
    record.pods.append(records.serving("a/web", "platform", 900.0))
    found = judged(record)
    assert red(record) == {WAIT}
    assert "waited for system at its maximum of 1" in found[WAIT].why
    assert "system at 1 node" in found[FULL].measured
    record.accepted_wait = record.clock.length
    assert not failed(judged(record).values())


def test_a_pool_at_its_maximum_is_named_on_gke_as_well() -> None:
    record = on_gke(records.spot_gone())
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 2100.0, 4400.0)
    assert judged(record)[FULL].ok is True, "spot may have come"
    record.pools[1] = replace(record.pools[1], most=0)
    found = judged(record)
    assert (found[FULL].ok, "gpuod at 6 nodes: 1 pod waited" in found[FULL].measured) == (None, True)


def test_a_pod_that_was_admitted_and_can_run_on_spot_alone_is_red_without_spot() -> None:
    record = records.spot_gone()
    greedy = records.serving("a/greedy", "notebook", 5300.0, reach=("gpuspot",))
    record.pods.append(greedy)
    assert red(record) == {PLATFORM}
    assert "a/greedy-0 was admitted" in judged(record)[PLATFORM].why
    greedy.reach = ("gpuspot", "system")
    assert red(record) == set()


def quota(record: Record, at_once: int | None) -> Record:
    """A Job of two pieces, the second of which gets its pod when the first has ended."""
    for index, (created, ended) in enumerate(((10.0, 3000.0), (3000.0, None))):
        name = f"q/job-0/{index}"
        record.work.append(Work(name, "training", 10.0, 2900.0, 600.0, ended, at_once=at_once))
        times = (created, created + 5, "system-0", "system", created + 5, ended, "succeeded" if ended else None)
        record.pods.append(Pod(f"q/job-0-{index}", name, "training", "Job", 0, False, *times))  # type: ignore[arg-type]
    return record


@pytest.mark.parametrize(("at_once", "late"), [(1, False), (2, True), (None, True)])
def test_work_waits_from_its_turn_on_although_a_quota_keeps_its_pod_away(at_once: int | None, late: bool) -> None:
    record = quota(records.spot_gone(), at_once)
    assert red(record) == ({WAIT} if late else set())
    if late:
        assert "q/job-0-1. Is there a ResourceQuota?" in judged(record)[WAIT].why


def test_a_pool_at_its_maximum_explains_a_wait_and_excuses_none() -> None:
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 1300.0, 3690.0)
    found = judged(record)
    assert red(record) == {WAIT, FALLBACK}
    assert "39.8 min" in found[WAIT].measured
    assert "1 pod waited for gpuod at its maximum of 6: raise fallback[].onDemand.maxNodes" in found[WAIT].why
    assert found[FULL].ok is None
    assert "gpuod at 6 nodes: 1 pod waited, up to 39.8 min" in found[FULL].measured
    # Where the team accepts it, it holds, and the reason stands beside it.
    record.accepted_wait = 2400.0
    found = judged(record)
    assert (found[WAIT].state, found[FALLBACK].state) == ("explained", "explained")
    assert "at its maximum of 6" in found[WAIT].why
    record.pools[2] = replace(record.pools[2], most=7)
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why


def test_a_pool_at_its_maximum_explains_no_wait_while_spot_could_grow() -> None:
    record = records.spot_gone()
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 1300.0, 4400.0)
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why
    record.pools[1] = replace(record.pools[1], most=4)
    assert "at its maximum of 6" in judged(record)[WAIT].why
    # Nor where the autoscaler does not ask for it, because of nodes that are dead: the limits of unready nodes are settings.
    record.pools[1] = replace(record.pools[1], most=20)
    record.nodes += [Node(f"dead-{each}", "gpuspot", "1", 3000.0, 3060.0) for each in range(4)]
    assert "Nothing explains c/late-0" in judged(record)[WAIT].why


@pytest.mark.parametrize("shortage", ["at-once", "provision-time"])
def test_a_wait_of_hours_is_red_and_says_them(shortage: str) -> None:
    """As dev was shipped until release r2026-11: a twin of two nodes, and 8.3 hours for a place on it."""
    record = records.spot_gone()
    record.shortage = shortage
    record.clock = replace(record.clock, length=40_000.0)
    record.pools[2] = replace(record.pools[2], most=6)
    records.add_late(record, 1300.0, 1300.0 + 8.3 * 3600)
    assert judged(record)[WAIT].state == "red"
    assert judged(record)[WAIT].measured == "8.3 h (c/late-0)"


def test_a_wait_on_gke_is_judged_by_what_is_accepted_as_well() -> None:
    record = records.spot_gone()
    late_on_demand(record)
    record.provider, record.settings = "gcp", {}
    assert (judged(record)[WAIT].ok, judged(record)[FALLBACK].ok) == (False, False)
    record.accepted_wait = 7200.0
    assert (judged(record)[WAIT].ok, judged(record)[FALLBACK].ok) == (True, True)
