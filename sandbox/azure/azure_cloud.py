"""The emulated Azure: the effect of PUT on its memory, quotas, and what AKS does beyond `EmulatedCloud`."""

from collections.abc import Callable, Collection
from pathlib import Path

from sandbox.azure import allocation, azure_errors, azure_ids, azure_machines, azure_operations, node_provisioning
from sandbox.azure.allocation import Nodes, Shortage
from sandbox.azure.azure_operations import STATES, CredentialWrites, Throttle
from sandbox.azure.azure_quotas import UNLIMITED, Quotas
from sandbox.azure.azure_schema import STORED
from sandbox.azure.node_provisioning import NodeProvisioning
from sandbox.azure.resources import deployment, provisioning_rules
from sandbox.azure.resources.azure_cluster import finished
from sandbox.azure.resources.azure_requests import CLUSTER, POOL, pools_of
from sandbox.azure.resources.azure_table import TYPES
from sandbox.azure.resources.deployment import DEPLOYMENT
from sandbox.azure.scale_sets import SPOT, crossed
from sandbox.cloud.cluster_runtime import ClusterRuntime, Provisioner
from sandbox.cloud.provider import InitFailed, Refused
from sandbox.cloud.state import Body, Record, Resources


class AzureCloud(NodeProvisioning):
    """One emulated subscription. `quotas` are its limits of machines; `throttle` may make a PUT wait."""

    cluster, pool, folder = CLUSTER, POOL, "agentPools"
    types, schema, states = TYPES, STORED, STATES
    machines, view, spot = azure_machines, azure_machines, SPOT

    def __init__(
        self, state_file: Path, runtime: ClusterRuntime, quotas: Quotas = UNLIMITED, throttle: Throttle | None = None
    ) -> None:
        super().__init__(state_file, runtime)
        self._quotas, self._throttle = quotas, throttle or Throttle()
        self._credential_writes = CredentialWrites()

    def put(self, token: str, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        """Create or change a resource: its id as the service spells it, and its body.

        Raises `Refused` when nothing was changed, and `InitFailed` when a cluster or its nodes did not come up.
        """
        if token == DEPLOYMENT:
            return self._deploy(id, wanted, create=create)
        with self._credential_writes.around(id):
            return self._put(token, id, wanted, create=create)

    def _put(self, token: str, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        worked_on = token in (CLUSTER, POOL)
        if worked_on:
            self._throttle.admit(id)
        short: list[Shortage] = []
        with self._change() as resources:
            record = _existing(resources, id, create)
            id = record.id if record else id
            if worked_on and (refused := azure_operations.conflict(resources, token, id)):
                raise refused
            before = self._usage(resources)
            if token == POOL and record and crossed(resources, record, wanted.get("count", 0)):
                wanted = {**wanted, "count": record.body["count"]}
            had = azure_machines.zones(resources, record) if record and token == POOL else {}
            body = TYPES[token].put(resources, id, wanted, record.body if record else None)
            if token == POOL and record is None and (refused := azure_operations.network_conflict(resources, id, body)):
                raise refused
            stored = Record(token, id, body)
            resources.put(stored)
            if worked_on:
                if refused := allocation.quota_at_the_door(resources, before, self._quotas):
                    raise refused
                short = allocation.shortages(resources, before, self._quotas)
                short += self._without_spot(resources, stored, had) if token == POOL else []
                STATES.begin(stored, STATES.updating if record else STATES.creating)
        if worked_on:
            failure = azure_errors.operation_failed((s.code, s.message) for s in short) if short else ""
            return id, self._operate(stored, failure, [shortage.pool for shortage in short])
        return id, self.get(id) or {}

    def _without_spot(self, resources: Resources, pool: Record, had: Collection[str]) -> list[Shortage]:
        """Return the shortage of a pool whose new spot machines Azure does not have; its count goes back to the old one."""
        beyond = self._beyond(resources, pool, had)
        if not beyond or all(bound.silent for _, bound in beyond):
            self._wait_for(resources, pool, had)
            return []
        pool.body["count"] = len(had)
        # Accepted, and failed later (kaito-project/kaito #2075).
        return [Shortage(pool, SPOT.later.code, SPOT.later.words)]

    def _deploy(self, id: str, wanted: Body, *, create: bool) -> tuple[str, Body]:
        """Put a template's resources, one after the other; the deployment stays with its state, whatever comes of them."""
        with self._change() as resources:
            record = _existing(resources, id, create)
            if record and deployment.running(record):
                raise deployment.active(id)
            id = record.id if record else id
            body = TYPES[DEPLOYMENT].put(resources, id, wanted, record.body if record else None)
            resources.put(Record(DEPLOYMENT, id, body))
        try:
            for pool, properties in deployment.requests(id, wanted):
                self.put(POOL, pool, properties, create=self.get(pool) is None)
            self._deployed(id, "Succeeded")
        except (Refused, InitFailed) as refused:
            self._deployed(id, "Failed")
            reasons = refused.reasons if isinstance(refused, InitFailed) else [str(refused)]
            raise InitFailed(id, self.get(id) or {}, [deployment.failed(reason) for reason in reasons]) from refused
        return id, self.get(id) or {}

    def _deployed(self, id: str, state: str) -> None:
        with self._change() as resources:
            deployment.end(resources.records[azure_ids.key(id)], state)

    def delete(self, id: str) -> None:
        with self._credential_writes.around(id):
            super().delete(id)

    def edit(self, id: str, before: Body, after: Body) -> None:
        """PUT what differs, and a pool's count as it was read. A property taken away keeps its value (`merged`)."""
        token = self.token(id)
        changed = {name: value for name, value in after.items() if value is not None and value != before.get(name)}
        self.put(token, id, ({"count": before["count"]} if token == POOL else {}) | changed, create=False)

    def user_kubeconfig(self, id: str) -> str:
        """Return a kubeconfig for a cluster. Raises `Refused` (ARM's 404) for a missing cluster."""
        if self._store.read().get(id) is None:
            raise azure_errors.resource_not_found(id)
        return self._runtime.user_kubeconfig(azure_ids.key(id))

    def _start(self, cluster: Record) -> Callable[[Record], None]:
        body = cluster.body
        self._runtime.start(
            azure_ids.key(cluster.id),
            azure_ids.last(cluster.id),
            body["currentKubernetesVersion"],
            body["networkProfile"]["serviceCidr"],
            self._provisioner(cluster) if provisioning_rules.enabled(body) else None,
        )
        return lambda record: record.body.update(finished(record.id, record.body))

    def provisioner(self, cluster_id: str) -> Provisioner:
        """Return the program that AKS runs for a cluster with node auto-provisioning."""
        return self._provisioner(self._read().records[azure_ids.key(cluster_id)])

    def _provisioner(self, cluster: Record) -> Provisioner:
        """Return the program that AKS runs for node auto-provisioning."""
        pools = pools_of(self._read(), cluster.id)
        subnet = next((pool.body["vnetSubnetID"] for pool in pools if pool.body.get("vnetSubnetID")), "")
        arguments = [
            f"--location={cluster.body['location']}",
            f"--subscription={cluster.id.split('/')[2]}",
            f"--resource-group={azure_ids.group_name(cluster.id)}",
        ]
        return Provisioner("karpenter", arguments, node_provisioning.settings(cluster.id, cluster.body, subnet))

    @property
    def quotas(self) -> Quotas:
        return self._quotas

    def memory(self) -> Resources:
        """Return all resources as of the last change."""
        return self._read()

    def _gone(self, id: str) -> Refused:
        return azure_operations.preempted()

    def _not_deleted(self, id: str, error: Exception) -> Refused:
        return Refused(azure_errors.internal(error))

    def _not_made(self, record: Record, error: Exception) -> str:
        return azure_errors.internal(error)

    def _usage(self, resources: Resources) -> Nodes:
        return allocation.nodes_now(resources)

    def _beyond_quota(self, resources: Resources, before: Nodes) -> str:
        return allocation.autoscaler_refusal(resources, before, self._quotas)

    def _region(self, resources: Resources, pool: Record) -> str:
        return str(resources.records[azure_ids.key(azure_ids.parent(pool.id))].body["location"])

    def _keeps_evicted(self, pool: Body) -> bool:
        return pool.get("scaleSetEvictionPolicy") == "Deallocate"

    def _pool_zones(self, pool: Body) -> list[str]:
        return list(pool.get("availabilityZones") or ())

    def _busy(self, resources: Resources, record: Record) -> Refused | None:
        return azure_operations.conflict(resources, POOL, record.id) if record.token == POOL else None

    def _interrupted(self, resources: Resources) -> None:
        for record in resources.of_type(DEPLOYMENT):
            if deployment.running(record):
                deployment.end(record, "Failed")


def _existing(resources: Resources, id: str, create: bool) -> Record | None:
    record = resources.get(id)
    if create and record is not None:
        # pulumi-azure-native sends a GET first.
        raise Refused(f"cannot create already existing resource '{id}'")
    return record
