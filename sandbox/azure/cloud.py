"""The emulated Azure: what PUT, GET and DELETE do to its memory, and what follows for clusters and their nodes.

Records of a cluster carry `provisioningState`: `Creating` and `Deleting` survive a kill, and `reconcile` finishes what was
begun. Deliberately knows nothing of Pulumi beyond the refusals it raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from sandbox.azure import errors, ids
from sandbox.azure.clusters import ClusterRuntime
from sandbox.azure.machines import machines
from sandbox.azure.nodes import node
from sandbox.azure.resources.cluster import finished
from sandbox.azure.resources.cluster_path import CLUSTER, POOL, pools_of
from sandbox.azure.resources.table import kind_of
from sandbox.azure.state import Body, Record, Resources, Store
from sandbox.provider import InitFailed, Refused


class ScaleRefused(ValueError):
    """A pool cannot take the size asked for, or there is no such pool."""


@dataclass(frozen=True)
class PoolStatus:
    """One pool as a status display shows it; `least` and `most` are None without autoscaling."""

    cluster: str
    pool: str
    count: int
    least: int | None
    most: int | None
    size: str
    priority: str


class AzureCloud:
    """One emulated subscription, kept in a state file, with its clusters run by `runtime`."""

    def __init__(self, state_file: Path, runtime: ClusterRuntime) -> None:
        self._store = Store(state_file)
        self._nodes_lock = state_file.with_name(state_file.name + ".nodes.lock")
        self._runtime = runtime

    def get(self, id: str) -> Body | None:
        """The body GET returns; None for a 404."""
        resources = self._store.read()
        record = resources.get(id)
        return kind_of(record.token).view(resources, record) if record else None

    def put(self, token: str, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        """Create or change a resource: its id as the service spells it, and its body.

        Raises `Refused` when nothing was changed, and `InitFailed` when a cluster or its nodes did not come up.
        """
        kind = kind_of(token)
        with self._store.change() as resources:
            record = resources.get(id)
            if create and record is not None:
                # pulumi-azure-native sends a GET first.
                raise Refused(f"cannot create already existing resource '{id}'")
            id = record.id if record else id
            body = kind.put(resources, id, wanted, record.body if record else None)
            resources.put(Record(token, id, body))
        if token == CLUSTER:
            self._bring_up(id)
        elif token == POOL:
            self._settle_nodes(id)
        found = self.get(id)
        if found is None:
            raise Refused(f"{id} was deleted while it was being written")
        return id, found

    def delete(self, id: str) -> None:
        """Delete a resource and all that is in it; one that is gone already is no error. Raises `Refused`."""
        with self._store.change() as resources:
            record = resources.get(id)
            if record is None:
                return
            kind_of(record.token).check_delete(resources, id)
            clusters = [r for r in resources.of(CLUSTER) if _within(r.id, id)]
            for cluster in clusters:
                cluster.body["provisioningState"] = "Deleting"
        for cluster in clusters:
            self._runtime.stop(ids.key(cluster.id))
        with self._store.change() as resources:
            resources.remove(id)
        if record.token == POOL:
            self._apply_nodes(ids.parent(id))

    def reconcile(self) -> None:
        """Finish what a killed process began; call it when no other command works on the same state.

        A cluster whose creation did not finish is taken back, as its creator never learnt of it.
        """
        for cluster in self._store.read().of(CLUSTER):
            if cluster.body["provisioningState"] in ("Creating", "Deleting"):
                self._runtime.stop(ids.key(cluster.id))
                with self._store.change() as resources:
                    resources.remove(cluster.id)
            else:
                self._bring_up(cluster.id)

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

    def scale(self, cluster_name: str, pool: str, count: int) -> None:
        """Change a pool's size behind Pulumi's back, as the autoscaler does, within its bounds.

        Raises ScaleRefused.
        """
        with self._store.change() as resources:
            cluster = self._cluster_named(resources, cluster_name)
            record = resources.get(f"{cluster.id}/agentPools/{pool}")
            if record is None:
                names = ", ".join(p.body["name"] for p in pools_of(resources, cluster.id))
                raise ScaleRefused(f"cluster {cluster_name} has no pool {pool}; it has {names}")
            if not record.body["enableAutoScaling"]:
                raise ScaleRefused(f"pool {pool} is not autoscaled: its size is {record.body['count']}")
            least, most = record.body["minCount"], record.body["maxCount"]
            if not least <= count <= most:
                raise ScaleRefused(f"pool {pool} takes {least} to {most} nodes, not {count}")
            record.body["count"] = count
        self._apply_nodes(cluster.id)

    @staticmethod
    def _cluster_named(resources: Resources, name: str) -> Record:
        found = [c for c in resources.of(CLUSTER) if ids.last(c.id) == name]
        if len(found) != 1:
            raise ScaleRefused(f"there {'is no' if not found else 'is more than one'} cluster {name}")
        return found[0]

    def _bring_up(self, id: str) -> None:
        cluster = self._store.read().records[ids.key(id)]
        try:
            self._runtime.start(
                ids.key(id),
                ids.last(id),
                cluster.body["currentKubernetesVersion"],
                cluster.body["networkProfile"]["serviceCidr"],
            )
            self._apply_nodes(id)
        except Exception as error:
            self._failed(id, error)
        with self._store.change() as resources:
            record = resources.get(id)
            if record is not None:
                record.body = finished(record.id, record.body)

    def _settle_nodes(self, pool_id: str) -> None:
        try:
            self._apply_nodes(ids.parent(pool_id))
        except Exception as error:
            self._failed(pool_id, error)

    def _failed(self, id: str, error: Exception) -> None:
        # The PUT was accepted, so the resource stays, in a failed state.
        with self._store.change() as resources:
            record = resources.get(id)
            if record is not None:
                record.body["provisioningState"] = "Failed"
        raise InitFailed(id, self.get(id) or {}, [f'Code="InternalServerError" Message="{error}"']) from error

    def _apply_nodes(self, cluster_id: str) -> None:
        # Read under the lock, or of two pools written at once the older picture could be applied last.
        with FileLock(self._nodes_lock, poll_interval=0.01):
            resources = self._store.read()
            cluster = resources.get(cluster_id)
            if cluster is None:
                return
            body = finished(cluster.id, cluster.body)
            self._runtime.apply_nodes(
                ids.key(cluster_id),
                [
                    node(cluster.id, body, pool.body, machines()[pool.body["vmSize"]], index)
                    for pool in pools_of(resources, cluster_id)
                    for index in range(pool.body["count"])
                ],
            )


def _within(id: str, other: str) -> bool:
    return ids.key(id) == ids.key(other) or ids.key(id).startswith(ids.key(other) + "/")
