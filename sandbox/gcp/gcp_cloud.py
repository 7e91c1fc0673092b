"""The emulated Google Cloud: the effect of its APIs' requests on its memory, quotas, and what GKE does beyond `EmulatedCloud`."""

import copy
from collections.abc import Callable, Collection
from pathlib import Path

from sandbox.cloud.cluster_runtime import ClusterRuntime
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.provider import Refused
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.cloud.state import Body, Record, Resources, States
from sandbox.gcp import bridge, gcp_errors, gcp_ids, gcp_quotas, instance_groups
from sandbox.gcp.gcp_quotas import UNLIMITED, Quotas
from sandbox.gcp.gcp_schema import STORED
from sandbox.gcp.gcp_spot import SPOT
from sandbox.gcp.resources import bucket
from sandbox.gcp.resources import gcp_cluster as clusters
from sandbox.gcp.resources.bucket import BUCKET
from sandbox.gcp.resources.gcp_network import SUBNETWORK
from sandbox.gcp.resources.gcp_requests import CLUSTER, POOL
from sandbox.gcp.resources.gcp_table import TYPES
from sandbox.gcp.resources.router import NAT

# GKE refuses a second operation with 400 failedPrecondition, which the provider repeats for two hours
# (terraform-provider-google-beta, services/container): nobody sees it, so here the second just follows the first. What failed
# because of this machine is tried again.
STATES = States(
    "status", "PROVISIONING", "RECONCILING", "STOPPING", "RUNNING", failed="RUNNING_WITH_ERROR", retried=True
)


