"""The time that the autoscaler counts on requested machines, and the reasons to back off from a group."""

from __future__ import annotations

from sandbox.cluster.autoscaler.backoff import BackOff
from sandbox.cluster.autoscaler.plan import Picture, plan
from sandbox.cluster.autoscaler.upcoming import UpcomingNodes

from .objects import node, on_demand, sized, spot, training

POOL = sized(spot(8), 2)
ONE, TWO = POOL.nodes
LIMIT = 60.0
READY = [node(POOL, name) for name in POOL.nodes]


def test_a_machine_is_late_after_its_time_and_its_group_failed_once() -> None:
    upcoming = UpcomingNodes()
    upcoming.requested(0, spot(8))
    booting = [node(POOL, ONE), node(POOL, TWO, ready=False)]
    for now in (1, 60):
        seen = upcoming.observe(now, [POOL], booting, LIMIT)
        assert (seen.late, seen.failed, seen.grew) == (set(), set(), set())
    assert upcoming.observe(61, [POOL], booting, LIMIT).failed == {POOL.name}
    again = upcoming.observe(62, [POOL], booting, LIMIT)
    assert (again.late, again.failed) == ({TWO}, set())
    # Better late than never.
    come = upcoming.observe(63, [POOL], READY, LIMIT)
    assert (come.late, come.failed, come.grew) == (set(), set(), {POOL.name})
    assert upcoming.observe(64, [POOL], READY, LIMIT).grew == set()


def test_a_further_request_begins_the_time_anew_for_those_on_their_way() -> None:
    upcoming = UpcomingNodes()
    upcoming.observe(0, [POOL], [], LIMIT)
    upcoming.requested(50, POOL)
    more = sized(POOL, 3)
    assert upcoming.observe(100, [more], [], LIMIT).late == set()
    assert upcoming.observe(110, [more], [], LIMIT).late == {ONE, TWO}
    # A late machine stays late after further requests.
    upcoming.requested(111, more)
    assert upcoming.observe(111, [more], [], LIMIT).late == {ONE, TWO}


def test_a_node_without_its_gpus_is_on_its_way() -> None:
    without = {"allocatable": {**POOL.template["status"]["allocatable"], "nvidia.com/gpu": "0"}}
    upcoming = UpcomingNodes()
    upcoming.observe(0, [POOL], READY, LIMIT)
    dead = [READY[0], node(POOL, TWO, status=without)]
    upcoming.observe(1, [POOL], dead, LIMIT)
    assert upcoming.observe(61, [POOL], dead, LIMIT).late == {TWO}


def test_nobody_waits_for_a_late_machine() -> None:
    """Recording spot-ready-but-no-gpu-advertised: the twin is asked."""
    groups, pods = [POOL, on_demand(4)], training(2)
    assert plan(Picture(groups, [], pods)).options == []
    growth = plan(Picture(groups, [], pods, late={ONE, TWO}, backed_off={POOL.name}))
    assert [(option.pool, option.nodes) for option in growth.options] == [("gpuod", 2)]
    # A machine that has arrived counts as capacity, also if it was late.
    assert plan(Picture(groups, READY, pods, late={ONE, TWO}, backed_off={POOL.name})).options == []


def test_failures_count_once_a_pause_and_are_forgotten() -> None:
    pauses = BackOff()
    pauses.failed(0, "a")
    pauses.failed(100, "a")
    assert (pauses.groups(399), pauses.groups(401)) == ({"a"}, set())
    for now, length in ((500, 600), (1200, 1200), (2500, 1800), (4400, 1800)):
        pauses.failed(now, "a")
        assert (pauses.groups(now + length - 1), pauses.groups(now + length + 1)) == ({"a"}, set())
    pauses.grew("a")
    assert pauses.groups(4401) == set()
    pauses.failed(5000, "a")
    assert (pauses.groups(5299), pauses.groups(5301)) == ({"a"}, set())
    # Three hours after a pause it is as if nothing had been.
    pauses.failed(5300 + 3 * 3600 + 1, "a")
    assert pauses.groups(5300 + 3 * 3600 + 302) == set()
    assert pauses.groups(5300) == {"a"}


def test_a_pause_passes_as_fast_as_the_profile_s_times() -> None:
    pauses = BackOff(60)
    pauses.failed(0, "a")
    assert (pauses.groups(4), pauses.groups(6)) == ({"a"}, set())
