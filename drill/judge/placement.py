"""Verdicts on the places of pods: platform pods off spot, others on spot if there is some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

from drill.judge.bounds import GPU_AGE, can_grow, passed_over
from drill.judge.verdict import Verdict, counted, moment, span
from drill.judge.view import LOOP, View
from drill.world.record import Node, Pod, Pool
from drill.world.scenario_texts import first

ENOUGH = 0.95
"""The least share of pods on spot, of those that started while there was spot."""

HOUR = 3600.0
_ORDER = {"azure": "autoscaler's priority ConfigMap", "gcp": "ComputeClass"}
"""The object that makes the autoscaler try spot first."""
_KEPT = ("platform", "notebook", "predictor")
"""Roles whose pods must not be evicted."""


def platform(view: View) -> Verdict:
    """Judge whether a platform pod, notebook or predictor was ever on a spot or GPU node.

    A pod that asks for a GPU may be on a GPU node on demand.
    """
    kept = [pod for pod in view.record.pods if pod.role in _KEPT]
    name, bound = "Platform off spot and GPU nodes", "0 pods, at any moment"
    if not kept:
        why = "The scenario has no platform pods, notebooks or predictors."
        return Verdict(name, None, "no such pod", bound, why)
    wrong = [pod for pod in kept if _misplaced(pod, view.pools.get(pod.pool or ""))]
    asking = [pod.name for pod in kept if pod not in wrong and _asks_for_spot(view, pod)]
    measured = f"{len(wrong) + len(asking):,} of {counted(len(kept), 'pod')}"
    if not wrong and not asking:
        why = "Read from each pod's node, from begin to end."
        return Verdict(name, True, measured, bound, why)
    seen = [f"{pod.name} on {pod.pool} at {moment(pod.bound or 0)}" for pod in wrong]
    seen += [f"{pod} was admitted and can run on nothing but spot" for pod in asking]
    why = f"{first(seen)}. The guard of the stack refuses such pods: is it on?"
    return Verdict(name, False, measured, bound, why)


def _misplaced(pod: Pod, pool: Pool | None) -> bool:
    if pool is None or pod.bound is None:
        return False
    return pool.capacity == "spot" or (pool.gpus > 0 and not pod.gpus)


def _asks_for_spot(view: View, pod: Pod) -> bool:
    """Return whether a pod has no node, and its own constraints allow only spot."""
    reach = [view.pools[name] for name in pod.reach if name in view.pools]
    return pod.bound is None and bool(reach) and all(pool.capacity == "spot" for pool in reach)


def movable(pod: Pod) -> bool:
    """Return whether a pod should be on spot."""
    return pod.spot and pod.gpus > 0


def share(view: View) -> Verdict:
    """Judge the share of pods on spot, of those for which spot could grow when they started.

    Pods that took a free place on demand, on a node that existed before them, requested nothing.
    """
    name = "On spot while there was spot"
    bound = f"at least {ENOUGH:.0%} of the pods for which there was spot"
    on_spot, missed, free_places, without = 0, [], 0, 0
    for pod in view.record.pods:
        if not movable(pod):
            continue
        if pod.bound is None or pod.pool not in view.pools:
            without += 1
            continue
        if view.pools[pod.pool].capacity == "spot":
            on_spot += 1
            continue
        node = view.nodes.get(pod.node or "")
        if node is None or node.requested < pod.created:
            free_places += 1
        elif _all_chains(view, [pod], node, can_grow):
            missed.append(pod)
        else:
            without += 1
    asked = on_spot + len(missed)
    total = asked + free_places + without
    if not asked:
        text = f"none of {counted(total, 'pod')}" if total else "no pod"
        return Verdict(name, None, text, bound, "No pod started while there was spot.")
    ratio = on_spot / asked
    text = (
        f"{on_spot / total:.0%} of {counted(total, 'pod')};"
        f" {ratio:.1%} of {asked:,} for which there was spot"
    )
    others = [f"{free_places:,} took free places on demand"] if free_places else []
    others += [f"for {without:,} there was none, or they got no node"] if without else []
    why = f"Of the others {' and '.join(others)}." if others else ""
    if missed:
        seen = [f"{pod.name} on {pod.pool}" for pod in missed]
        remedy = "Do the autoscaler's priorities and the pods' tolerations hold?"
        why = f"On demand although spot was there: {first(seen)}. {remedy} {why}".strip()
    return Verdict(name, ratio >= ENOUGH, text, bound, why)


def early(view: View) -> Verdict:
    """Judge whether nodes on demand were requested before spot was full, refused or given up."""
    name, bound = "None on demand before its turn", "0 nodes"
    requests = _requests_on_demand(view)
    if not requests:
        return Verdict(name, None, "no node on demand was requested", bound, "")
    wrong = [node for nodes in requests for node in nodes if _too_early(view, node, len(nodes))]
    total = sum(len(nodes) for nodes in requests)
    why = "Each was requested while spot was full, refused, backed off or given up."
    if wrong:
        seen = first(_once([f"{node.pool} at {moment(node.requested)}" for node in wrong]))
        order = _ORDER[view.record.provider]
        why = f"Requested although spot had not been given up: {seen}. Is the {order} there?"
    return Verdict(name, not wrong, f"{len(wrong):,} of {counted(total, 'node')}", bound, why)


def _requests_on_demand(view: View) -> list[list[Node]]:
    """Return the nodes of on-demand twins by request, without those that an upgrade adds."""
    requests: dict[tuple[str, float], list[Node]] = defaultdict(list)
    for node in view.record.nodes:
        on_demand = view.pools[node.pool].capacity == "on-demand"
        if node.requested > 0 and on_demand and view.before(node.pool):
            requests[node.pool, node.requested].append(node)
    decided: dict[str, list[float]] = defaultdict(list)
    for event in view.record.events:
        if event.kind == "scale-up":
            decided[event.pool].append(event.at)
    upgraded = {node.pool for node in view.record.nodes if node.why == "upgraded"}
    return [
        nodes
        for (pool, at), nodes in requests.items()
        if pool not in upgraded or any(abs(each - at) <= LOOP for each in decided[pool])
    ]


def _too_early(view: View, node: Node, together: int) -> bool:
    at, twin = node.requested, view.pools[node.pool]
    pending = [pod for pod in view.pending(at) if twin in view.allowed_pools(pod)]
    waiting = [pod for pod in pending if movable(pod)]
    if sum(not pod.spot for pod in pending) >= together or not waiting:
        return False  # Requested for pods that may not run on spot.
    return _all_chains(view, waiting, node, lambda view, pool, at: not passed_over(view, pool, at))


def _all_chains(
    view: View, pods: list[Pod], node: Node, usable: Callable[[View, Pool, float], bool]
) -> bool:
    """Return whether each chain to a node had a usable spot pool when the node was requested.

    All chains of the pods count, as a record need not say to which chain a pod belongs.
    """
    every = [chain for pod in pods for chain in view.chains(pod, node.pool)]
    chains = {tuple(pool.name for pool in chain): chain for chain in every}
    found = [any(usable(view, pool, node.requested) for pool in chain) for chain in chains.values()]
    return bool(found) and all(found)


def back(view: View) -> Verdict:
    """Judge whether new nodes are spot again after capacity returned and the back-off is over."""
    name = "New pods go back to spot"
    scan = view.setting("scanInterval") or 10.0
    used: list[float] = []
    late: list[str] = []
    for pool, at, until in _returns(view):
        free = max(view.backed_off_until(pool.name, at) or at, at)
        if (asked := _asked(view, pool, at, until)) is not None:
            used.append(asked)
        for node in [node for name in _twins(view, pool) for node in view.of_pool(name)]:
            if free + 2 * scan < node.requested < until and _too_early(view, node, 1):
                late.append(f"{node.pool} at {moment(node.requested)}")
    bound = "on spot as soon as its back-off is over"
    if not used and not late:
        why = "Nothing asked for spot after it had returned."
        measured = "no new node was needed after a return of spot"
        return Verdict(name, None, measured, bound, why)
    measured = "no new spot node"
    if used:
        measured = f"asked for within {span(max(used))} of the first need"
    why = f"{counted(len(used), 'return')} of capacity brought new nodes."
    if late:
        why = f"On demand after that: {first(_once(late))}."
    if used and max(used) > GPU_AGE + 2 * scan:
        why += " A back-off outlives the fault: it doubles up to 30 min with each failure."
    return Verdict(name, not late, measured, bound, why)


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _twins(view: View, pool: Pool) -> list[str]:
    known = [name for name in pool.fallback if name in view.pools]
    return [name for name in known if view.pools[name].capacity == "on-demand"]


def _asked(view: View, pool: Pool, at: float, until: float) -> float | None:
    """Return the seconds from the first need in a span to the first request of a spot node that
    came; None without one."""
    nodes = [node for node in view.of_pool(pool.name) if at <= node.requested < until]
    came = [node for node in nodes if node.registered is not None]
    if not came:
        return None
    node = min(came, key=lambda node: node.requested)
    created = [pod.created for pod in view.on_node(node.name) if pod.created <= node.requested]
    return node.requested - max(at, min(created, default=node.requested))


def _returns(view: View) -> list[tuple[Pool, float, float]]:
    """List the returns of spot capacity: the pool, the moment, and the end of the capacity."""
    returns = []
    for pool in view.spot_pools:
        zones = view.places(pool.machine, pool.zones)
        if not zones:
            continue
        gone, came = False, None
        for at in view.steps_at:
            there = any(view.capacity(pool.machine, zone, at) != 0 for zone in zones)
            if there and gone:
                came = at
            elif not there and came is not None:
                returns.append((pool, came, at))
                came = None
            gone = not there
        if came is not None:
            returns.append((pool, came, view.end))
    return returns


def moves(view: View) -> Verdict:
    """Judge whether pods moved more than once an hour; evictions and upgrades are no moves."""
    name, bound = "Moves of running pods", "once an hour a pod at most"
    moved: dict[str, list[float]] = defaultdict(list)
    for pod in view.record.pods:
        node = view.nodes.get(pod.node or "")
        upgraded = node is not None and node.why == "upgraded"
        if pod.how == "drained" and pod.ended is not None and not upgraded:
            moved[pod.work].append(pod.ended)
    if not moved:
        why = "No pod left its node but by its own end, an eviction or an upgrade."
        return Verdict(name, True, "none", bound, why)
    moments = {work: pairwise(sorted(times)) for work, times in moved.items()}
    often = [work for work, pairs in moments.items() if any(b - a < HOUR for a, b in pairs)]
    total = sum(map(len, moved.values()))
    measured = f"{total:,} of {counted(len(moved), 'piece')} of work"
    why = "Drained by a scale-down or a remedy, and started again elsewhere."
    if often:
        why = f"More often: {first(often)}."
    return Verdict(name, not often, measured, bound, why)
