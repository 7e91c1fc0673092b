"""Where the difference goes between the cost of a drill and the least with hindsight."""

from dataclasses import replace
from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drill.judge.hindsight import MOST_ARCS, hindsight
from drill.judge.losses import HOURS, NO_WAY_BACK, NOT_TAKEN, UNEXPLAINED, losses_of
from drill.judge.pieces import gpu_cost, pieces, runs
from drill.world.record import Node, Pool, Record
from tests.drill.gpu_records import SPOT, STRONG, TWIN, H, add, levels, record


def rows(drill: Record, most_arcs: int = MOST_ARCS) -> dict[tuple[str, str], float]:
    """Return the amounts of the rows: they are the whole difference, and below zero only what was late."""
    best = hindsight(drill, most_arcs=most_arcs)
    found = losses_of(drill, best, most_arcs=most_arcs)
    assert sum(row.amount for row in found) == pytest.approx((gpu_cost(drill) or 0.0) - (best.cost or 0.0))
    assert all(row.amount > -1e-6 for row in found if row.cause != HOURS), found
    assert found[-1].cause == UNEXPLAINED
    assert found[-1].amount == pytest.approx(0, abs=1e-5)
    return {(row.pool, row.cause): pytest.approx(row.amount, abs=1e-6) for row in found[:-1]}


