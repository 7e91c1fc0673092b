"""Figures of a drill: who ran where, restarts, lost work, machine-hours, cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from drill.judge import cost, waits
from drill.judge.outcome import Saved, outcome
from drill.judge.placement import movable
from drill.judge.spans import span
from drill.judge.verdict import State, Verdict
from drill.judge.verdicts import Best
from drill.judge.view import View
from drill.report.model import Figure, NotMoved, Number, Placed, PoolUse
from drill.world.record import Node, Pod, Pool, Record

HOUR = 3600.0
_ENDED = ("evicted", "drained")


def placed(view: View) -> tuple[Placed, ...]:
    """The pods by role and pool; those without a node have the pool ""."""
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


def pools(view: View) -> tuple[PoolUse, ...]:
    """The use of each pool, in the order of the record."""
    uses = []
    for pool in view.record.pools:
        hours = cost.machine_hours(view, pool)
        uses.append(
            PoolUse(
                name=pool.name,
                machine=pool.machine,
                capacity=pool.capacity,
                gpus=pool.gpus,
                most=pool.most,
                peak=_peak(view.of_pool(pool.name)),
                machine_hours=round(hours, 2),
                price=pool.price,
                cost=None if pool.price is None else round(hours * pool.price, 2),
                least=pool.least,
                zones=pool.zones,
                fallback=pool.fallback,
            )
        )
    return tuple(uses)


def _peak(nodes: Sequence[Node]) -> int:
    changes = [(node.registered, 1) for node in nodes if node.registered is not None]
    changes += [
        (node.gone, -1) for node in nodes if node.registered is not None and node.gone is not None
    ]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def not_moved(view: View) -> tuple[NotMoved, ...]:
    """The machine-hours that pods stayed on demand while their spot pools had room: what it costs that nothing moves them back.

    A node counts while it has a pod that may run on spot, and none that may not.
    """
    rows = []
    for twin in view.record.pools:
        spot = {pool.name: pool for chain in view.before(twin.name) for pool in chain}
        if twin.capacity != "on-demand" or not spot:
            continue
        hours, extra = _stayed(view, twin, list(spot.values()))
        if view.of_pool(twin.name):
            rows.append(
                NotMoved(
                    twin.name,
                    tuple(spot),
                    round(hours, 2),
                    None if extra is None else round(extra, 2),
                )
            )
    return tuple(rows)


def _stayed(view: View, twin: Pool, spot: list[Pool]) -> tuple[float, float | None]:
    changes: list[tuple[float, int]] = []
    for node in view.of_pool(twin.name):
        for begin, end in _movable(view, node):
            changes += [(begin, 1), (end, -1)]
    moments = sorted(
        {at for at, _ in changes}
        | {at for at in view.steps_at if 0 < at < view.end}
        | _turns(view, spot)
    )
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
    """The moments at which the room of spot pools changes because their nodes come or go."""
    nodes = [node for pool in spot for node in view.of_pool(pool.name)]
    return {
        at
        for node in nodes
        for at in (node.requested, node.gone)
        if at is not None and 0 < at < view.end
    }


def _movable(view: View, node: Node) -> list[tuple[float, float]]:
    """The times in which a node has pods, and only such that may run on spot."""
    pods = view.on_node(node.name)
    if not pods or any(not movable(pod) and pod.gpus for pod in pods):
        return []
    spans = sorted(
        (pod.bound, view.end if pod.ended is None else pod.ended)
        for pod in pods
        if movable(pod) and pod.bound is not None
    )
    joined: list[tuple[float, float]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def numbers(record: Record, found: Iterable[Verdict], saved: Saved | None) -> tuple[Number, ...]:
    """Return the four numbers that a report begins with; the wait has the state of its verdict."""
    own, states = outcome(record), {verdict.name: verdict.state for verdict in found}
    waited, accepted = states["Longest wait for a node"], span(record.accepted_wait)
    words = (
        f"Too long: {accepted} are accepted."
        if waited == "red"
        else f"For a node; {accepted} are accepted."
    )
    return (
        _saved(saved, states["Cost of GPU nodes"]),
        Number("Longest wait", span(own.longest_wait), words, waited),
        Number(
            "Share of GPU hours on spot",
            "no GPU work" if own.on_spot is None else f"{own.on_spot:.0%}",
            "Of the hours in which GPUs worked.",
        ),
        Number(
            "Work done again",
            f"{own.again:.1%}",
            "Of the hours in which GPUs worked: lost with a machine.",
        ),
    )


def _saved(saved: Saved | None, cost: State) -> Number:
    name = "Saved against on demand alone"
    if saved is None:
        return Number(name, "not compared", "On demand alone was not run on this work.")
    alone = f"{saved.alone:,.2f} USD"
    if saved.ours > saved.alone:
        more = f"costs {saved.ours - saved.alone:,.2f} USD more"
        words = f"{-saved.share:.0%} more than on demand alone ({alone}), by the same work."
        # Only a drawn week has a bound for the cost: elsewhere it is said, and no error.
        return Number(name, more, words, "red" if cost == "red" else "explained")
    return Number(
        name, f"{saved.share:.0%}", f"{saved.alone - saved.ours:,.2f} of {alone}, by the same work."
    )


def figures(
    view: View, found: Sequence[Verdict], best: Best | None, moved: Sequence[NotMoved]
) -> tuple[Figure, ...]:
    """The numbers that comparisons show, in their order."""
    measured = waits.waits(view)
    fallen = waits.fallen(view, measured)
    hours = {band: _hours(view, band) for band in ("spot", "on-demand")}
    on_nodes = {band: _pod_hours(view, band) for band in ("spot", "on-demand")}
    running = sum(on_nodes.values())
    least = None if best is None else _cents(best.cost)
    pods = view.record.pods
    return (
        Figure(
            "red_verdicts",
            "red verdicts",
            sum(verdict.ok is False for verdict in found),
            "verdicts",
        ),
        Figure(
            "longest_wait",
            "longest wait",
            _round(max((wait.length for wait in measured), default=None)),
            "seconds",
        ),
        Figure(
            "time_to_fall_back",
            "time to fall back",
            _round(max((wait.length for wait in fallen), default=None)),
            "seconds",
        ),
        Figure("waited", "waiting of all GPU pods", _waited(measured), "seconds"),
        Figure("pods_fallen_back", "pods that fell back", len(fallen), "pods"),
        Figure(
            "share_on_spot",
            "share of GPU pod-hours on spot",
            round(on_nodes["spot"] / running, 4) if running else None,
            "share",
        ),
        Figure(
            "restarts", "pods evicted or drained", sum(pod.how in _ENDED for pod in pods), "pods"
        ),
        Figure(
            "work_repeated", "work done again", _round(sum(pod.lost for pod in pods)), "seconds"
        ),
        Figure(
            "finished",
            "finished work",
            sum(work.finished is not None for work in view.record.work),
            "pieces",
        ),
        Figure("spot_hours", "spot machine-hours", round(hours["spot"], 2), "hours"),
        Figure("on_demand_hours", "on-demand machine-hours", round(hours["on-demand"], 2), "hours"),
        Figure(
            "not_moved_hours",
            "machine-hours not moved back",
            round(sum(row.machine_hours for row in moved), 2),
            "hours",
        ),
        Figure("cost", "cost of GPU nodes", _cents(cost.paid(view)), "USD"),
        Figure("best_cost", "best possible cost", least, "USD"),
    )


def _waited(measured: Sequence[waits.Wait]) -> float | None:
    """Seconds that all GPU pods waited together: the longest wait stays the same where a larger pool helps all but one."""
    lengths = [wait.length for wait in measured if wait.pod.gpus]
    return _round(sum(lengths)) if lengths else None


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _cents(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _hours(view: View, band: str) -> float:
    return sum(
        cost.machine_hours(view, pool)
        for pool in view.record.pools
        if pool.gpus and pool.capacity == band
    )


def _pod_hours(view: View, band: str) -> float:
    names = {pool.name for pool in view.record.pools if pool.capacity == band}
    return (
        sum(_on_node(view, pod) for pod in view.record.pods if movable(pod) and pod.pool in names)
        / HOUR
    )
