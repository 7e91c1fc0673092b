"""Device plugins that an existing cluster runs, and the pools whose nodes they reach.

Two plugins on one node both announce `nvidia.com/gpu`, and the kubelet keeps the one that
registered last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.layer import names
from components.layer.gpu.matching import may_run
from config.placement.node_pools import NodePool

_PLUGIN = re.compile(r"nvidia[-_/](gpu[-_]|k8s[-_])*device[-_]plugin")
"""NVIDIA's chart and manifest, its GPU operator, the samples of AKS, and GKE's own
`nvidia-gpu-device-plugin`."""

_MIRRORED = re.compile(r"(^|/)k8s-device-plugin([:@]|$)")
_OTHER_VENDORS = re.compile(r"(^|/)(rocm|amd|intel)/")

_OTHER_PROGRAMS = {"config-manager", "gpu-feature-discovery", "mps-control-daemon"}
"""Other programs in NVIDIA's image; its chart runs each in a DaemonSet of its own
(k8s-device-plugin 0.20)."""


@dataclass(frozen=True)
class Plugin:
    """A device plugin in the cluster."""

    namespace: str
    name: str
    pod: Mapping[str, Any] = field(compare=False)
    """The spec of its pods."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def plugins(
    daemon_sets: Iterable[Mapping[str, Any]], policies: Iterable[Mapping[str, Any]], instance: str
) -> list[Plugin]:
    """Return the plugins of a cluster and its GPU operators, except this stack's own."""
    label = "nvidia.com/gpu.deploy.device-plugin"
    plugins = [
        *operators(policies, "devicePlugin", label),
        *running(daemon_sets, instance, _is_plugin),
    ]
    return sorted({str(plugin): plugin for plugin in plugins}.values(), key=str)


def running(
    daemon_sets: Iterable[Mapping[str, Any]],
    instance: str,
    is_one: Callable[[str, Mapping[str, Any]], bool],
) -> Iterator[Plugin]:
    """Yield the DaemonSets, except this stack's own, whose name and pod `is_one` accepts."""
    for daemon_set in daemon_sets:
        metadata, pod = daemon_set["metadata"], daemon_set["spec"]["template"]["spec"]
        if not names.is_ours(names.labels_of(daemon_set), instance) and is_one(
            metadata["name"], pod
        ):
            yield Plugin(metadata["namespace"], metadata["name"], pod)


def operators(policies: Iterable[Mapping[str, Any]], part: str, label: str) -> Iterator[Plugin]:
    """Yield the DaemonSets that GPU operators will run on nodes with this label, for a part that is
    on by default.

    An operator creates its DaemonSets after the first GPU node has joined, which is too late here
    (gpu-operator, controllers/object_controls.go, "No GPU node in the cluster").
    """
    for policy in policies:
        spec = policy.get("spec") or {}
        if (spec.get(part) or {}).get("enabled", True):
            own = (spec.get("daemonsets") or {}).get("tolerations")
            yield Plugin(
                "",
                f"the GPU operator's ClusterPolicy {policy['metadata']['name']}",
                _pods(label, own),
            )


def _pods(label: str, tolerations: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return the pods of an operator's DaemonSet (gpu-operator, assets/state-device-plugin and
    state-dcgm-exporter).
    """
    return {
        "nodeSelector": {label: "true"},
        "tolerations": tolerations
        or [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }


def _is_plugin(name: str, pod: Mapping[str, Any]) -> bool:
    containers = pod.get("containers") or []
    if any(
        _program(container) in ("gpu-feature-discovery", "mps-control-daemon")
        for container in containers
    ):
        return False
    return bool(_PLUGIN.search(name)) or any(
        _program(container) not in _OTHER_PROGRAMS and _is_image(container.get("image") or "")
        for container in containers
    )


def _program(container: Mapping[str, Any]) -> str:
    command = container.get("command") or [""]
    return str(command[0]).rpartition("/")[2]


def _is_image(image: str) -> bool:
    if _OTHER_VENDORS.search(image):
        return False
    return bool(_PLUGIN.search(image) or _MIRRORED.search(image))


def left_to(
    pools: Iterable[NodePool], plugins: Sequence[Plugin], labels: Mapping[str, Mapping[str, str]]
) -> dict[str, Plugin]:
    """Return the plugin that serves each pool, by name. `labels`: further labels of nodes."""
    served: dict[str, Plugin] = {}
    for pool in pools:
        known = {**labels.get(pool.name, {}), **pool.labels}
        for plugin in plugins:
            if may_run(plugin.pod, known, pool.taints):
                served.setdefault(pool.name, plugin)
    return served
