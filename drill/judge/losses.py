"""Losses: the causes of the difference between a drill's GPU cost and the least with hindsight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from drill.judge.hindsight import MOST_ARCS, Best, hindsight
from drill.judge.markets import Reach, dollars, markets
from drill.judge.pieces import HOUR, Run, gpu_pools, model, paid_seconds, pieces, runs
from drill.world.record import Node, Pool, Record

UNEXPLAINED = "not explained"
NO_WAY_BACK = "on demand after spot had come back: nothing moves a running pod"
NOT_TAKEN = "on demand from the start, though spot was free: back-off, order or bounds of the pools"
HOURS = "work at other hours or on other machines, known with hindsight alone"


@dataclass(frozen=True)
class Loss:
    """A part of the difference; all parts together are the difference."""

    pool: str
    """The node pool; empty for all together."""
    cause: str
    setting: str
    """The key of the stack file that decides it; empty without one."""
    seconds: float
    """Seconds of machines; 0 if only the price differs."""
    amount: float


def losses_of(
    record: Record,
    best: Best,
    *,
    reach: Mapping[str, Collection[str]] | None = None,
    most_arcs: int = MOST_ARCS,
) -> list[Loss]:
    """List the losses, the largest first and `not explained` last; none if a price is unknown.

    `reach` and `most_arcs` are the arguments of `hindsight`.

    The cost of a node is divided by what it did: it booted, it was idle, its GPUs were empty beside
    a pod, work on it was done again, or it did work that counted. The last is compared with the
    least cost in three steps, each by a further `hindsight`: with the stack's own zones and chains,
    with any machine of the stack, in any zone of which the capacity is known. Work that ran on
    demand while spot of its chain was free has its own rows. To move it there is one of the
    schedules of the first step, so the rest is never below zero.
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
        *_idle_rows(record),
        *_repeated(record),
        *_on_demand_beside_spot(record, reach or {}),
    ]
    useful = sum(_dollars(run.pool, run.pod.gpus, run.useful - run.begin) for run in runs(record))
    beside = sum(row.amount for row in rows if row.cause in (NO_WAY_BACK, NOT_TAKEN))
    chain = "a chain without a machine of the stack that had spot"
    zone = "a zone with spot that the pools do not have"
    rows += [
        Loss("", HOURS, "", 0.0, useful - own.cost - beside),
        Loss("", chain, "fallback", 0.0, own.cost - machines.cost),
        Loss("", zone, "zones", 0.0, machines.cost - best.cost),
    ]
    rows = [row for row in rows if abs(row.amount) >= 5e-7]
    rows.sort(key=lambda row: (-row.amount, row.pool, row.cause))
    rest = total - best.cost - sum(row.amount for row in rows)
    return [*rows, Loss("", UNEXPLAINED, "", 0.0, rest)]


def _dollars(pool: Pool, gpus: int, seconds: float) -> float:
    return dollars(seconds * gpus, (pool.price or 0.0) / pool.gpus)


def _boots(record: Record) -> Iterator[Loss]:
    pools = gpu_pools(record)
    seconds: dict[str, float] = defaultdict(float)
    for node in record.nodes:
        if node.pool in pools:
            until = node.ready if node.ready is not None else record.clock.length
            boot = max(0.0, until - max(0.0, node.requested))
            seconds[node.pool] += min(paid_seconds(node, record.clock.length), boot)
    for name, time in seconds.items():
        yield Loss(name, "machines that boot", "", time, time * (pools[name].price or 0.0) / HOUR)


@dataclass
class _Idle:
    """Idle seconds of the machines of one pool."""

    kept: float = 0.0
    """Without a pod, up to the pool's `least`."""
    unneeded: float = 0.0
    """Without a pod, beyond that."""
    beside: float = 0.0
    """The share of GPUs without a pod, on nodes with a pod."""


_UNNEEDED = ("consolidateAfter", "scaleDownUnneededTime")
"""The settings of Karpenter and of the cluster autoscaler for the time of an idle node."""