Job = tuple[str, str, float, float, float]
"""The work's name, its pool, its begin, its end and its need in hours."""
ROWS: dict[str, tuple[int, list[int] | None, list[Job], dict[tuple[str, str], float]]] = {
    "a drill that did the best lost nothing": (4, None, [("job", SPOT.name, 0, 2, 2)], {}),
    "work stays on demand after spot came back": (
        *(4, [0, 8, 8, 8], [("job", TWIN.name, 0, 4, 4)]),
        {(TWIN.name, NO_WAY_BACK): 3 * 0.8},
    ),
    "work begins on demand though spot is free": (
        *(4, [8, 8, 0, 8], [("job", TWIN.name, 0, 4, 4)]),
        {(TWIN.name, NOT_TAKEN): 3 * 0.8},
    ),
    "spot that others use is not free": (2, [1, 1], [("one", SPOT.name, 0, 2, 2), ("two", TWIN.name, 0, 2, 2)], {}),
    "spot that others used becomes free": (
        *(2, [1, 1], [("one", SPOT.name, 0, 1, 1), ("two", TWIN.name, 0, 2, 2)]),
        {(TWIN.name, NO_WAY_BACK): 0.8},
    ),
    "a free machine is counted once": (
        *(3, [1, 0, 1], [("one", TWIN.name, 0, 3, 3), ("two", TWIN.name, 1, 3, 2)]),
        {(TWIN.name, NOT_TAKEN): 2 * 0.8},
    ),
    "work could have waited": (
        *(4, [0, 0, 8, 0], [("job", TWIN.name, 0, 1, 2), ("job", TWIN.name, 3, 4, 2)]),
        {("", HOURS): 0.8},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_causes_of_a_difference(name: str) -> None:
    hours, capacity, jobs, expected = ROWS[name]
    drill = record(hours * H, capacity=levels("T4", capacity) if capacity else ())
    for work, pool, begin, end, needs in jobs:
        # Work is submitted when its first pod begins.
        submitted = min(job[2] for job in jobs if job[0] == work)
        add(drill, work, pool, submitted=submitted * H, begin=begin * H, end=end * H, needs=needs * H)
    assert rows(drill) == expected


def test_nodes_boot_and_idle() -> None:
    drill = record(2 * H, pools=(replace(SPOT, least=1), TWIN))
    drill.nodes.append(Node("n", SPOT.name, "", requested=0, registered=200, ready=360, gone=None))
    drill.nodes.append(Node("m", SPOT.name, "", requested=H, registered=H, ready=H, gone=2 * H))
    drill.nodes.append(Node("never", SPOT.name, "", requested=0, gone=H))
    add(drill, "job", SPOT.name, begin=720, end=H, needs=H - 720, node="n")
    assert rows(drill) == {
        (SPOT.name, "machines that boot"): 0.1 * 0.2,
        (SPOT.name, "nodes without a pod that `minNodes` keeps"): 1.1 * 0.2,
        (SPOT.name, "nodes without a pod, until they count as unneeded"): 0.2,
    }


def test_gpus_stay_empty_and_work_is_done_again() -> None:
    four = Pool("t4x4", "T4x4", "spot", gpus=4, least=0, most=2, price=1.2, on_demand_price=4.0)
    drill = record(4 * H, pools=(four,))
    drill.nodes.append(Node("n", four.name, "", requested=0, registered=0, ready=0, gone=2 * H))
    add(drill, "job", four.name, end=H, needs=H, node="n", lost=H / 2)
    add(drill, "job", four.name, begin=H, end=1.5 * H, needs=H, node="n")
    add(drill, "beside", four.name, begin=H, end=2 * H, needs=H, gpus=2, node="n")
    assert rows(drill) == {
        (four.name, "work done again after an eviction, or without need"): 0.3 / 2,
        (four.name, "GPUs left empty beside pods of the same node"): 2 * 1.2 - 0.3 * 1.5 - 0.6,
    }


def test_a_zone_and_a_chain_are_missing() -> None:
    pools = (replace(SPOT, zones=("1",)), replace(TWIN, zones=("1",)), replace(STRONG, zones=("1",)))
    drill = record(
        3 * H,
        pools=pools,
        capacity=[*levels("T4", [0], zone="1"), *levels("T4", [0, 8, 0], zone="2"), *levels("A100", [0, 0, 1])],
    )
    add(drill, "job", TWIN.name, end=3 * H, needs=3 * H)
    assert rows(drill) == {
        ("", "a chain without a machine of the stack that had spot"): 0.1,
        ("", "a zone with spot that the pools do not have"): 0.8,
    }


def test_without_a_price_there_are_no_rows() -> None:
    drill = record(H, pools=(replace(SPOT, price=None), TWIN))
    add(drill, "job", SPOT.name, end=H, needs=H)
    assert losses_of(drill, hindsight(drill)) == []


FOUR = Pool(
    "t4x4", "T4x4", "spot", gpus=4, least=1, most=2, zones=("1",), fallback=("twin",), price=1.2, on_demand_price=3.0
)
POOLS = (
    replace(SPOT, zones=("1", "2"), fallback=("t4x4", TWIN.name), least=1),
    TWIN,
    FOUR,
    Pool("twin", "T4x4", "on-demand", gpus=4, least=0, most=2, price=3.0, on_demand_price=3.0),
    STRONG,
)


def simulated(seed: int) -> Record:
    """Return a drill of a careless scheduler: pods at any place and time, evicted, begun anew; nodes that boot and idle."""
    draws = Random(seed)
    pick = lambda most: int(draws.random() * most)  # noqa: E731
    steps = [
        step
        for machine, zone in (("T4", "1"), ("T4", "2"), ("T4", "3"), ("T4x4", "1"), ("A100", "*"))
        for step in levels(machine, [pick(3) for _ in range(10)], H, zone)
    ]
    drill = record(10 * H, pools=POOLS, capacity=steps)
    for number in range(1 + pick(8)):
        pool = POOLS[pick(len(POOLS))]
        begin = draws.random() * 8 * H
        node = Node(f"{pool.name}-{number}", pool.name, "1", begin, begin + 100, begin + 200 * draws.random() + 100)
        end = None if pick(4) == 0 else node.requested + 400 + draws.random() * (10 * H - node.requested - 400)
        node.gone = end
        drill.nodes.append(node)
        for slot in range(pool.gpus):
            now = node.ready or 0.0
            while pick(3) and now < (end or 10 * H) - 10:
                start = now + draws.random() * ((end or 10 * H) - now)
                now = start + draws.random() * ((end or 10 * H) - start)
                name, kind = f"serving-{number}-{slot}", dict[str, Any]()
                if pick(5):
                    kind = {"needs": (now - start) * (0.5 + draws.random()), "lost": draws.random() * (now - start)}
                    name = f"job-{pick(6)}"
                kind |= {"submitted": draws.random() * 10 * H, "finished": bool(pick(2)), "spot": bool(pick(4))}
                add(drill, name, pool.name, begin=start, end=now, node=node.name, **kind)
    return drill


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
@example(9644)
def test_no_drill_is_cheaper_than_the_best_and_the_rows_are_the_difference(seed: int) -> None:
    drill = simulated(seed)
    rows(drill)
    rows(drill, most_arcs=30)
    best, paid = hindsight(drill), gpu_cost(drill)
    assert late(drill) or (best.cost or 0.0) <= (paid or 0.0) + 1e-6
    assert (hindsight(drill, most_arcs=1).cost or 0.0) <= (best.cost or 0.0) + 1e-6
    # With deadlines at the drill's end, nothing is late.
    drill.slowdown = inf
    assert not late(drill)
    assert (hindsight(drill).cost or 0.0) <= (paid or 0.0) + 1e-6


def late(drill: Record) -> bool:
    """Return whether work ran after its deadline, where spot may be cheaper than before (seed 9644), by the record alone."""
    deadlines = {piece.work: piece.end for piece in pieces(drill)}
    return any(run.end > deadlines.get(run.pod.work, inf) + 1e-6 for run in runs(drill) if run.pod.role == "training")
