"""Limits of unready nodes: evictions never stop the autoscaler, losing sight of the cluster does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from config.clouds.azure.azure_autoscaler import AzureAutoscaler
from config.clouds.azure.unready import Bounds, Limits, chosen, limits

PINNED = Limits(3, 45)


def stops(unready: int, nodes: int, bounds: Limits) -> bool:
    """Decide as IsClusterHealthy of cluster-autoscaler 1.36.1."""
    return unready > bounds.count and unready > bounds.percentage / 100 * nodes


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
    bounds = limits(pools, system, PINNED)
    for gone in (
        [member for member in pools if member.reclaimable],
        *([member] for member in pools if not member.reclaimable),
    ):
        lost = sum(data.draw(st.integers(member.least, member.most)) for member in gone)
        remaining = sum(data.draw(st.integers(member.least, member.most)) for member in pools if member not in gone)
        assert not stops(lost, lost + remaining + system, bounds)


@given(clusters(), st.integers(1, 5))
def test_losing_sight_of_the_whole_cluster_stops_it(pools: list[Bounds], system: int) -> None:
    bounds = limits(pools, system, PINNED)
    everything = system + sum(member.most for member in pools)
    assert bounds.percentage < 100
    if everything > bounds.count:
        assert stops(everything, everything, bounds)
    if bounds.percentage < 90:
        assert bounds.count == PINNED.count, "a percentage is enough, and the count stays what it was"


def test_five_dead_gpu_nodes_of_ten_stopped_the_usual_limits_and_do_not_stop_these() -> None:
    pools = [pool("general", 3, 6), pool("t4", 0, 5, reclaimable=True)]
    assert stops(5, 10, PINNED)
    assert not stops(5, 10, limits(pools, 2, PINNED))


def test_small_pools_keep_the_releases_limits_and_a_changed_bound_seldom_changes_them() -> None:
    small = [pool("general", 1, 3), pool("t4", 0, 3, reclaimable=True)]
    assert limits(small, 2, PINNED) == PINNED
    first, second = ([pool("general", 1, 4), pool("t4", 0, most, reclaimable=True)] for most in (8, 9))
    assert limits(first, 2, PINNED) == limits(second, 2, PINNED) == Limits(3, 75)
    # A percentage alone is not enough when almost all nodes are spot.
    fleet = [pool("general", 1, 3), pool("t4", 0, 60, reclaimable=True)]
    assert limits(fleet, 2, PINNED) == Limits(100, 90)


def test_the_stack_files_own_limits_stay() -> None:
    fleet = [pool("t4", 0, 60, reclaimable=True)]
    release = AzureAutoscaler(okTotalUnreadyCount=3, maxTotalUnreadyPercentage=45)
    assert chosen(AzureAutoscaler(), release, fleet, 2) == Limits(100, 90)
    assert chosen(AzureAutoscaler(okTotalUnreadyCount=5), release, fleet, 2) == Limits(5, 90)
    assert chosen(AzureAutoscaler(maxTotalUnreadyPercentage=70), release, fleet, 2) == Limits(3, 70)
