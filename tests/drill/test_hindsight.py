"""The least cost with hindsight: against all plans of tiny drills, and where it must be what."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drill.judge.hindsight import MOST_ARCS, hindsight
from drill.judge.pieces import gpu_cost
from drill.judge.transport import Transport
from drill.world.record import Node, Pool, Record, Step
from drill.world.weeks import WEEK, week
from tests.drill.gpu_records import SPOT, STRONG, TWIN, H, add, levels, record

BIG = Pool("t4big", "T4x4", "spot", gpus=1, least=0, most=4, fallback=("t4-ondemand",), price=0.5, on_demand_price=1.6)
STRONG_TWIN = Pool("a100-ondemand", "A100", "on-demand", gpus=1, least=0, most=4, price=4.0, on_demand_price=4.0)


@dataclass(frozen=True)
class Task:
    """Whole hours: when it is submitted, its deadline, at which the drill finished it, and how many it needs."""

    submitted: int
    finished: int
    needs: int


@st.composite
def tasks(draw: st.DrawFn, hours: int) -> Task:
    submitted = draw(st.integers(0, hours - 1))
    needs = draw(st.integers(1, hours - submitted))
    return Task(submitted, min(submitted + 2 * needs, hours), needs)


def least(hours: int, tasks: Sequence[Task], capacity: Sequence[Sequence[int]], prices: Sequence[float]) -> float:
    """Return the cost of the best of all plans by the hour; an hour on demand costs one."""

    @cache
    def rest(hour: int, left: tuple[int, ...]) -> float:
        if hour == hours:
            return float("inf") if any(left) else 0.0
        ways = [
            [None, *((-1, *range(len(prices))) if left[place] and task.submitted <= hour < task.finished else ())]
            for place, task in enumerate(tasks)
        ]
        return min(
            (
                sum(0.0 if way is None else 1.0 if way < 0 else prices[way] for way in plan)
                + rest(hour + 1, tuple(more - (way is not None) for more, way in zip(left, plan, strict=True)))
                for plan in product(*ways)
                if all(plan.count(machine) <= capacity[machine][hour] for machine in range(len(prices)))
            ),
            default=float("inf"),
        )

    return rest(0, tuple(task.needs for task in tasks))


def on_demand_drill(hours: int, tasks: Sequence[Task], capacity: Sequence[Sequence[int]]) -> Record:
    """Return a drill that ran everything on demand, as late as it could."""
    pools = (SPOT, TWIN) if len(capacity) == 1 else (SPOT, TWIN, BIG)
    steps = [step for machine, nodes in zip(("T4", "T4x4"), capacity, strict=False) for step in levels(machine, nodes)]
    drill = record(hours * H, pools=pools, capacity=steps)
    for number, task in enumerate(tasks):
        times = {"begin": (task.finished - task.needs) * H, "end": task.finished * H, "needs": task.needs * H}
        add(drill, f"job-{number}", TWIN.name, submitted=task.submitted * H, **times)
    return drill


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_plan_is_cheaper_and_one_costs_as_little(data: st.DataObject) -> None:
    """With one GPU a pod and whole hours, shares of machines and cut hours gain nothing: the optimum of such flows is whole."""
    hours = data.draw(st.integers(1, 4))
    drawn = data.draw(st.lists(tasks(hours), min_size=1, max_size=3))
    machines = data.draw(st.integers(1, 2))
    capacity = [data.draw(st.lists(st.integers(0, 2), min_size=hours, max_size=hours)) for _ in range(machines)]
    drill = on_demand_drill(hours, drawn, capacity)
    best = hindsight(drill)
    assert best.cost == pytest.approx(least(hours, drawn, capacity, [0.2, 0.5][:machines]))
    assert gpu_cost(drill) == pytest.approx(sum(task.needs for task in drawn))
    assert best.spot_seconds + best.on_demand_seconds == pytest.approx(sum(task.needs for task in drawn) * H)
    for arcs in (1, 4, 10):
        coarse = hindsight(drill, most_arcs=arcs).cost
        assert (coarse or 0.0) <= (best.cost or 0.0) + 1e-9, "wider cells allow more, never less"


def one_job(
    *, length: float = 10 * H, submitted: float = 0, end: float = 4 * H, needs: float = 2 * H, **rest: object
) -> Record:
    drill = record(length, **rest)  # type: ignore[arg-type]
    add(drill, "job", TWIN.name, submitted=submitted, begin=end - needs, end=end, needs=needs)
    return drill


def test_a_late_drill_is_compared_with_one_that_is_in_time() -> None:
    """Two hours of work from 0 are due at four, whatever the drill made its user wait."""
    late = one_job(end=9 * H, capacity=levels("T4", [0, 0, 0, 1, 8]))
    assert hindsight(late).cost == pytest.approx(0.2 + 1.0)
    late.slowdown = 4.0
    assert hindsight(late).cost == pytest.approx(0.4)


Piece = tuple[str, str, dict[str, Any]]
FOUR_GPUS = Pool("t4x4", "T4x4", "on-demand", gpus=4, least=0, most=2, price=4.0, on_demand_price=4.0)
LONG_AND_SHORT: list[Piece] = [
    ("long", TWIN.name, {"end": 3 * H, "needs": 3 * H}),
    ("short", TWIN.name, {"begin": 2 * H, "end": 3 * H, "needs": H}),
]
LOST: list[Piece] = [
    ("job", SPOT.name, {"end": H, "needs": 2 * H, "lost": H / 2}),
    ("job", SPOT.name, {"begin": H, "end": 2.5 * H, "needs": 2 * H}),
]
JOB: list[Piece] = [("job", TWIN.name, {"begin": 2 * H, "end": 4 * H, "needs": 2 * H})]
COSTS: dict[str, tuple[float, dict[str, Any], list[Piece], float]] = {
    "work waits for spot": (10, {"capacity": levels("T4", [0, 0, 0, 1])}, JOB, 0.2 + 1.0),
    "but not beyond its deadline": (10, {"capacity": levels("T4", [0, 0, 0, 0, 9])}, JOB, 2.0),
    "without a step there is no bound": (10, {}, JOB, 0.4),
    "eight machines for an hour are one hour of a piece": (10, {"capacity": levels("T4", [8, 0, 0, 0])}, JOB, 1.2),
    "a piece is not in two places": (3, {"capacity": levels("T4", [2, 2, 0])}, LONG_AND_SHORT, 3 * 0.2 + 1.0),
    "a machine with too few GPUs is none": (
        *(1, {"pools": (replace(SPOT, fallback=("t4x4",)), FOUR_GPUS)}),
        *([("job", FOUR_GPUS.name, {"end": H, "needs": H, "gpus": 2})], 2.0),
    ),
    "spot is bounded by the pools": (
        *(1, {"pools": (replace(SPOT, most=2), TWIN)}),
        *([(f"job-{number}", TWIN.name, {"end": H, "needs": H}) for number in range(3)], 2 * 0.2 + 1.0),
    ),
    "work that may not run on spot": (1, {}, [("notebook", TWIN.name, {"end": H, "spot": False})], 1.0),
    "work that serves runs when it ran": (
        *(4, {"capacity": levels("T4", [8, 0, 8, 8])}),
        *([("server", TWIN.name, {"submitted": 0, "begin": H, "end": None})], 1.0 + 2 * 0.2),
    ),
    "unfinished work counts as far as it came": (
        *(4, {"capacity": levels("T4", [0, 8, 0, 0])}),
        *([("job", TWIN.name, {"begin": 2 * H, "end": 4 * H, "needs": 9 * H, "finished": False})], 1.0 + 0.2),
    ),
    "work that was lost is not needed again": (4, {}, LOST, 2 * 0.2),
    "work that began before its submission": (
        1,
        {},
        [("job", SPOT.name, {"submitted": 60, "end": H, "needs": H})],
        0.2,
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_the_least_cost_of_a_small_drill(name: str) -> None:
    hours, setting, pieces, cost = COSTS[name]
    drill = record(hours * H, **setting)
    for work, pool, more in pieces:
        add(drill, work, pool, **more)
    assert hindsight(drill).cost == pytest.approx(cost)


def test_what_the_drill_had_was_there_to_have() -> None:
    """A node lives on for its notice after the capacity is gone."""
    drill = record(H, capacity=[Step(0, "T4", "*", 1), Step(H / 2, "T4", "*", 0)])
    add(drill, "job", SPOT.name, end=H / 2 + 30, needs=H / 2 + 30)
    assert hindsight(drill).cost == pytest.approx(gpu_cost(drill))


def test_a_share_of_a_machine_costs_its_share() -> None:
    four = Pool("t4x4", "T4x4", "spot", gpus=4, least=0, most=2, fallback=("twin",), price=1.2, on_demand_price=4.0)
    twin = Pool("twin", "T4x4", "on-demand", gpus=4, least=0, most=2, price=4.0, on_demand_price=4.0)
    drill = record(H, pools=(four, twin), capacity=levels("T4x4", [1]))
    for number in range(3):
        add(drill, f"job-{number}", twin.name, end=H, needs=H, gpus=2)
    best = hindsight(drill)
    assert best.cost == pytest.approx(1.2 + 2.0)
    assert (best.spot_seconds, best.on_demand_seconds) == pytest.approx((H, H / 2))


def zoned(pool: Pool, *zones: str) -> Pool:
    return replace(pool, zones=zones)


def test_a_zone_of_the_capacity_counts_though_no_pool_has_it() -> None:
    drill = one_job(
        pools=(zoned(SPOT, "1"), zoned(TWIN, "1")),
        capacity=[*levels("T4", [0], zone="1"), *levels("T4", [0, 0, 8], zone="2")],
    )
    assert hindsight(drill).cost == pytest.approx(0.4)
    assert hindsight(drill, all_zones=False).cost == pytest.approx(2.0)


def test_a_stronger_machine_may_do_the_work_of_a_weaker_one() -> None:
    pools = (SPOT, TWIN, STRONG, STRONG_TWIN)
    drill = one_job(pools=pools, capacity=levels("T4", [0]))
    assert hindsight(drill).cost == pytest.approx(2 * 0.9)
    assert hindsight(drill, all_machines=False).cost == pytest.approx(2.0)
    assert hindsight(drill, reach={"job": ["t4"]}).cost == pytest.approx(2.0)
    strong = record(4 * H, pools=pools, capacity=levels("A100", [0]))
    add(strong, "job", STRONG_TWIN.name, end=H, needs=H)
    assert hindsight(strong).cost == pytest.approx(4.0)
    assert hindsight(strong, reach={"job": ["t4"]}).cost == pytest.approx(0.2), "whoever knows the pods says so"
    chained = replace(strong, pools=[SPOT, TWIN, replace(STRONG, fallback=("t4",)), STRONG_TWIN])
    assert hindsight(chained).cost == pytest.approx(0.2), "a chain says that they stand in for each other"


def test_machines_of_one_name_may_have_other_gpus() -> None:
    """On Google Cloud GPUs are attached to machines."""
    pools = [
        Pool(f"{gpu}-{capacity}", "n1", capacity, gpus=1, least=0, most=4, price=price, on_demand_price=on_demand)
        for gpu, spot, on_demand in (("t4", 0.2, 1.0), ("v100", 1.0, 3.0))
        for capacity, price in (("spot", spot), ("on-demand", on_demand))
    ]
    drill = record(H, pools=pools, capacity=levels("n1", [1]))
    add(drill, "job", "v100-on-demand", end=H, needs=H)
    assert hindsight(drill).cost == pytest.approx(1.0), "its work is not done on a T4"


def test_without_a_price_there_is_no_cost() -> None:
    best = hindsight(one_job(pools=(replace(SPOT, price=None), TWIN)))
    assert best.cost is None
    assert best.explanation == "No price is known for t4, so there is no least cost."


def test_pools_without_gpus_are_left_out() -> None:
    drill = one_job(pools=(SPOT, TWIN, Pool("general", "D8", "on-demand", gpus=0, least=1, most=6)))
    drill.nodes.append(Node("general-0", "general", "", 0, 0, 0))
    assert hindsight(drill).cost == pytest.approx(0.4)
    assert hindsight(drill).paid == pytest.approx(2.0)


def test_what_is_sent_may_take_another_way() -> None:
    """The first source takes the only room that the second can use, until the second asks for it."""
    flow = Transport()
    one, two, near, far = (flow.node() for _ in range(4))
    flow.supply = {one: 5, two: 5}
    flow.room = {near: 5, far: 5}
    flow.arc(one, near, 5)
    flow.arc(one, far, 5)
    flow.arc(two, near, 5)
    assert flow.send([one], [near]) == 5
    assert flow.send([two], [far]) == 5
    assert flow.supply == {one: 0, two: 0}


def test_a_drill_without_work_costs_nothing() -> None:
    best = hindsight(record(0))
    assert (best.cost, best.spot_seconds) == (0, 0)


def large(pieces: int, length: float, capacity: list[Step], mean: float) -> Record:
    pools = (replace(SPOT, most=pieces // 20, fallback=("t4big", "t4-ondemand")), replace(BIG, most=pieces // 50), TWIN)
    drill = record(length, pools=pools, capacity=capacity)
    draws = Random(1)
    for number in range(pieces):
        submitted = draws.random() * length * 0.7
        needs = min(mean * 2 * draws.random() + 60, length - submitted)
        end = min(length, submitted + needs + mean * draws.random())
        add(drill, f"job-{number}", TWIN.name, submitted=submitted, begin=end - needs, end=end, needs=needs)
    return drill


@pytest.mark.parametrize("name", [pytest.param("week", marks=pytest.mark.slow), "5000 pods"])
def test_a_large_drill_takes_seconds(name: str) -> None:
    """Processor seconds: about one where this was written."""
    if name == "week":
        capacity = week(1, ["T4", "T4x4"], ["1", "2"], {"T4": 8, "T4x4": 4}, {"T4": 1, "T4x4": 1})
        drill = large(400, WEEK, capacity, 4 * H)
    else:
        drill = large(5000, H, [*levels("T4", [250, 50, 0, 200], 900), *levels("T4x4", [50, 0, 100], 1000)], 300)
    begin = time.process_time()
    best = hindsight(drill)
    assert time.process_time() - begin < 10
    assert 0 < (best.cost or 0) < (gpu_cost(drill) or 0)
    rough = hindsight(drill, most_arcs=MOST_ARCS // 4)
    assert 0.95 * (best.cost or 0) < (rough.cost or 0) <= (best.cost or 0) * (1 + 1e-9)
