"""The emulated Azure: what PUT, GET and DELETE do to its memory, and what follows for clusters and their nodes.

A cluster or pool that is worked on is marked by its `provisioningState` (see `operations`). The mark survives a kill, and
`reconcile` finishes what was begun. Deliberately knows nothing of Pulumi beyond the refusals it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock

from sandbox.azure import allocation, errors, ids, operations, scale_sets, schema
from sandbox.azure.allocation import Shortage
from sandbox.azure.clusters import ClusterRuntime
from sandbox.azure.machines import machines
from sandbox.azure.node_groups import fleet, shown
from sandbox.azure.nodes import node, node_name
from sandbox.azure.quotas import UNLIMITED, Quotas
from sandbox.azure.resources import deployment
from sandbox.azure.resources.cluster import finished
from sandbox.azure.resources.cluster_path import CLUSTER, POOL, pools_of
from sandbox.azure.resources.deployment import DEPLOYMENT
from sandbox.azure.resources.resource_type import AzureType
from sandbox.azure.resources.table import TYPES
from sandbox.azure.throttle import Throttle
from sandbox.cloud.node_groups import Fleet, PoolStatus, ScaleRefused
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cloud.state import Body, Record, Resources, Store


class AzureCloud:
    """One emulated subscription, kept in a state file, with its clusters run by `runtime`.

    `quotas` are its limits of machines. `throttle` may make a PUT wait.
    """

    def __init__(
        self,
        state_file: Path,
        runtime: ClusterRuntime,
        quotas: Quotas = UNLIMITED,
        throttle: Throttle | None = None,
    ) -> None:
        self._store = Store(state_file)
        self._nodes_lock = state_file.with_name(state_file.name + ".nodes.lock")
        self._runtime, self._quotas, self._throttle = runtime, quotas, throttle or Throttle()

    def get(self, id: str) -> Body | None:
        """The body GET returns; None for a 404."""
        resources = self._store.read()
        record = resources.get(id)
        return TYPES[record.token].view(resources, record) if record else None

    def put(self, token: str, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        """Create or change a resource: its id as the service spells it, and its body.

        Raises `Refused` when nothing was changed, and `InitFailed` when a cluster or its nodes did not come up.
        """
        kind = TYPES[token]
        if token == DEPLOYMENT:
            return self._deploy(kind, id, wanted, create=create)
        worked_on = token in (CLUSTER, POOL)
        if worked_on:
            self._throttle.admit(id)
        short: list[Shortage] = []
        with self._change() as resources:
            record = resources.get(id)
            _require_new(record, id, create)
            id = record.id if record else id
            if worked_on and (refused := operations.conflict(resources, token, id)):
                raise refused
            before = allocation.nodes_now(resources)
            body = kind.put(resources, id, wanted, record.body if record else None)
            if token == POOL and record is None and (refused := operations.network_conflict(resources, id, body)):
                raise refused
            made = Record(token, id, body)
            resources.put(made)
            if worked_on:
                if refused := allocation.quota_at_the_door(resources, before, self._quotas):
                    raise refused
                short = allocation.shortages(resources, before, self._quotas)
                operations.begin(made, "Updating" if record else "Creating")
        if worked_on:
            self._operate(made, short)
        found = self.get(id)
        if found is None:
            raise operations.preempted()
        return id, found

    def _deploy(self, kind: AzureType, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        """A template's resources, one after the other; the deployment stays with its state, whatever comes of them."""
        with self._change() as resources:
            record = resources.get(id)
            _require_new(record, id, create)
            if record and record.body["properties"]["provisioningState"] == "Running":
                raise deployment.active(id)
            made = Record(
                kind.token,
                record.id if record else id,
                kind.put(resources, id, wanted, record.body if record else None),
            )
            resources.put(made)
        try:
            for pool, body in deployment.requests(id, wanted):
                self.put(POOL, pool, body, create=self.get(pool) is None)
            self._deployed(made.id, "Succeeded")
        except (Refused, InitFailed) as refused:
            self._deployed(made.id, "Failed")
            reasons = refused.reasons if isinstance(refused, InitFailed) else [str(refused)]
            raise InitFailed(made.id, self.get(made.id) or {}, [deployment.failed(one) for one in reasons]) from refused
        return made.id, self.get(made.id) or {}

    def _deployed(self, id: str, state: str) -> None:
        with self._change() as resources:
            resources.records[ids.key(id)].body["properties"]["provisioningState"] = state

    def delete(self, id: str) -> None:
        """Delete a resource and all that is in it; one that is gone already is no error. Raises `Refused`."""
        with self._change() as resources:
            record = resources.get(id)
            if record is None:
                return
            if record.token == POOL and (refused := operations.conflict(resources, POOL, id)):
                raise refused
            TYPES[record.token].check_delete(resources, id)
            # Deleting a cluster does not wait for what runs on it (see `operations.preempted`).
            clusters = [r for r in resources.of(CLUSTER) if _within(r.id, id)]
            for going in (*clusters, *([record] if record.token == POOL else [])):
                operations.begin(going, "Deleting")
        for cluster in clusters:
            self._ending(cluster, partial(self._runtime.stop, ids.key(cluster.id)))
        if record.token == POOL:
            self._ending(record, partial(self.apply_nodes, ids.parent(record.id)))
        with self._change() as resources:
            resources.remove(id)

    def reconcile(self) -> None:
        """Finish what a killed process began; call it when no other command works on the same state.

        A cluster whose creation did not finish is taken back, as its creator never learnt of it.
        """
        with self._change() as resources:
            for record in resources.of(DEPLOYMENT):
                if record.body["properties"]["provisioningState"] == "Running":
                    record.body["properties"]["provisioningState"] = "Failed"
            for pool in resources.of(POOL):
                if pool.body["provisioningState"] == "Deleting":
                    resources.remove(pool.id)
                elif operations.running(pool):
                    operations.end(pool)
        for cluster in self._store.read().of(CLUSTER):
            if cluster.body["provisioningState"] in ("Creating", "Deleting"):
                self._runtime.stop(ids.key(cluster.id))
                with self._change() as resources:
                    resources.remove(cluster.id)
            else:
                self._operate(cluster, [])

    def user_kubeconfig(self, id: str) -> str:
        """A kubeconfig for a cluster. Raises `Refused` (ARM's 404) when there is none."""
        if self._store.read().get(id) is None:
            raise errors.resource_not_found(id)
        return self._runtime.user_kubeconfig(ids.key(id))

    def pools(self) -> list[PoolStatus]:
        """Every pool of every cluster."""
        resources = self._store.read()
        return [
            PoolStatus(
                id=pool.id,
                cluster=ids.last(cluster.id),
                pool=pool.body["name"],
                count=pool.body["count"],
                least=pool.body.get("minCount"),
                most=pool.body.get("maxCount"),
                size=pool.body["vmSize"],
                priority=pool.body.get("scaleSetPriority", "Regular"),
            )
            for cluster in resources.of(CLUSTER)
            for pool in pools_of(resources, cluster.id)
        ]

    def fleet(self, cluster_id: str) -> Fleet:
        """A cluster's pools as its autoscaler sees them; none when there is no such cluster."""
        resources = self._store.read()
        cluster = resources.get(cluster_id)
        return fleet(resources, cluster) if cluster else Fleet()

    def settable(self, id: str) -> Collection[str]:
        """The properties that a PUT may say."""
        return schema.inputs_of(self._store.read().records[ids.key(id)].token).shapes

    def edit(self, id: str, before: Body, after: Body) -> None:
        """PUT what differs, and a pool's count as it was read. What is no longer there keeps its value (`merged`)."""
        token = self._store.read().records[ids.key(id)].token
        changed = {name: value for name, value in after.items() if value is not None and value != before.get(name)}
        self.put(token, id, ({"count": before["count"]} if token == POOL else {}) | changed, create=False)

    def scale(self, cluster_name: str, pool: str, count: int, *, force: bool = False) -> None:
        """Change a pool's size behind Pulumi's back, as the autoscaler does, within its bounds.

        A cluster is named, or has this id. By `force` whatever its bounds are: as somebody does at the scale set, of which AKS
        learns (a reading; the page support-policies calls that unsupported). Raises ScaleRefused.
        """
        with self._change() as resources:
            cluster = self._cluster_named(resources, cluster_name)
            record = resources.get(f"{cluster.id}/agentPools/{pool}")
            if record is None:
                names = ", ".join(p.body["name"] for p in pools_of(resources, cluster.id))
                raise ScaleRefused(f"cluster {cluster_name} has no pool {pool}; it has {names}")
            self._resize(resources, record, count, force=force)
        self.apply_nodes(cluster.id)

    def grow(self, pool_id: str, by: int) -> None:
        """Add so many nodes to an autoscaled pool, whatever its size is by now. Raises ScaleRefused."""
        with self._change() as resources:
            record = _autoscaled(resources, pool_id)
            self._resize(resources, record, record.body["count"] + by)
        self.apply_nodes(ids.parent(pool_id))

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Take these nodes, by name, out of an autoscaled pool. Raises ScaleRefused."""
        with self._change() as resources:
            record = _autoscaled(resources, pool_id)
            cluster_id, pool = ids.parent(record.id), record.body["name"]
            going = [n for n in scale_sets.instances(resources, record) if node_name(cluster_id, pool, n) in nodes]
            least = record.body["minCount"]
            if record.body["count"] - len(going) < least:
                raise ScaleRefused(f"pool {pool} keeps {least} nodes")
            scale_sets.remove(resources, record, going)
        self.apply_nodes(cluster_id)

    def _resize(self, resources: Resources, record: Record, count: int, *, force: bool = False) -> None:
        pool = record.body["name"]
        _require_autoscaling(record)
        least, most = record.body["minCount"], record.body["maxCount"]
        if not (force or least <= count <= most):
            raise ScaleRefused(f"pool {pool} takes {least} to {most} nodes, not {count}")
        before = allocation.nodes_now(resources)
        record.body["count"] = count
        if refusal := allocation.autoscaler_refusal(resources, before, self._quotas):
            raise ScaleRefused(f"pool {pool} stays at {before[ids.key(record.id)]} nodes: {refusal}")

    @contextmanager
    def _change(self) -> Iterator[Resources]:
        with self._store.change() as resources:
            yield resources
            scale_sets.settle(resources)

    @staticmethod
    def _cluster_named(resources: Resources, name: str) -> Record:
        found = [c for c in resources.of(CLUSTER) if name == ids.last(c.id) or ids.key(name) == ids.key(c.id)]
        if len(found) != 1:
            raise ScaleRefused(f"there {'is no' if not found else 'is more than one'} cluster {name}")
        return found[0]

    def _operate(self, record: Record, short: list[Shortage]) -> None:
        """What an accepted request still has to do. Raises `InitFailed`: the resource stays, whatever comes of it."""
        cause = None
        failure = errors.operation_failed((s.code, s.message) for s in short) if short else ""
        try:
            if record.token == CLUSTER:
                self._runtime.start(
                    ids.key(record.id),
                    ids.last(record.id),
                    record.body["currentKubernetesVersion"],
                    record.body["networkProfile"]["serviceCidr"],
                )
            self.apply_nodes(record.id if record.token == CLUSTER else ids.parent(record.id))
        except Exception as error:
            cause, failure = error, f'Code="InternalServerError" Message="{error}"'
        with self._change() as resources:
            found = resources.get(record.id)
            if found is None or found.body["provisioningState"] == "Deleting":
                raise operations.preempted() from cause
            if record.token == CLUSTER and cause is None:
                found.body = finished(found.id, found.body)
            operations.end(found, failed=bool(failure))
            for one in short:
                operations.end(resources.records[ids.key(one.pool.id)], failed=True)
        if failure:
            raise InitFailed(record.id, self.get(record.id) or {}, [failure]) from cause

    def _ending(self, record: Record, end: Callable[[], None]) -> None:
        """End what runs of a cluster or pool that is deleted. Raises `Refused` when that fails: it can be deleted again."""
        try:
            end()
        except Exception as error:
            with self._change() as resources:
                if found := resources.get(record.id):
                    operations.end(found, failed=True)
            raise Refused(f'Code="InternalServerError" Message="{error}"') from error

    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools; nothing when it is gone."""
        # Read under the lock, or of two pools written at once the older picture could be applied last.
        with FileLock(self._nodes_lock, poll_interval=0.01):
            resources = self._store.read()
            cluster = resources.get(cluster_id)
            if cluster is None:
                return
            body = shown(cluster)
            self._runtime.apply_nodes(
                ids.key(cluster_id),
                [
                    node(cluster.id, body, pool.body, machines()[pool.body["vmSize"]], number)
                    for pool in pools_of(resources, cluster_id)
                    if pool.body["provisioningState"] != "Deleting"
                    for number in scale_sets.instances(resources, pool)
                ],
            )


def _require_new(record: Record | None, id: str, create: bool) -> None:
    if create and record is not None:
        # pulumi-azure-native sends a GET first.
        raise Refused(f"cannot create already existing resource '{id}'")


def _autoscaled(resources: Resources, pool_id: str) -> Record:
    """A pool that is there and has bounds. Raises ScaleRefused."""
    record = resources.get(pool_id)
    if record is None or record.body["provisioningState"] == "Deleting":
        raise ScaleRefused(f"there is no pool {ids.last(pool_id)}")
    _require_autoscaling(record)
    return record


def _require_autoscaling(pool: Record) -> None:
    if not pool.body["enableAutoScaling"]:
        raise ScaleRefused(f"pool {pool.body['name']} is not autoscaled: its size is {pool.body['count']}")


def _within(id: str, other: str) -> bool:
    return ids.key(id) == ids.key(other) or ids.key(id).startswith(ids.key(other) + "/")
