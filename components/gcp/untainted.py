"""Untainted spot pools of a GKE cluster, on which any pod may land.

GKE does not taint spot pools that people create
(docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms: "Use taints and tolerations"). The
guard judges tolerations, so it cannot keep a notebook or a database off such a pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from components.gcp.gcp_live import LiveCluster, config
from components.gcp.gcp_nodes import EFFECTS
from config.clouds.gcp.gcp_traits import FLEX_START, PREEMPTIBLE, SPOT
from config.model.spec import ClusterSpec

_EFFECTS = {google: effect.value for effect, google in EFFECTS.items()}
_KEEPS_OFF = frozenset({"NO_SCHEDULE", "NO_EXECUTE"})


def warn_of_untainted(spec: ClusterSpec, where: str, place: str, cluster: LiveCluster) -> None:
    """Log a warning of each untainted pool if the stack has the guard.

    `where`: the key of the stack file that names the cluster; `place`: the cluster as options of
    gcloud.
    """
    if spec.scheduling.enabled:
        for pool, key in sorted(_untainted(cluster)):
            kind = "flex-start" if key == FLEX_START else "spot"
            pulumi.log.warn(
                f"{where}: the node pool {pool!r} has {kind} machines without the taint {key}, so "
                "pods that must not be evicted"
                " land there and the guard cannot keep them off\n"
                f"  gcloud container node-pools update {pool} {place} --node-taints "
                f"{_options(cluster.pools[pool], key)}"
                "   taints its nodes; its own pods must tolerate that first"
            )


def _untainted(cluster: LiveCluster) -> Iterator[tuple[str, str]]:
    """Yield the name of each untainted pool with the missing taint."""
    for name, pool in cluster.pools.items():
        keys = {taint.get("key") for taint in _taints(pool) if taint.get("effect") in _KEEPS_OFF}
        if config(pool).get("spot") and SPOT not in keys:
            yield name, SPOT
        elif config(pool).get("preemptible") and not {SPOT, PREEMPTIBLE} & keys:
            yield name, PREEMPTIBLE
        elif config(pool).get("flexStart") and FLEX_START not in keys:
            yield name, FLEX_START


def _taints(pool: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the taints of a live pool. Its `taints` list only those that a program manages
    (pulumi-gcp, Cluster.nodePools).
    """
    nodes = config(pool)
    return list(nodes.get("effectiveTaints") or nodes.get("taints") or ())


def _options(pool: Mapping[str, Any], key: str) -> str:
    """Return the pool's taints and the missing one, because gcloud replaces all (gcloud container
    node-pools update).

    The GPU taint is left out: GKE adds it (page gpus).
    """
    own = (
        f"{taint.get('key')}={taint.get('value') or ''}:{_EFFECTS.get(str(taint.get('effect')), 'NoSchedule')}"
        for taint in _taints(pool)
        if taint.get("key") != "nvidia.com/gpu"
    )
    return ",".join([*own, f"{key}=true:NoSchedule"])