def _idle_rows(record: Record) -> Iterator[Loss]:
    """Yield the cost of nodes without a pod, or with empty GPUs."""
    pools = gpu_pools(record)
    unneeded = next(each for each in _UNNEEDED if each in record.settings or each == _UNNEEDED[-1])
    for name, idle in _idle(record).items():
        price = (pools[name].price or 0.0) / HOUR
        causes = (
            ("nodes without a pod that `minNodes` keeps", "minNodes", idle.kept),
            (
                "nodes without a pod, until they count as unneeded",
                *(unneeded, idle.unneeded),
            ),
            ("GPUs left empty beside pods of the same node", "machine", idle.beside),
        )
        for cause, setting, seconds in causes:
            yield Loss(name, cause, setting, seconds, seconds * price)


def _idle(record: Record) -> dict[str, _Idle]:
    """Return the idle seconds of nodes from ready to gone, by the name of the pool."""
    pools = gpu_pools(record)
    by_node: dict[str, list[Run]] = defaultdict(list)
    for run in runs(record):
        if run.pod.node is not None:
            by_node[run.pod.node].append(run)
    found = {name: _Idle() for name in pools}
    changes: dict[str, dict[float, list[int]]] = {
        name: defaultdict(lambda: [0, 0]) for name in pools
    }
    for node in record.nodes:
        if node.pool not in pools or node.ready is None:
            continue
        end = record.clock.length if node.gone is None else min(node.gone, record.clock.length)
        steps, own = changes[node.pool], by_node[node.name]
        steps[node.ready][0] += 1
        steps[end][0] -= 1
        busy = _busy(own, node, end)
        for begin, until in busy:
            steps[begin][1] += 1
            steps[until][1] -= 1
        ran = sum((min(run.end, end) - max(run.begin, node.ready)) * run.pod.gpus for run in own)
        whole = sum(until - begin for begin, until in busy)
        found[node.pool].beside += whole - ran / pools[node.pool].gpus
    for name, steps in changes.items():
        _count_idle(found[name], steps, pools[name].least or 0)
    return found


def _busy(ran: list[Run], node: Node, end: float) -> list[tuple[float, float]]:
    """Return the times with at least one pod."""
    stretches: list[tuple[float, float]] = []
    for run in ran:
        begin, until = max(run.begin, node.ready or 0.0), min(run.end, end)
        if stretches and begin <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], until)
        elif until > begin:
            stretches.append((begin, until))
    return stretches


def _count_idle(found: _Idle, steps: dict[float, list[int]], least: int) -> None:
    nodes = busy = 0
    before = 0.0
    for at in sorted(steps):
        without = nodes - busy
        kept = max(0, min(without, least - busy))
        found.kept += kept * (at - before)
        found.unneeded += (without - kept) * (at - before)
        nodes, busy, before = nodes + steps[at][0], busy + steps[at][1], at


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
    """GPUs on demand at one moment, of pods of one size."""

    pool: Pool
    gpus: int
    fits: frozenset[str]
    """The spot machines that could do the work."""
    refused: bool
    """Whether spot was free when the pods began."""
    now: int = 0
    moved: float = 0.0
    saved: float = 0.0


def _on_demand_beside_spot(record: Record, reach: Mapping[str, Collection[str]]) -> Iterator[Loss]:
    """Yield work on demand at moments at which spot machines of its chain were free."""
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
        free: dict[str, int | None] = {}
        for name in spot:
            nodes = there[name]
            free[name] = None if nodes is None else nodes * spot[name].gpus - used[name]
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
        cause = NOT_TAKEN if use.refused else NO_WAY_BACK
        yield Loss(use.pool.name, cause, "", use.moved, use.saved)


def _move(
    use: _Use, free: dict[str, int | None], prices: Mapping[str, float], seconds: float
) -> None:
    """Move as much of a use as fits to free spot machines, the cheapest first."""
    left, own = use.now, (use.pool.price or 0.0) / use.pool.gpus
    for name in sorted(prices, key=lambda name: (prices[name], name)):
        room = free[name]
        taken = left if room is None else max(0, min(left, room))
        if taken and prices[name] < own:
            left -= taken
            free[name] = None if room is None else room - taken
            use.moved += taken * seconds / use.pool.gpus
            use.saved += dollars(taken * seconds, own - prices[name])
