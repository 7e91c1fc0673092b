"""The emulated Google Cloud: what its APIs do to its memory, and what follows for clusters and their nodes.

A cluster or pool that is worked on is marked by its `status` (see `operations`). The mark survives a kill, and `reconcile`
finishes what was begun. Deliberately knows nothing of Pulumi beyond the refusals it raises.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from sandbox.cloud.node_groups import Fleet, PoolStatus, ScaleRefused
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cloud.state import Body, Record, Resources, Store, key
from sandbox.gcp import errors, ids, instance_groups, node_groups, operations, plan, quotas, schema
from sandbox.gcp.clusters import ClusterRuntime
from sandbox.gcp.machines import machines
from sandbox.gcp.nodes import node
from sandbox.gcp.quotas import UNLIMITED, Quotas
from sandbox.gcp.resources import cluster as clusters
from sandbox.gcp.resources import pool as pools
from sandbox.gcp.resources import router
from sandbox.gcp.resources.cluster_path import CLUSTER, POOL, pools_of
from sandbox.gcp.resources.nat_rules import NAT
from sandbox.gcp.resources.subnet_rules import SUBNETWORK
from sandbox.gcp.resources.table import TYPES


class GcpCloud:
    """The emulated projects, kept in a state file, with their clusters run by `runtime`.

    `quotas` are the limits of machines of every project.
    """

    def __init__(self, state_file: Path, runtime: ClusterRuntime, quotas: Quotas = UNLIMITED) -> None:
        self._store = Store(state_file)
        self._nodes_lock = state_file.with_name(state_file.name + ".nodes.lock")
        self._runtime, self._quotas = runtime, quotas

    def get(self, id: str) -> Body | None:
        """What GET returns, in the provider's form; None for a 404."""
        resources = self._store.read()
        record = resources.get(id)
        return TYPES[record.token].view(resources, record) if record else None

    def subnetworks(self, network_id: str) -> list[str]:
        """The ids of a network's subnets."""
        return [s.id for s in self._store.read().of(SUBNETWORK) if ids.path(s.body["network"]) == network_id]

    def create(self, token: str, id: str, wanted: Body, *, keep_default_pool: bool = True) -> Body:
        """Make a resource: its body.

        Raises `Refused` when nothing was made, and `InitFailed` when a cluster or its nodes did not come up.
        """
        kind = TYPES[token]
        with self._change() as resources:
            there = resources.get(id)
            if there and not kind.shared:
                raise _exists(token, there)
            before = self._quotas.usage(resources)
            body = kind.create(resources, id, copy.deepcopy(wanted))
            made = Record(token, id, {k: v for k, v in body.items() if k not in kind.virtual})
            resources.put(made)
            if token == CLUSTER:
                resources.put(default := clusters.default_pool(resources, made))
                operations.begin(default, "PROVISIONING")
            if kind.worked_on:
                self._within_quotas(resources, before, id)
                operations.begin(made, "PROVISIONING")
            if token == CLUSTER and not keep_default_pool:
                resources.remove(default.id)
        return self._operated(made)

    def update(self, token: str, id: str, before: Body, planned: Body) -> Body:
        """Change what is planned to differ from before; its body. Raises `Refused` and `InitFailed` as `create` does."""
        kind = TYPES[token]
        with self._change() as resources:
            record = resources.get(id)
            if record is None:
                raise errors.not_found(id)
            used = self._quotas.usage(resources)
            body = kind.update(resources, record, plan.applied(before, planned, record.body))
            status = record.body.get("status")
            made = Record(token, id, {k: v for k, v in body.items() if k not in kind.virtual})
            resources.put(made)
            if token == POOL:
                _set_size(resources, made, record.body)
                instance_groups.renew(resources, made, record.body)
            if kind.worked_on:
                made.body["status"] = status
                self._within_quotas(resources, used, id)
                operations.begin(made, "RECONCILING")
        return self._operated(made)

    def delete(self, id: str) -> None:
        """Delete a resource and all that is in it; one that is gone already is no error. Raises `Refused`."""
        with self._change() as resources:
            record = resources.get(id)
            if record is None:
                return
            kind = TYPES[record.token]
            kind.check_delete(resources, id)
            if kind.worked_on:
                operations.begin(record, "STOPPING")
            else:
                kind.removed(resources, record)
                resources.remove(id)
                return
        try:
            if record.token == CLUSTER:
                self._runtime.stop(record.id)
            else:
                self.apply_nodes(ids.parent(record.id))
        except Exception as error:
            with self._change() as resources:
                if found := resources.get(id):
                    operations.end(found, failed=True)
            raise errors.not_deleted(id, str(error)) from error
        with self._change() as resources:
            resources.remove(id)

    def reconcile(self) -> None:
        """Finish what a killed process began; call it when no other command works on the same state.

        A cluster whose creation did not finish is taken back, as its creator never learnt of it. What failed because of this
        machine is tried again.
        """
        with self._change() as resources:
            for pool in resources.of(POOL):
                if operations.stopping(pool):
                    resources.remove(pool.id)
                else:
                    operations.end(pool)
        for cluster in self._store.read().of(CLUSTER):
            if cluster.body.get("status") in ("PROVISIONING", "STOPPING"):
                self._runtime.stop(cluster.id)
                with self._change() as resources:
                    resources.remove(cluster.id)
            else:
                self._operated(cluster)

    def pools(self) -> list[PoolStatus]:
        """Every pool of every cluster."""
        resources = self._store.read()
        return [
            self._status(resources, cluster, pool)
            for cluster in resources.of(CLUSTER)
            for pool in pools_of(resources, cluster.id)
        ]

    @staticmethod
    def _status(resources: Resources, cluster: Record, pool: Record) -> PoolStatus:
        config, bounds = pool.body["nodeConfig"], instance_groups.bounds(pool.body)
        return PoolStatus(
            id=pool.id,
            cluster=ids.last(cluster.id),
            pool=ids.last(pool.id),
            count=instance_groups.size(resources, pool),
            least=bounds.least if bounds else None,
            most=bounds.most if bounds else None,
            size=config["machineType"],
            priority="Spot" if config["spot"] else "Preemptible" if config["preemptible"] else "Regular",
        )

    def fleet(self, cluster_id: str) -> Fleet:
        """A cluster's pools as its autoscaler sees them; none when there is no such cluster."""
        resources = self._store.read()
        cluster = resources.get(cluster_id)
        return node_groups.fleet(resources, cluster) if cluster else Fleet()

    def settable(self, id: str) -> Collection[str]:
        """The properties that a request may say."""
        return schema.inputs_of(self._store.read().records[key(id)].token).shapes

    def edit(self, id: str, before: Body, after: Body) -> None:
        """Update what differs."""
        planned = {name: value for name, value in after.items() if value is not None}
        self.update(self._store.read().records[key(id)].token, id, before, planned)

    def scale(self, cluster_name: str, pool: str, count: int, *, force: bool = False) -> None:
        """Change a pool's size behind Pulumi's back, as the autoscaler does, within its bounds.

        A cluster is named, or has this id. By `force` whatever its bounds are: as somebody does at the instance group. Raises
        ScaleRefused.
        """
        with self._change() as resources:
            found = [
                c for c in resources.of(CLUSTER) if cluster_name == ids.last(c.id) or key(cluster_name) == key(c.id)
            ]
            if len(found) != 1:
                raise ScaleRefused(f"there {'is no' if not found else 'is more than one'} cluster {cluster_name}")
            record = _autoscaled(resources, f"{found[0].id}/nodePools/{pool}")
            self._resize(resources, record, count, force=force)
        self.apply_nodes(found[0].id)

    def grow(self, pool_id: str, by: int) -> None:
        """Add so many nodes to an autoscaled pool, whatever its size is by now. Raises ScaleRefused."""
        with self._change() as resources:
            record = _autoscaled(resources, pool_id)
            self._resize(resources, record, instance_groups.size(resources, record) + by)
        self.apply_nodes(ids.parent(pool_id))

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Take these nodes, by name, out of an autoscaled pool. Raises ScaleRefused."""
        with self._change() as resources:
            instance_groups.remove(resources, _autoscaled(resources, pool_id), nodes)
        self.apply_nodes(ids.parent(pool_id))

    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools; nothing when it is gone."""
        # Read under the lock, or of two pools written at once the older picture could be applied last.
        with FileLock(self._nodes_lock, poll_interval=0.01):
            resources = self._store.read()
            cluster = resources.get(cluster_id)
            if cluster is None:
                return
            self._runtime.apply_nodes(
                cluster.id,
                [
                    node(pool, machines()[pool.body["nodeConfig"]["machineType"]], one.zone, one.number)
                    for pool in pools_of(resources, cluster.id)
                    if not operations.stopping(pool)
                    for one in instance_groups.instances(resources, pool)
                ],
            )

    def _resize(self, resources: Resources, record: Record, count: int, *, force: bool = False) -> None:
        before, used = instance_groups.size(resources, record), self._quotas.usage(resources)
        instance_groups.resize(resources, record, count, force=force)
        if excesses := self._quotas.exceeded(used, self._quotas.usage(resources)):
            raise ScaleRefused(f"pool {ids.last(record.id)} stays at {before} nodes: {excesses[0].later}")

    def _within_quotas(self, resources: Resources, before: quotas.Usage, id: str) -> None:
        instance_groups.settle(resources)
        if excesses := self._quotas.exceeded(before, self._quotas.usage(resources)):
            raise quotas.refusal(excesses, ids.project_of(id))

    @contextmanager
    def _change(self) -> Iterator[Resources]:
        with self._store.change() as resources:
            yield resources
            instance_groups.settle(resources)

    def _operated(self, record: Record) -> Body:
        """What an accepted request still has to do, and the body then. Raises `InitFailed`: the resource stays."""
        kind, cause, failure = TYPES[record.token], None, ""
        endpoint = None
        if kind.worked_on:
            try:
                if record.token == CLUSTER:
                    body = record.body
                    self._runtime.start(record.id, body["name"], body["masterVersion"], body["servicesIpv4Cidr"])
                    endpoint = self._runtime.endpoint(record.id)
                self.apply_nodes(record.id if record.token == CLUSTER else ids.parent(record.id))
            except Exception as error:
                cause, failure = error, str(error)
            with self._change() as resources:
                found = resources.get(record.id)
                if found is None or operations.stopping(found):
                    # The cluster was deleted meanwhile, which does not wait for what else is worked on.
                    raise errors.not_found(record.id) from cause
                if endpoint:
                    clusters.reachable(found.body, endpoint.address, endpoint.certificate)
                operations.end(found, failed=bool(failure))
                for pool in pools_of(resources, record.id):
                    if pool.body.get("status") == "PROVISIONING" and ids.last(pool.id) == clusters.DEFAULT_POOL:
                        operations.end(pool)
        now = self.get(record.id) or {}
        if failure:
            # What the provider says of a resource in a state of error (terraform-provider-google-beta, services/container).
            title = "NodePool" if record.token == POOL else "Cluster"
            text = f'{title} {ids.last(record.id)} was created in the error state "{operations.FAILED}": {failure}'
            raise InitFailed(record.id, now, [text]) from cause
        return now


