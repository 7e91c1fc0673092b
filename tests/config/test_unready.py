"""Limits of unready nodes: what a region takes back stops nothing, and a cluster that is out of sight stops the autoscaler."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from config.clouds.azure.settings import AzureAutoscaler
from config.clouds.azure.unready import Bounds, Limits, chosen, limits

PINNED = Limits(3, 45)


def stops(unready: int, nodes: int, told: Limits) -> bool:
    """As IsClusterHealthy of cluster-autoscaler 1.36.1 decides."""
    return unready > told.count and unready > told.percentage / 100 * nodes


def pool(name: str, least: int, most: int, reclaimable: bool = False) -> Bounds:
    return Bounds(name, least, most, reclaimable)


@st.composite
def clusters(draw: st.DrawFn) -> list[Bounds]:
    most = st.integers(1, 80)
    return [
        pool(f"p{number}", draw(st.integers(0, (high := draw(most)))), high, draw(st.booleans()))
        for number in range(draw(st.integers(1, 6)))
    ]


@given(clusters(), st.integers(1, 5), st.data())
def test_losing_all_spot_or_one_on_demand_pool_never_stops_the_autoscaler(
    pools: list[Bounds], system: int, data: st.DataObject
) -> None:
    told = limits(pools, system, PINNED)
    for gone in ([one for one in pools if one.reclaimable], *([one] for one in pools if not one.reclaimable)):
        lost = sum(data.draw(st.integers(one.least, one.most)) for one in gone)
        left = sum(data.draw(st.integers(one.least, one.most)) for one in pools if one not in gone)
        assert not stops(lost, lost + left + system, told)


@given(clusters(), st.integers(1, 5))
def test_a_whole_cluster_out_of_sight_does_stop_it(pools: list[Bounds], system: int) -> None:
    told = limits(pools, system, PINNED)
    everything = system + sum(one.most for one in pools)
    assert told.percentage < 100
    if everything > told.count:
        assert stops(everything, everything, told)
    if told.percentage < 90:
        assert told.count == PINNED.count, "a percentage is enough, and the count stays what it was"


def test_five_dead_gpu_nodes_of_ten_stopped_the_usual_limits_and_do_not_stop_these() -> None:
    pools = [pool("general", 3, 6), pool("t4", 0, 5, reclaimable=True)]
    assert stops(5, 10, PINNED)
    assert not stops(5, 10, limits(pools, 2, PINNED))


def test_small_pools_leave_the_releases_limits_and_another_bound_seldom_changes_them() -> None:
    small = [pool("general", 1, 3), pool("t4", 0, 3, reclaimable=True)]
    assert limits(small, 2, PINNED) == PINNED
    one, other = ([pool("general", 1, 4), pool("t4", 0, most, reclaimable=True)] for most in (8, 9))
    assert limits(one, 2, PINNED) == limits(other, 2, PINNED) == Limits(3, 75)
    # Where almost all is spot no percentage is enough.
    fleet = [pool("general", 1, 3), pool("t4", 0, 60, reclaimable=True)]
    assert limits(fleet, 2, PINNED) == Limits(100, 90)


def test_what_the_stack_file_says_stands() -> None:
    fleet = [pool("t4", 0, 60, reclaimable=True)]
    release = AzureAutoscaler(okTotalUnreadyCount=3, maxTotalUnreadyPercentage=45)
    assert chosen(AzureAutoscaler(), release, fleet, 2) == Limits(100, 90)
    assert chosen(AzureAutoscaler(okTotalUnreadyCount=5), release, fleet, 2) == Limits(5, 90)
    assert chosen(AzureAutoscaler(maxTotalUnreadyPercentage=70), release, fleet, 2) == Limits(3, 70)
