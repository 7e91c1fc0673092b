"""The report of a record: who ran where, restarts, lost work, machine-hours, cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from drill.judge import waits
from drill.judge.losses import Loss
from drill.judge.outcome import Row, Saved, machine_hours, outcome_of, saved_by
from drill.judge.pieces import HOUR, gpu_cost
from drill.judge.placement import movable
from drill.judge.verdict import State, Verdict, span
from drill.judge.verdicts import Best, failed, verdicts
from drill.judge.view import View
from drill.report.model import FORMAT, Figure, NotMoved, Number, Placed, PoolUse, Report, Unit
from drill.report.timeline import timeline
from drill.world.record import Node, Pod, Pool, Record

_ENDED = ("evicted", "drained")
GKE_CAVEAT = (
    "Google publishes no timers of its autoscaler: each figure of GKE's behaviour here is"
    " documented where a page says it, and assumed otherwise."
)


def build(
    record: Record,
    best: Best | None = None,
    losses: Iterable[Loss] = (),
    policies: Iterable[Row] = (),
) -> Report:
    """Return the report of a record.

    `best` is the least cost with hindsight, `losses` the causes of the distance to it, `policies`
    the stack's settings and fixed policies on the same work.
    """
    view, rows = View(record), tuple(policies)
    saved, clock = saved_by(rows), record.clock
    found = verdicts(record, best, saved)
    moved = not_moved(view)
    caveats = record.caveats
    if record.provider == "gcp" and not any("documented" in caveat for caveat in caveats):
        caveats = (GKE_CAVEAT, *caveats)
    return Report(
        format=FORMAT,
        scenario=record.scenario,
        description=record.description,
        stack=record.stack,
        provider=record.provider,
        location=record.location,
        seed=record.seed,
        autoscaler=record.autoscaler,
        settings=dict(record.settings),
        clock=replace(clock, wall=round(clock.wall, 1)),
        caveats=caveats,
        capacity_source=record.measured,
        price_source=record.price_source,
        failed=failed(found),
        numbers=numbers(record, found, saved),
        policies=rows,
        verdicts=tuple(found),
        figures=figures(view, found, best, moved),
        placed=pods_by_place(view),
        pools=pool_uses(view),
        not_moved=moved,
        losses=tuple(losses),
        best="" if best is None else best.explanation,
        timeline=timeline(record),
    )


def pods_by_place(view: View) -> tuple[Placed, ...]:
    """Count the pods by role and pool; pods without a node have the pool ""."""
    groups: dict[tuple[str, str], list[Pod]] = defaultdict(list)
    for pod in view.record.pods:
        groups[pod.role, pod.pool or ""].append(pod)
    return tuple(
        Placed(
            role=role,
            pool=pool,
            capacity=view.pools[pool].capacity if pool in view.pools else "",
            pods=len(pods),
            pod_hours=round(sum(_on_node(view, pod) for pod in pods) / HOUR, 2),
            restarts=sum(pod.how in _ENDED for pod in pods),
            lost=round(sum(pod.lost for pod in pods), 1),
        )
        for (role, pool), pods in sorted(groups.items())
    )


def _on_node(view: View, pod: Pod) -> float:
    if pod.bound is None:
        return 0.0
    return (view.end if pod.ended is None else pod.ended) - pod.bound


def pool_uses(view: View) -> tuple[PoolUse, ...]:
    """Return the use of each pool, in the order of the record."""
    return tuple(_pool_use(view, pool, machine_hours(view, pool)) for pool in view.record.pools)


def _pool_use(view: View, pool: Pool, hours: float) -> PoolUse:
    return PoolUse(
        *(pool.name, pool.machine, pool.capacity, pool.gpus, pool.most),
        peak=_peak(view.of_pool(pool.name)),
        machine_hours=round(hours, 2),
        price=pool.price,
        cost=None if pool.price is None else round(hours * pool.price, 2),
        least=pool.least,
        zones=pool.zones,
        fallback=pool.fallback,
    )


def _peak(nodes: Sequence[Node]) -> int:
    registered = [node for node in nodes if node.registered is not None]
    changes = [(node.registered or 0.0, 1) for node in registered]
    changes += [(node.gone, -1) for node in registered if node.gone is not None]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def not_moved(view: View) -> tuple[NotMoved, ...]:
    """Count the machine-hours on demand while spot pools had room, and their extra cost.

    A node counts while it has a pod that may run on spot, and no other pod with GPUs.
    """
    rows = []
    for twin in view.record.pools:
        spot = {pool.name: pool for chain in view.before(twin.name) for pool in chain}
        if twin.capacity != "on-demand" or not spot:
            continue
        hours, extra = _stayed(view, twin, list(spot.values()))
        if view.of_pool(twin.name):
            rows.append(NotMoved(twin.name, tuple(spot), round(hours, 2), _cents(extra)))
    return tuple(rows)


def _stayed(view: View, twin: Pool, spot: list[Pool]) -> tuple[float, float | None]:
    changes: list[tuple[float, int]] = []
    for node in view.of_pool(twin.name):
        for begin, end in _movable(view, node):
            changes += [(begin, 1), (end, -1)]
    steps = {at for at in view.steps_at if 0 < at < view.end}
    moments = sorted({at for at, _ in changes} | steps | _turns(view, spot))
    by_time: dict[float, int] = defaultdict(int)
    for at, change in changes:
        by_time[at] += change
    hours, extra, nodes = 0.0, 0.0, 0
    priced = twin.price is not None and all(pool.price is not None for pool in spot)
    for at, until in pairwise(moments):
        nodes += by_time[at]
        left = float(nodes)
        for pool in spot:
            if not left:
                break
            taken = min(left, view.room(pool, at))
            left -= taken
            hours += taken * (until - at) / HOUR
            extra += taken * (until - at) / HOUR * ((twin.price or 0.0) - (pool.price or 0.0))
    return hours, extra if priced else None


def _turns(view: View, spot: list[Pool]) -> set[float]:
    """Return the moments at which nodes of spot pools come or go."""
    nodes = [node for pool in spot for node in view.of_pool(pool.name)]
    times = [at for node in nodes for at in (node.requested, node.gone) if at is not None]
    return {at for at in times if 0 < at < view.end}


def _movable(view: View, node: Node) -> list[tuple[float, float]]:
    """Return the times in which a node has pods that may run on spot, and no others with GPUs."""
    pods = view.on_node(node.name)
    if not pods or any(not movable(pod) and pod.gpus for pod in pods):
        return []
    ends = [(pod.bound, pod.ended) for pod in pods if movable(pod)]
    spans = [(at, view.end if end is None else end) for at, end in ends if at is not None]
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def numbers(record: Record, found: Iterable[Verdict], saved: Saved | None) -> tuple[Number, ...]:
    """Return the four numbers that a report begins with; the wait has the state of its verdict."""
    own, states = outcome_of(record), {verdict.name: verdict.state for verdict in found}
    waited, accepted = states["Longest wait for a node"], span(record.accepted_wait)
    words = f"{'Too long:' if waited == 'red' else 'For a node;'} {accepted} are accepted."
    hours = "Of the hours in which GPUs worked"
    spot = "no GPU work" if own.on_spot is None else f"{own.on_spot:.0%}"
    return (
        _saved(saved, states["Cost of GPU nodes"]),
        Number("Longest wait", span(own.longest_wait), words, waited),
        Number("Share of GPU hours on spot", spot, f"{hours}."),
        Number("Work done again", f"{own.again:.1%}", f"{hours}: lost with a machine."),
    )


def _saved(saved: Saved | None, cost: State) -> Number:
    name = "Saved against on demand alone"
    if saved is None:
        return Number(name, "not compared", "On demand alone was not run on this work.")
    alone = f"{saved.alone:,.2f} USD"
    if saved.ours > saved.alone:
        more = f"costs {saved.ours - saved.alone:,.2f} USD more"
        words = f"{-saved.share:.0%} more than on demand alone ({alone}), by the same work."
        # Only a drawn week has a bound for the cost.
        return Number(name, more, words, "red" if cost == "red" else "explained")
    words = f"{saved.alone - saved.ours:,.2f} of {alone}, by the same work."
    return Number(name, f"{saved.share:.0%}", words)


def figures(
    view: View, found: Sequence[Verdict], best: Best | None, moved: Sequence[NotMoved]
) -> tuple[Figure, ...]:
    """Return the numbers that comparisons show, in their order."""
    measured, pods = waits.waits(view), view.record.pods
    fallen = waits.fallen(view, measured)
    hours = {band: _hours(view, band) for band in ("spot", "on-demand")}
    on_nodes = {band: _pod_hours(view, band) for band in ("spot", "on-demand")}
    share = on_nodes["spot"] / sum(on_nodes.values()) if any(on_nodes.values()) else None
    done = [work for work in view.record.work if work.finished is not None]
    red = [verdict for verdict in found if verdict.ok is False]
    restarts = [pod for pod in pods if pod.how in _ENDED]
    longest, fell = _longest(measured), _longest(fallen)
    rows: tuple[tuple[str, str, float | None, Unit], ...] = (
        ("red_verdicts", "red verdicts", len(red), "verdicts"),
        ("longest_wait", "longest wait", longest, "seconds"),
        ("time_to_fall_back", "time to fall back", fell, "seconds"),
        ("waited", "waiting of all GPU pods", _waited(measured), "seconds"),
        ("pods_fallen_back", "pods that fell back", len(fallen), "pods"),
        ("share_on_spot", "share of GPU pod-hours on spot", _rounded(share, 4), "share"),
        ("restarts", "pods evicted or drained", len(restarts), "pods"),
        ("work_repeated", "work done again", _rounded(sum(pod.lost for pod in pods)), "seconds"),
        ("finished", "finished work", len(done), "pieces"),
        ("spot_hours", "spot machine-hours", _cents(hours["spot"]), "hours"),
        ("on_demand_hours", "on-demand machine-hours", _cents(hours["on-demand"]), "hours"),
        (
            *("not_moved_hours", "machine-hours not moved back"),
            *(_cents(sum(row.machine_hours for row in moved)), "hours"),
        ),
        ("cost", "cost of GPU nodes", _cents(gpu_cost(view.record)), "USD"),
        ("best_cost", "best possible cost", _cents(best.cost) if best else None, "USD"),
    )
    return tuple(Figure(*row) for row in rows)


def _longest(measured: Sequence[waits.Wait]) -> float | None:
    return _rounded(max((wait.length for wait in measured), default=None))


def _waited(measured: Sequence[waits.Wait]) -> float | None:
    """Return the seconds that all GPU pods waited together."""
    lengths = [wait.length for wait in measured if wait.pod.gpus]
    return _rounded(sum(lengths)) if lengths else None


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _cents(value: float | None) -> float | None:
    return _rounded(value, 2)


def _hours(view: View, band: str) -> float:
    pools = [pool for pool in view.record.pools if pool.gpus and pool.capacity == band]
    return sum(machine_hours(view, pool) for pool in pools)


def _pod_hours(view: View, band: str) -> float:
    names = {pool.name for pool in view.record.pools if pool.capacity == band}
    pods = [pod for pod in view.record.pods if movable(pod) and pod.pool in names]
    return sum(_on_node(view, pod) for pod in pods) / HOUR
