"""Common parts of the DaemonSets on GPU nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.part import only_where
from config.placement.node_pools import POOL_LABEL, NodePool
from config.placement.pods import tolerations

UNPRIVILEGED = k8s.core.v1.SecurityContextArgs(
    allow_privilege_escalation=False, capabilities=k8s.core.v1.CapabilitiesArgs(drop=["ALL"])
)


NODE_NAME = k8s.core.v1.EnvVarArgs(
    name="NODE_NAME",
    value_from=k8s.core.v1.EnvVarSourceArgs(
        field_ref=k8s.core.v1.ObjectFieldSelectorArgs(field_path="spec.nodeName")
    ),
)
"""The environment variable by which an agent knows its node."""


def of_the_node(name: str, path: str, type: str | None = None) -> k8s.core.v1.VolumeArgs:
    """Return a volume that is a directory of the node."""
    return k8s.core.v1.VolumeArgs(
        name=name, host_path=k8s.core.v1.HostPathVolumeSourceArgs(path=path, type=type)
    )


def selector(instance: str, role: str) -> dict[str, str]:
    """Return the labels by which a DaemonSet selects its pods."""
    return {"app.kubernetes.io/name": f"{names.PROGRAM}-{role}", names.INSTANCE: instance}


def daemon_set_spec(
    pools: Sequence[NodePool],
    instance: str,
    selector: Mapping[str, str],
    pod: k8s.core.v1.PodSpecArgs,
    annotations: Mapping[str, str] | None = None,
) -> k8s.apps.v1.DaemonSetSpecArgs:
    """Return a DaemonSet on nodes of these pools only, with any taints; no pod preempts it
    (system-node-critical).

    `pod`: the rest of its pods' spec, which is completed in place.
    """
    ours = sorted({pool.label for pool in pools})
    pod.affinity = only_where(
        k8s.core.v1.NodeSelectorRequirementArgs(key=POOL_LABEL, operator="In", values=ours)
    )
    pod.priority_class_name = "system-node-critical"
    pod.tolerations = [
        k8s.core.v1.TolerationArgs(
            key=given.key, operator=given.operator, value=given.value, effect=given.effect
        )
        for given in tolerations(pools)
    ]
    labels = {**names.labels(instance), **selector}
    return k8s.apps.v1.DaemonSetSpecArgs(
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        update_strategy=k8s.apps.v1.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
        template=k8s.core.v1.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(labels=labels, annotations=annotations), spec=pod
        ),
    )