def _exists(token: str, there: Record) -> Refused:
    if token == POOL:
        return pools.already_exists(there.id)
    if token == NAT:
        return router.existing_nat(there.body)
    if token == CLUSTER:
        # terraform-google-modules #367
        return errors.GcpRefused(409, f"Already exists: {there.id}.", "alreadyExists")
    if token.endswith(":Account"):
        # https://cloud.google.com/iam/docs, and many logs
        project = ids.project_of(there.id)
        name = ids.last(there.id).partition("@")[0]
        text = f"Service account {name} already exists within project projects/{project}."
        return errors.GcpRefused(409, text, "alreadyExists")
    return errors.exists(there.id)


def _set_size(resources: Resources, pool: Record, before: Body) -> None:
    """Give a pool without autoscaling the size that an update says."""
    count = pool.body.get("nodeCount")
    if not pool.body.get("autoscaling") and count is not None and count != before.get("nodeCount"):
        instance_groups.resize(resources, pool, count * len(pool.body["nodeLocations"]))


def _autoscaled(resources: Resources, pool_id: str) -> Record:
    """A pool that is there and has bounds. Raises ScaleRefused."""
    record = resources.get(pool_id)
    if record is None or operations.stopping(record):
        raise ScaleRefused(f"there is no pool {ids.last(pool_id)}")
    if not record.body.get("autoscaling"):
        size = instance_groups.size(resources, record)
        raise ScaleRefused(f"pool {ids.last(pool_id)} is not autoscaled: its size is {size}")
    return record
