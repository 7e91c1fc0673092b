"""Losses: where the difference goes between what a drill's GPU machines cost and the least with hindsight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from drill.judge.hindsight import MOST_ARCS, Best, hindsight
from drill.judge.idle import idle
from drill.judge.markets import Reach, dollars, markets
from drill.judge.pieces import HOUR, Run, gpu_pools, model, paid, pieces, runs
from drill.world.record import Pool, Record

UNEXPLAINED = "not explained"


@dataclass(frozen=True)
class Loss:
    """A part of the difference. The amounts of all rows are the difference."""

    pool: str
    """The node pool; empty for all together."""
    cause: str
    setting: str
    """The key of the stack file that decides it; empty where none does."""
    seconds: float
    """Seconds of machines; 0 where only the price differs."""
    amount: float


def lost_to(
    record: Record,
    best: Best,
    *,
    reach: Mapping[str, Collection[str]] | None = None,
    most_arcs: int = MOST_ARCS,
) -> list[Loss]:
    """The rows, the largest first, and `not explained` last; none where a price is unknown.

    `reach` and `most_arcs` are those that `hindsight` was given.

    What a node costs is divided by what it did: it booted, it was idle, its GPUs were empty beside a pod, work on it was done
    again, or it did work that counted. The last is compared with the least cost in three steps, each by a further `hindsight`:
    with the stack's own zones and chains, with any machine of the stack, in any zone of which the capacity is known. Work that
    ran on demand in the very moments in which spot of its chain was free has its own rows; moving it there is one of the ways
    that the first of these steps compares, so the rest is never below zero.
    """
    total = best.paid
    if total is None or best.cost is None:
        return []
    own = hindsight(record, reach=reach, all_zones=False, all_machines=False, most_arcs=most_arcs)
    machines = hindsight(record, reach=reach, all_zones=False, most_arcs=most_arcs)
    if own.cost is None or machines.cost is None:
        return []
    rows = [
        *_boots(record),
        *idle_rows(record),
        *_repeated(record),
        *_on_demand_beside_spot(record, reach or {}),
    ]
    useful = sum(_dollars(run.pool, run.pod.gpus, run.useful - run.begin) for run in runs(record))
    beside = sum(row.amount for row in rows if row.cause in (NO_WAY_BACK, NOT_TAKEN))
    rows += [
        Loss("", HOURS, "", 0.0, useful - own.cost - beside),
        Loss(
            "",
            "a chain without a machine of the stack that had spot",
            "fallback",
            0.0,
            own.cost - machines.cost,
        ),
        Loss(
            "",
            "a zone with spot that the pools do not have",
            "zones",
            0.0,
            machines.cost - best.cost,
        ),
    ]
    rows = sorted(
        (row for row in rows if abs(row.amount) >= 5e-7),
        key=lambda row: (-row.amount, row.pool, row.cause),
    )
    return [
        *rows,
        Loss("", UNEXPLAINED, "", 0.0, total - best.cost - sum(row.amount for row in rows)),
    ]


NO_WAY_BACK = "on demand after spot had come back: nothing moves a running pod"
NOT_TAKEN = "on demand from the start, though spot was free: back-off, order or bounds of the pools"
HOURS = "work at other hours or on other machines, known with hindsight alone"


def _dollars(pool: Pool, gpus: int, seconds: float) -> float:
    return dollars(seconds * gpus, (pool.price or 0.0) / pool.gpus)


def _boots(record: Record) -> Iterator[Loss]:
    pools = gpu_pools(record)
    seconds: dict[str, float] = defaultdict(float)
    for node in record.nodes:
        if node.pool in pools:
            until = node.ready if node.ready is not None else record.clock.length
            seconds[node.pool] += min(
                paid(node, record.clock.length), max(0.0, until - max(0.0, node.requested))
            )
    for name, time in seconds.items():
        yield Loss(name, "machines that boot", "", time, time * (pools[name].price or 0.0) / HOUR)


def idle_rows(record: Record) -> Iterator[Loss]:
    """What nodes cost while no pod, or not as many as they have GPUs, ran on them."""
    pools = gpu_pools(record)
    for name, found in idle(record).items():
        each = (pools[name].price or 0.0) / HOUR
        yield Loss(
            name,
            "nodes without a pod that `minNodes` keeps",
            "minNodes",
            found.kept,
            found.kept * each,
        )
        yield Loss(
            name,
            "nodes without a pod, until they count as unneeded",
            "scaleDownUnneededTime",
            found.unneeded,
            found.unneeded * each,
        )
        yield Loss(
            name,
            "GPUs left empty beside pods of the same node",
            "machine",
            found.beside,
            found.beside * each,
        )


def _repeated(record: Record) -> Iterator[Loss]:
    rows: dict[str, list[Run]] = defaultdict(list)
    for run in runs(record):
        rows[run.pool.name].append(run)
    for name, found in rows.items():
        seconds = sum((run.end - run.useful) * run.pod.gpus / run.pool.gpus for run in found)
        amount = sum(_dollars(run.pool, run.pod.gpus, run.end - run.useful) for run in found)
        yield Loss(name, "work done again after an eviction, or without need", "", seconds, amount)


@dataclass
class _Use:
    """GPUs at one moment, on demand: of pods that began while spot was free, and of others; by the size of the pod."""

    pool: Pool
    gpus: int
    fits: frozenset[str]
    """The spot machines that could do it."""
    refused: bool
    now: int = 0
    moved: float = 0.0
    saved: float = 0.0


def _on_demand_beside_spot(record: Record, reach: Mapping[str, Collection[str]]) -> Iterator[Loss]:
    """Work on demand at moments at which spot machines of its chain were free, in the zones of their pools."""
    spot = markets(record, all_zones=False)
    reached = Reach(record, dict(reach), weaker_to_stronger=False)
    fitting = {
        (piece.work, name): frozenset(reached.machines(piece) & spot.keys())
        for piece in pieces(record)
        if piece.spot
        for name in piece.pools
    }
    levels = {name: dict(market.levels) for name, market in spot.items()}
    found = [run for run in runs(record) if run.useful > run.begin]
    begins: dict[float, list[Run]] = defaultdict(list)
    ends: dict[float, list[Run]] = defaultdict(list)
    for run in found:
        begins[run.begin].append(run)
        ends[run.useful].append(run)
    there: dict[str, int | None] = dict.fromkeys(spot, 0)
    used = dict.fromkeys(spot, 0)
    uses: dict[tuple[str, int, frozenset[str], bool], _Use] = {}
    of: dict[int, _Use] = {}
    times = sorted({*begins, *ends, *(at for each in levels.values() for at in each)})
    for at, until in zip(times, [*times[1:], times[-1]] if times else [], strict=True):
        there.update({name: levels[name][at] for name in levels if at in levels[name]})
        for run in ends.get(at, ()):
            if run.pool.capacity == "spot":
                used[model(run.pool)] -= run.pod.gpus
            elif id(run) in of:
                of.pop(id(run)).now -= run.pod.gpus
        for run in begins.get(at, ()):
            if run.pool.capacity == "spot":
                used[model(run.pool)] += run.pod.gpus
        free = {
            name: None if (nodes := there[name]) is None else nodes * spot[name].gpus - used[name]
            for name in spot
        }
        for run in begins.get(at, ()):
            fits = fitting.get((run.pod.work, run.pool.name), frozenset())
            if run.pool.capacity == "on-demand" and run.pod.spot and fits:
                refused = any((room := free[name]) is None or room >= run.pod.gpus for name in fits)
                key = (run.pool.name, run.pod.gpus, fits, refused)
                of[id(run)] = uses.setdefault(key, _Use(run.pool, run.pod.gpus, fits, refused))
                of[id(run)].now += run.pod.gpus
        for use in uses.values():
            _move(use, free, {name: spot[name].price for name in use.fits}, until - at)
    for use in uses.values():
        yield Loss(
            use.pool.name, NOT_TAKEN if use.refused else NO_WAY_BACK, "", use.moved, use.saved
        )


def _move(
    use: _Use, free: dict[str, int | None], prices: Mapping[str, float], seconds: float
) -> None:
    """Put as much of a use as fits onto free spot machines, the cheapest first."""
    left, own = use.now, (use.pool.price or 0.0) / use.pool.gpus
    for name in sorted(prices, key=lambda name: (prices[name], name)):
        room = free[name]
        taken = left if room is None else max(0, min(left, room))
        if taken and prices[name] < own:
            left -= taken
            free[name] = None if room is None else room - taken
            use.moved += taken * seconds / use.pool.gpus
            use.saved += dollars(taken * seconds, own - prices[name])
