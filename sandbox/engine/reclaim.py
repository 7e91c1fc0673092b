"""Spot machines of a running stack: how many the emulated clouds give, and machines that they take back."""

import os
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import lock_stack, share_cloud
from sandbox.base.notices import Notify
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.ids import parent
from sandbox.cloud.spot_nodes import Bound, SpotFacts
from sandbox.cluster import clusters
from sandbox.cluster.clusters import CLOCK_FACTOR
from sandbox.engine import clouds
from sandbox.engine.clouds import Clouds
from sandbox.engine.out_of_band import named_pool

_POLL = 0.5
"""Seconds between two attempts to evict a pod that a disruption budget holds."""


@dataclass(frozen=True)
class Evicted:
    """The machines of one pool that the cloud has taken back."""

    pool: str
    nodes: list[str]
    replaced: Collection[str] = ()
    """Those of which the cloud makes others, under their names."""
    stopped: Collection[str] = ()
    """Those that stay, stopped; all others are deleted."""

    def sentence(self) -> str:
        deleted = [node for node in self.nodes if node not in self.replaced and node not in self.stopped]
        outcomes = {
            "deleted": deleted,
            "stopped, which still count against the quota": self.stopped,
            "made anew under their names": self.replaced,
        }
        parts = [
            f"{len(nodes)} node{'s' * (len(nodes) != 1)} evicted and {what}: {', '.join(nodes)}"
            for what, nodes in outcomes.items()
            if nodes
        ]
        return f"pool {self.pool}: {'; '.join(parts)}"


@dataclass(frozen=True)
class _Notice:
    """A notice to machines of one pool."""

    cloud: EmulatedCloud
    pool_id: str
    nodes: list[str]
    facts: SpotFacts

    @property
    def pool(self) -> str:
        return self.pool_id.rsplit("/", 1)[-1]


def capacity(
    home: Home, machine: str, nodes: int | None, notify: Notify, *, zone: str = "", silent: bool = False
) -> list[Evicted]:
    """Bound the spot machines of a kind that the emulated cloud gives, None for no bound; the machines that it takes back.

    Those beyond the bound are evicted, the last pools' first, the newest of each: how a cloud chooses no source says. Requests
    beyond the bound are refused, or with `silent` accepted and never fulfilled. Raises SandboxError for a machine or zone of no
    spot pool.
    """
    with lock_stack(home), share_cloud(home, notify):
        both = clouds.opened(home, dict, notify)
        cloud = _having(both, machine, zone)
        if nodes is None:
            cloud.lift_capacity(machine, zone)
            surplus: Mapping[str, list[str]] = {}
        else:
            surplus = cloud.set_capacity(Bound(machine, nodes, zone, silent))
        for cluster in {parent(pool.id) for pool in cloud.pools() if pool.size == machine}:
            # Machines that were requested before and for which there is room now.
            cloud.apply_nodes(cluster)
        notices = [_Notice(cloud, pool, names, cloud.spot_of(pool)) for pool, names in surplus.items()]
        return _reclaim(home, notices, notify)


def _having(both: Clouds, machine: str, zone: str) -> EmulatedCloud:
    """Return the cloud whose spot pools have a machine, in a zone where one is named. Raises SandboxError."""
    cloud = next((cloud for cloud in both if cloud.zones_of(machine) is not None), None)
    if cloud is None:
        known = sorted({known for cloud in both for known in cloud.spot_machines()})
        has = f"machines of spot pools: {', '.join(known)}" if known else "the stack has no spot pool"
        raise SandboxError(f"no spot pool has the machine {machine!r}; {has}")
    zones = cloud.zones_of(machine) or set()
    if zone and zone not in zones:
        has = f"zones: {', '.join(sorted(zones))}" if zones else "they name no zones"
        raise SandboxError(f"no spot pool of {machine} is in zone {zone!r}; {has}")
    return cloud


