"""Common parts of the DaemonSets on GPU nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.layer import names
from config.placement.node_pools import POOL_LABEL, NodePool
from config.placement.pods import tolerations

UNPRIVILEGED: Mapping[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def selector(instance: str, role: str) -> dict[str, str]:
    """The labels by which a DaemonSet selects its pods."""
    return {"app.kubernetes.io/name": f"{names.PROGRAM}-{role}", names.INSTANCE: instance}


def daemon_set_spec(
    pools: Sequence[NodePool],
    instance: str,
    selector: Mapping[str, str],
    pod: Mapping[str, Any],
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A DaemonSet on nodes of these pools only, with any taints; system-node-critical, so that no pod preempts it."""
    metadata: dict[str, Any] = {"labels": {**names.labels(instance), **selector}}
    if annotations:
        metadata["annotations"] = dict(annotations)
    ours = {"key": POOL_LABEL, "operator": "In", "values": sorted({pool.label for pool in pools})}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [ours]}]}
    return {
        "selector": {"matchLabels": dict(selector)},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": metadata,
            "spec": {
                "priorityClassName": "system-node-critical",
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
                "tolerations": [toleration.as_manifest() for toleration in tolerations(pools)],
                **pod,
            },
        },
    }