class GcpCloud(EmulatedCloud):
    """The emulated projects. `quotas` are the limits of machines of every project."""

    cluster, pool, folder = CLUSTER, POOL, "nodePools"
    types, schema, states = TYPES, STORED, STATES
    machines, view, spot = instance_groups, instance_groups, SPOT

    def __init__(self, state_file: Path, runtime: ClusterRuntime, quotas: Quotas = UNLIMITED) -> None:
        super().__init__(state_file, runtime)
        self._quotas = quotas

    def subnetworks(self, network_id: str) -> list[str]:
        """Return the ids of a network's subnets."""
        return [s.id for s in self._store.read().of_type(SUBNETWORK) if gcp_ids.path(s.body["network"]) == network_id]

    def create(self, token: str, id: str, wanted: Body, *, keep_default_pool: bool = True) -> Body:
        """Make a resource: its body.

        Raises `Refused` when nothing was made, and `InitFailed` when a cluster or its nodes did not come up.
        """
        type = TYPES[token]
        with self._change() as resources:
            existing = resources.get(id)
            if existing and not type.shared:
                raise _exists(token, existing, wanted)
            before = self._usage(resources)
            body = type.create(resources, id, copy.deepcopy(wanted))
            record = Record(token, id, {k: v for k, v in body.items() if k not in type.virtual})
            resources.put(record)
            if token == CLUSTER:
                resources.put(default := clusters.default_pool(resources, record))
                STATES.end(default)
            if type.worked_on:
                self._within_quotas(resources, before, id)
                failure = self._stockout(resources, record, ())
                STATES.begin(record, STATES.creating)
            if token == CLUSTER and not keep_default_pool:
                resources.remove(default.id)
        return self._operate(record, failure) if type.worked_on else self.get(id) or {}

    def update(self, token: str, id: str, before: Body, planned: Body) -> Body:
        """Change what is planned to differ from before; its body. Raises `Refused` and `InitFailed` as `create` does."""
        type = TYPES[token]
        with self._change() as resources:
            record = resources.get(id)
            if record is None:
                raise gcp_errors.not_found(id)
            used, had = self._usage(resources), instance_groups.zones(resources, record) if token == POOL else {}
            body = type.update(resources, record, bridge.applied(before, planned, record.body))
            updated = Record(token, id, {k: v for k, v in body.items() if k not in type.virtual})
            resources.put(updated)
            if token == POOL:
                instance_groups.follow(resources, updated, record.body)
            if type.worked_on:
                self._within_quotas(resources, used, id)
                failure = self._stockout(resources, updated, had)
                STATES.begin(updated, STATES.updating)
        return self._operate(updated, failure) if type.worked_on else self.get(id) or {}

    def _stockout(self, resources: Resources, pool: Record, had: Collection[str]) -> str:
        """Return what GKE says of a pool whose new spot machines do not come, and for which it waits; empty for one
        that has them.
        """
        short = self._wait_for(resources, pool, had) if pool.token == POOL else []
        if not short:
            return ""
        # hashicorp/terraform-provider-google PR 10121
        expected = len(instance_groups.zones(resources, pool))
        code, words = SPOT.later.text(short[0].kind, "", short[0].zone, short[0].name).split(": ", 1)
        return (
            "Error waiting for creating GKE NodePool: Google Compute Engine: Not all instances running in IGM after 1m0s. Expected "
            f"{expected}, running {expected - len(short)}, transitioning {len(short)}. Current errors: [{code}]: {words}"
        )

    def edit(self, id: str, before: Body, after: Body) -> None:
        """Update what differs."""
        self.update(self.token(id), id, before, {name: value for name, value in after.items() if value is not None})

    def _start(self, cluster: Record) -> Callable[[Record], None]:
        id, body = gcp_ids.key(cluster.id), cluster.body
        self._runtime.start(id, body["name"], body["masterVersion"], body["servicesIpv4Cidr"])
        endpoint = self._runtime.endpoint(id)

        def finish(record: Record) -> None:
            clusters.reachable(record.body, endpoint.address, endpoint.certificate)

        return finish

    def _gone(self, id: str) -> Refused:
        return gcp_errors.not_found(id)

    def _not_deleted(self, id: str, error: Exception) -> Refused:
        # terraform-provider-google-beta, services/container: "deleting GKE NodePool", "deleting GKE cluster"; the rest is ours.
        title = "NodePool" if "/nodePools/" in id else "cluster"
        return Refused(f"Error waiting for deleting GKE {title}: {error}")

    def _not_made(self, record: Record, error: Exception) -> str:
        # What the provider says of a resource in a state of error (terraform-provider-google-beta, services/container).
        title = "NodePool" if record.token == POOL else "Cluster"
        return f'{title} {gcp_ids.last(record.id)} was created in the error state "{STATES.failed}": {error}'

    def spot_of(self, pool_id: str) -> SpotFacts:
        kubelet = self._read().records[gcp_ids.key(pool_id)].body["nodeConfig"].get("kubeletConfig") or {}
        return self.spot.extended(
            kubelet.get("shutdownGracePeriodSeconds") or None, kubelet.get("shutdownGracePeriodCriticalPodsSeconds")
        )

    def _region(self, resources: Resources, pool: Record) -> str:
        return gcp_ids.region(pool.body["location"])

    def _short(self, pool: Record, *, short: bool) -> None:
        # hashicorp/terraform-provider-google #3304: a pool whose group does not get its machines.
        STATES.end(pool, failed=short)

    def _pool_zones(self, pool: Body) -> list[str]:
        return list(pool["nodeLocations"])

    def _usage(self, resources: Resources) -> gcp_quotas.Usage:
        return self._quotas.usage(resources)

    def _beyond_quota(self, resources: Resources, before: gcp_quotas.Usage) -> str:
        excesses = self._quotas.exceeded(before, self._usage(resources))
        return excesses[0].later if excesses else ""

    def _within_quotas(self, resources: Resources, before: gcp_quotas.Usage, id: str) -> None:
        instance_groups.settle(resources)
        if excesses := self._quotas.exceeded(before, self._usage(resources)):
            raise gcp_quotas.refusal(excesses, gcp_ids.project_of(id))


def _exists(token: str, existing: Record, wanted: Body) -> Refused:
    if token == POOL:
        # The provider's own refusal: it asks for a pool before it makes one, and so for a NAT.
        return Refused(f"resource - {existing.id} - already exists")
    if token == NAT:
        return Refused(f"Unable to create RouterNat, existing object already found: map[name:{existing.body['name']}]")
    if token == CLUSTER:
        # terraform-google-modules #367
        return gcp_errors.GcpRefused(409, f"Already exists: {existing.id}.", "alreadyExists")
    if token == BUCKET:
        return bucket.taken(existing.body, wanted)
    if token.endswith(":Account"):
        # https://cloud.google.com/iam/docs, and many logs
        project = gcp_ids.project_of(existing.id)
        name = gcp_ids.last(existing.id).partition("@")[0]
        text = f"Service account {name} already exists within project projects/{project}."
        return gcp_errors.GcpRefused(409, text, "alreadyExists")
    return gcp_errors.exists(existing.id)