def evict(home: Home, name: str, count: int | None, notify: Notify) -> Evicted:
    """Take machines of a spot pool back, all without `count`, as its cloud does: notice, end of the pods, end of the machines.

    A pool with machines under notice, from a command that was killed, begins with those. Raises SandboxError.
    """
    with lock_stack(home), share_cloud(home, notify):
        both = clouds.opened(home, dict, notify)
        pool = named_pool(both, name)
        spot = sorted(other.pool for other in both.pools() if other.spot)
        if not pool.spot:
            has = f"spot pools: {', '.join(spot)}" if spot else "the stack has no spot pool"
            raise SandboxError(f"pool {pool.pool} is no spot pool: no cloud takes its machines back; {has}")
        cloud = both.holding(pool.id)
        running = cloud.running(pool.id)
        if not running:
            raise SandboxError(f"pool {pool.pool} has no nodes to evict")
        if count is not None and count > len(running):
            raise SandboxError(f"pool {pool.pool} has {len(running)} nodes, not {count}")
        (evicted,) = _reclaim(home, [_Notice(cloud, pool.id, running[:count], cloud.spot_of(pool.id))], notify)
    return evicted


def _reclaim(home: Home, notices: list[_Notice], notify: Notify) -> list[Evicted]:
    """Give notice, let pods end, and take the machines. Whatever a killed command leaves is taken by the next `up`."""
    if not notices:
        return []
    factor, began = float(os.environ.get(CLOCK_FACTOR) or 1), time.monotonic()
    for notice in notices:
        after = timedelta(seconds=notice.facts.notice / factor)
        deadline = _stamp(after)
        notice.cloud.mark(notice.pool_id, notice.nodes, "noticed", deadline)
        notify(f"pool {notice.pool}: notice to {', '.join(notice.nodes)}, gone in {after.total_seconds():g} s")
    with ThreadPoolExecutor() as at_once:
        list(at_once.map(lambda notice: _end_pods(home, notice, began, factor), notices))
    return [_taken(notice, began, factor) for notice in notices]


def _end_pods(home: Home, notice: _Notice, began: float, factor: float) -> None:
    """End the pods on machines under notice, as far as the time allows."""
    # Only here: most commands never ask the API server.
    from sandbox.cluster import eviction
    from sandbox.kubernetes import node_objects

    plane = clusters.of_cluster(home.clusters, parent(notice.pool_id))
    if plane is None:
        return
    facts, end = notice.facts, began + notice.facts.notice / factor
    with node_objects.opened(plane.admin_kubeconfig) as client:
        eviction.report(client, notice.nodes, facts, _stamp(timedelta(seconds=end - time.monotonic())))
        if not facts.drained:
            return
        _wait(began + facts.reaction / factor)
        pods = eviction.pods_of(client, notice.nodes)
        if facts.pods == "failed":
            eviction.shut_down(client, [pod for pod in pods if not eviction.critical(pod)], facts)
            if late := [pod for pod in pods if eviction.critical(pod)]:
                _wait(began + (facts.reaction + facts.grace) / factor)
                eviction.shut_down(client, late, facts)
            return
        while (pods := eviction.drain(client, pods, facts)) and time.monotonic() < end - _POLL:
            time.sleep(_POLL)


def _taken(notice: _Notice, began: float, factor: float) -> Evicted:
    _wait(began + notice.facts.notice / factor)
    replaced = notice.cloud.take(notice.pool_id, notice.nodes)
    stopped = [node for node in notice.cloud.stopped(notice.pool_id) if node in notice.nodes]
    return Evicted(notice.pool, notice.nodes, replaced, stopped)


def _stamp(after: timedelta) -> str:
    """Return a time as the clouds write it."""
    return (datetime.now(UTC) + after).strftime("%a, %d %b %Y %H:%M:%S GMT")


def _wait(until: float) -> None:
    time.sleep(max(0.0, until - time.monotonic()))
