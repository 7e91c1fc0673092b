"""Node pools -> objects of Kueue: work waits for GPUs, spot first, then on demand.

Work, and roles of distributed jobs, without GPUs pass without waiting, to nodes without GPUs.

The stack does not declare them: a new cluster lacks these kinds until Kueue is installed
(docs/adr/0025).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from config.model.cluster import Queueing
from config.model.pool import Capacity
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT, PREFIX, NodePool
from config.placement.pods import users_tolerations

_API = "kueue.x-k8s.io/v1beta1"
"""Served by Kueue 0.14 to 0.19; 0.20 is planned without it (kubernetes-sigs/kueue issue 13957)."""

QUEUE = "gpus"
"""The name of the ClusterQueue, and of the LocalQueue in each namespace."""

WITHOUT_GPU = "no-gpu"
"""The flavor of pods without GPUs: no label, no toleration; they run as without a queue."""

VERSION_ANNOTATION = f"{PREFIX}/kueue-version"

_ORDER = (Capacity.SPOT, Capacity.FLEX_START, Capacity.ON_DEMAND)
_MANY = 1_000_000
"""Stands for no bound: each flavor needs a quota of each resource that the ClusterQueue covers."""


def kueue_objects(
    pools: Iterable[NodePool], queueing: Queueing, version: str
) -> dict[str, Any] | None:
    """Return the List of Kueue's objects for this version of Kueue; None without queueing."""
    if not queueing.enabled:
        return None
    pools = tuple(pools)
    flavors = [(capacity, members) for capacity in _ORDER if (members := _members(pools, capacity))]
    items = [
        _object("ResourceFlavor", {"name": WITHOUT_GPU}, {}),
        *(_flavor(capacity, members) for capacity, members in flavors),
        _cluster_queue(
            # First, because each role takes the first flavor with room; this one has no room for
            # GPUs.
            [
                _flavor_quotas(WITHOUT_GPU, gpus=0),
                *(_quotas(capacity, members) for capacity, members in flavors),
            ],
            queueing,
            version,
        ),
        *(
            _object("LocalQueue", {"name": QUEUE, "namespace": namespace}, {"clusterQueue": QUEUE})
            for namespace in queueing.namespaces
        ),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _object(kind: str, metadata: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}


def _members(pools: Iterable[NodePool], capacity: Capacity) -> tuple[NodePool, ...]:
    """Return the GPU pools of a flavor, as in the contract: shared GPUs only if no pool has whole
    ones, and pools of a class if there is one, whose label the flavor has.
    """
    bought = [pool for pool in pools if pool.gpus and pool.capacity == capacity]
    whole = [pool for pool in bought if not pool.gpu_sharing] or bought
    return tuple([pool for pool in whole if pool.selector] or whole)


def _flavor(capacity: Capacity, members: tuple[NodePool, ...]) -> dict[str, Any]:
    """Return a flavor without a toleration of the GPU taint, which Kubernetes adds to pods that
    request a GPU: with it, queued work without GPUs would run on GPU nodes, or be refused by the
    guard (docs/adr/0021).
    """
    tolerated = [
        given.as_manifest() for given in users_tolerations(members) if given.key != GPU_TAINT.key
    ]
    return _object(
        "ResourceFlavor",
        {"name": capacity.value},
        {
            "nodeLabels": {CAPACITY_LABEL: capacity.value, **members[0].selector},
            **({"tolerations": tolerated} if tolerated else {}),
        },
    )


def _quotas(capacity: Capacity, members: tuple[NodePool, ...]) -> dict[str, Any]:
    """Return what the largest pools can give to pods; no bound for unknown machines."""
    gpus = sum(pool.most_gpus for pool in members)
    if not all(pool.largest_request for pool in members):
        return _flavor_quotas(capacity.value, gpus)
    cpu, memory = _total(members, "cpu", "m"), _total(members, "memory", "Gi")
    return _flavor_quotas(capacity.value, gpus, cpu=f"{cpu}m", memory=f"{memory}Gi")


def _flavor_quotas(
    flavor: str, gpus: int, cpu: str = str(_MANY), memory: str = f"{_MANY}Gi"
) -> dict[str, Any]:
    """Return the quotas of a flavor: Kueue admits no work that requests an uncovered resource."""
    quotas = {
        "cpu": cpu,
        "memory": memory,
        "ephemeral-storage": f"{_MANY}Gi",
        GPU_TAINT.key: str(gpus),
    }
    return {
        "name": flavor,
        "resources": [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()],
    }


def _total(members: Iterable[NodePool], resource: str, unit: str) -> int:
    return sum(
        pool.max_nodes * int(pool.largest_request[resource].removesuffix(unit)) for pool in members
    )


def _cluster_queue(
    flavors: list[dict[str, Any]], queueing: Queueing, version: str
) -> dict[str, Any]:
    """Return the ClusterQueue, in a cohort, from which a team's own ClusterQueue can borrow."""
    only = {
        "key": "kubernetes.io/metadata.name",
        "operator": "In",
        "values": list(queueing.namespaces),
    }
    covered = [resource["name"] for resource in flavors[0]["resources"]]
    return _object(
        "ClusterQueue",
        {"name": QUEUE, "annotations": {VERSION_ANNOTATION: version}},
        {
            "cohort": QUEUE,
            "namespaceSelector": {"matchExpressions": [only]} if queueing.namespaces else {},
            "resourceGroups": [{"coveredResources": covered, "flavors": flavors}],
        },
    )
