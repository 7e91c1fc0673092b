"""An emulated cloud: its memory, and the consequences of requests for clusters and their nodes.

A cluster or pool that is worked on is marked (see `operations`). The mark survives a kill, and `reconcile` finishes what was
begun. Deliberately knows nothing of Pulumi beyond the refusals it raises. What a request itself changes is one cloud's own.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from sandbox.cloud import ids
from sandbox.cloud.cluster_runtime import ClusterRuntime
from sandbox.cloud.node_groups import NodeGroups, PoolStatus, ScaleRefused
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cloud.resource_type import Types
from sandbox.cloud.schema import Stored
from sandbox.cloud.spot_market import SpotMarket
from sandbox.cloud.state import Body, Record, Resources, States, Store


class EmulatedCloud(SpotMarket):
    """One account of a cloud, kept in a state file, with its clusters run by `runtime`. Ids are the cloud's own."""

    cluster: str
    """The token of clusters."""
    pool: str
    """The token of node pools, whose ids are a cluster's with `folder` and a name."""
    folder: str
    types: Types[Any]
    schema: Stored
    states: States

    def __init__(self, state_file: Path, runtime: ClusterRuntime) -> None:
        self._store = Store(state_file)
        self._nodes_lock = state_file.with_name(state_file.name + ".nodes.lock")
        self._runtime = runtime

    @abstractmethod
    def edit(self, id: str, before: Body, after: Body) -> None:
        """Change what differs, as a client does that has read a resource. Raises `Refused` and `InitFailed`."""

    @abstractmethod
    def _start(self, cluster: Record) -> Callable[[Record], None]:
        """Start a cluster; returns the change of its record once it is up."""

    @abstractmethod
    def _gone(self, id: str) -> Refused:
        """Return the end of an operation whose resource was deleted meanwhile: deleting does not wait."""

    @abstractmethod
    def _not_deleted(self, id: str, error: Exception) -> Refused:
        """Return the refusal of a deletion that was accepted and failed."""

    @abstractmethod
    def _not_made(self, record: Record, error: Exception) -> str:
        """Return the reason of an operation that was accepted and failed."""

    @abstractmethod
    def _usage(self, resources: Resources) -> Any:
        """Return the usage of the quotas by all pools."""

    @abstractmethod
    def _beyond_quota(self, resources: Resources, before: Any) -> str:
        """Return the answer to the autoscaler's request beyond a quota, by the usage before; empty for none."""

    def _busy(self, resources: Resources, record: Record) -> Refused | None:
        """Return the refusal of a deletion while another operation runs; None where the cloud takes it."""
        return None

    def _interrupted(self, resources: Resources) -> None:
        """Mark requests that a killed process did not finish; most clouds have none but those of clusters and pools."""

    def get(self, id: str) -> Body | None:
        """Return the body GET returns, in the provider's form; None for a 404."""
        resources = self._store.read()
        record = resources.get(id)
        body: Body | None = self.types[record.token].view(resources, record) if record else None
        return body

    def settable(self, id: str) -> Collection[str]:
        """Return the properties of this resource that a request may set. Raises KeyError for no resource."""
        return self.schema.inputs_of(self.token(id)).shapes

    def token(self, id: str) -> str:
        """Return the type of a resource. Raises KeyError for no resource."""
        return self._store.read().records[ids.key(id)].token

    def delete(self, id: str) -> None:
        """Delete a resource and all that is in it; a missing one is no error. Raises `Refused`."""
        with self._change() as resources:
            record = resources.get(id)
            if record is None:
                return
            if refused := self._busy(resources, record):
                raise refused
            self.types[record.token].check_delete(resources, id)
            # Deleting a cluster does not wait for what runs on it.
            ending = [c for c in resources.of_type(self.cluster) if (ids.key(c.id) + "/").startswith(ids.key(id) + "/")]
            ending += [record] if record.token == self.pool else []
            for removed in ending:
                self.states.begin(removed, self.states.deleting)
            if not ending:
                self._remove(resources, record)
                return
        for removed in ending:
            if removed.token == self.cluster:
                self._end(removed, partial(self._runtime.stop, ids.key(removed.id)))
            else:
                self._end(removed, partial(self.apply_nodes, ids.parent(removed.id)))
        with self._change() as resources:
            self._remove(resources, record)

    def _remove(self, resources: Resources, record: Record) -> None:
        self.types[record.token].removed(resources, record)
        resources.remove(record.id)

    def _end(self, record: Record, end: Callable[[], None]) -> None:
        """End a cluster or pool that is deleted. Raises `Refused` when that fails: it can be deleted again."""
        try:
            end()
        except Exception as error:
            with self._change() as resources:
                if remaining := resources.get(record.id):
                    self.states.end(remaining, failed=True)
            raise self._not_deleted(record.id, error) from error

    def reconcile(self) -> None:
        """Finish what a killed process began; call it when no other command works on the same state. Raises `InitFailed`.

        A cluster whose creation did not finish is deleted, as its creator never learnt of it.
        """
        with self._change() as resources:
            self._interrupted(resources)
            self._finish_evictions(resources)
            for pool in resources.of_type(self.pool):
                if self.states.ending(pool):
                    resources.remove(pool.id)
                elif self.states.retried or self.states.running(pool):
                    self.states.end(pool)
        for cluster in self._store.read().of_type(self.cluster):
            if self.states.mark_of(cluster) in (self.states.creating, self.states.deleting):
                self._runtime.stop(ids.key(cluster.id))
                with self._change() as resources:
                    resources.remove(cluster.id)
            else:
                self._operate(cluster)

    def _operate(self, record: Record, failure: str = "", failed: Sequence[Record] = ()) -> Body:
        """Do the rest of an accepted request for a cluster or pool; the body then.

        `failure` is known beforehand, as the `failed` pools do not get their nodes. Raises `InitFailed`: the resource stays,
        whatever comes of it.
        """
        cause, finish, of_cluster = None, None, record.token == self.cluster
        try:
            if of_cluster:
                finish = self._start(record)
            self.apply_nodes(record.id if of_cluster else ids.parent(record.id))
        except Exception as error:
            cause, failure = error, self._not_made(record, error)
        with self._change() as resources:
            current = resources.get(record.id)
            if current is None or self.states.ending(current):
                raise self._gone(record.id) from cause
            if finish:
                finish(current)
            self.states.end(current, failed=bool(failure))
            for pool in failed:
                self.states.end(resources.records[ids.key(pool.id)], failed=True)
        now = self.get(record.id)
        if failure:
            raise InitFailed(record.id, now or {}, [failure]) from cause
        if now is None:
            raise self._gone(record.id)
        return now

    def pools(self) -> list[PoolStatus]:
        """Return every pool of every cluster."""
        resources = self._store.read()
        return [
            self._status(resources, cluster, pool)
            for cluster in resources.of_type(self.cluster)
            for pool in self._pools(resources, below=cluster.id)
        ]

    def _status(self, resources: Resources, cluster: Record, pool: Record) -> PoolStatus:
        bounds, (machine, priority) = self.machines.bounds(pool.body), self.view.capacity(pool.body)
        return PoolStatus(
            id=pool.id,
            cluster=ids.last(cluster.id),
            pool=ids.last(pool.id),
            count=self.machines.size(resources, pool),
            least=bounds.least if bounds else None,
            most=bounds.most if bounds else None,
            size=machine,
            priority=priority,
        )

    def node_groups(self, cluster_id: str) -> NodeGroups:
        """Return a cluster's pools as its autoscaler sees them; none for a missing cluster."""
        resources = self._store.read()
        cluster = resources.get(cluster_id)
        if cluster is None:
            return NodeGroups()
        groups = [self.view.group(resources, cluster, pool) for pool in self._standing(resources, cluster)]
        return NodeGroups(groups, self.view.profile(cluster))

    def _standing(self, resources: Resources, cluster: Record) -> list[Record]:
        """Return a cluster's pools without those that are being deleted, which have no nodes any more."""
        return [pool for pool in self._pools(resources, below=cluster.id) if not self.states.ending(pool)]

    def scale(self, cluster_name: str, pool: str, count: int, *, force: bool = False) -> None:
        """Change a pool's size behind Pulumi's back: within its bounds, as the autoscaler does, or by `force`.

        `cluster_name` is a cluster's name or id. By `force` the bounds do not count, as for a user at the machines' own group
        (a reading for Azure: the page support-policies calls that unsupported). Raises ScaleRefused.
        """
        with self._change() as resources:
            cluster_key = ids.key(cluster_name)
            named = [
                c for c in resources.of_type(self.cluster) if cluster_key in (ids.last(ids.key(c.id)), ids.key(c.id))
            ]
            if len(named) != 1:
                raise ScaleRefused(f"there is {'more than one' if named else 'no'} cluster {cluster_name}")
            cluster = named[0]
            if resources.get(f"{cluster.id}/{self.folder}/{pool}") is None:
                names = ", ".join(ids.last(other.id) for other in resources.of_type(self.pool, below=cluster.id))
                raise ScaleRefused(f"cluster {cluster_name} has no pool {pool}; it has {names}")
            record = self._autoscaled(resources, f"{cluster.id}/{self.folder}/{pool}")
            short = self._resize(resources, record, count, force=force)
        self.apply_nodes(cluster.id)
        if short:
            raise ScaleRefused(short)

    def grow(self, pool_id: str, by: int) -> None:
        """Add so many nodes to an autoscaled pool, whatever its size is by now. Raises ScaleRefused, also where only some come."""
        with self._change() as resources:
            record = self._autoscaled(resources, pool_id)
            short = self._resize(resources, record, self.machines.size(resources, record) + by)
        self.apply_nodes(ids.parent(pool_id))
        if short:
            raise ScaleRefused(short)

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Remove these nodes, by name, from an autoscaled pool. Raises ScaleRefused."""
        with self._change() as resources:
            self.machines.remove(resources, self._autoscaled(resources, pool_id), nodes)
        self.apply_nodes(ids.parent(pool_id))

    def _autoscaled(self, resources: Resources, pool_id: str) -> Record:
        """Return an existing pool with bounds. Raises ScaleRefused."""
        record = resources.get(pool_id)
        if record is None or self.states.ending(record):
            raise ScaleRefused(f"there is no pool {ids.last(pool_id)}")
        if self.machines.bounds(record.body) is None:
            size = self.machines.size(resources, record)
            raise ScaleRefused(f"pool {ids.last(pool_id)} is not autoscaled: its size is {size}")
        return record

    def _resize(self, resources: Resources, record: Record, count: int, *, force: bool = False) -> str:
        """Change a pool's size; why it gets fewer nodes than asked for, or empty."""
        size, before = self.machines.size(resources, record), self._usage(resources)
        had = self.machines.zones(resources, record)
        self.machines.resize(resources, record, count, force=force)
        short = self._fit(resources, record, had)
        if refusal := self._beyond_quota(resources, before):
            raise ScaleRefused(f"pool {ids.last(record.id)} stays at {size} nodes: {refusal}")
        return short

    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools; nothing when it is gone."""
        # Read under the lock, or of two pools written at once the older picture could be applied last.
        with FileLock(self._nodes_lock, poll_interval=0.01):
            resources = self._store.read()
            cluster = resources.get(cluster_id)
            if cluster is None:
                return
            pools = self._standing(resources, cluster)
            nodes = [node for pool in pools for node in self._joined(resources, cluster, pool)]
            self._runtime.apply_nodes(ids.key(cluster_id), nodes)

    @contextmanager
    def _change(self) -> Iterator[Resources]:
        with self._store.change() as resources:
            yield resources
            self._settle(resources)

    def _read(self) -> Resources:
        return self._store.read()
