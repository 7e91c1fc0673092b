"""NVIDIA's DCGM exporter: metrics of GPUs for Prometheus, one pod a node. Not by its Helm chart: docs/adr/0033."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.layer import names
from components.layer.gpu import existing_plugins, node_agent
from components.layer.manifest import Manifest
from components.layer.part import Inside, Part
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

ROLE = "dcgm-exporter"
NAMESPACE = "kube-system"
PORT = 9400

_SOCKETS = "/var/lib/kubelet/pod-resources"
"""Socket of the kubelet that lists the GPUs of each pod."""


@dataclass(frozen=True)
class ExporterPlan:
    """The pools that get the exporter, and why others do not."""

    pools: tuple[NodePool, ...] = ()
    warnings: tuple[str, ...] = ()


def plan(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    exporters: Sequence[existing_plugins.Plugin] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
    clouds: str | None = None,
) -> ExporterPlan:
    """All GPU pools with the cloud's driver, except those that an exporter in the cluster reaches.

    Two on a node conflict: one process at a time may read the profiling counters (NVIDIA/DCGM issue 106). Arguments as of
    `device_plugin_plan.plan`; `clouds`: the exporter that the cloud runs on every GPU node, in words.
    """
    if not spec.dcgm_exporter.enabled:
        return ExporterPlan()
    with_driver = [pool for pool in node_pools if pool.gpus and pool.install_driver]
    if clouds:
        served = {pool.name: existing_plugins.Plugin("", clouds, {}) for pool in with_driver}
    else:
        served = existing_plugins.left_to(with_driver, exporters, labels or {})
    pools = tuple(pool for pool in with_driver if pool.name not in served)
    return ExporterPlan(pools, tuple(_warnings(node_pools, pools, served)))


def _warnings(
    node_pools: Iterable[NodePool], pools: Sequence[NodePool], served: Mapping[str, existing_plugins.Plugin]
) -> Iterator[str]:
    for name, exporter in sorted(served.items()):
        yield f"{exporter} reaches the nodes of {name}: they get no DCGM exporter of this stack's"
    without = [pool.name for pool in node_pools if pool.gpus and not pool.install_driver]
    if without:
        yield f"{', '.join(without)}: no DCGM exporter without the cloud's driver (installDriver: false)"
    if not pools and not served and not without:
        yield "dcgmExporter.enabled: there is no pool with GPUs"


def exporters(
    daemon_sets: Iterable[Mapping[str, Any]], policies: Iterable[Mapping[str, Any]], instance: str
) -> list[existing_plugins.Plugin]:
    """The exporters among a cluster's DaemonSets, and those its GPU operators will make; not this stack's own."""
    operators = existing_plugins.operators(policies, "dcgmExporter", "nvidia.com/gpu.deploy.dcgm-exporter")
    return [*operators, *existing_plugins.running(daemon_sets, instance, _is_exporter)]


def _is_exporter(name: str, pod: Mapping[str, Any]) -> bool:
    return any("dcgm-exporter" in (container.get("image") or "") for container in pod["containers"])


def daemon_set_spec(pools: Sequence[NodePool], image: str, instance: str) -> dict[str, Any]:
    """The DaemonSet, as in dcgm-exporter's own chart (4.8.2)."""
    health = {"httpGet": {"path": "/health", "port": "metrics"}, "initialDelaySeconds": 45}
    exporter = {
        "name": "exporter",
        "image": image,
        "args": ["-f", "/etc/dcgm-exporter/default-counters.csv"],
        "env": [
            {"name": "DCGM_EXPORTER_LISTEN", "value": f":{PORT}"},
            {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        # For the profiling counters (DCGM_FI_PROF_*).
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["SYS_ADMIN"], "drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "livenessProbe": health,
        "readinessProbe": health,
        "volumeMounts": [{"name": "pod-resources", "mountPath": _SOCKETS, "readOnly": True}],
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [exporter],
        "volumes": [{"name": "pod-resources", "hostPath": {"path": _SOCKETS, "type": "Directory"}}],
    }
    # Annotations for a Prometheus that scrapes pods.
    scrape = {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT)}
    return node_agent.daemon_set_spec(pools, instance, node_agent.selector(instance, ROLE), pod, scrape)


def service_spec(instance: str) -> dict[str, Any]:
    """A Service without an address of its own: each node is scraped by itself, and Pulumi does not wait for endpoints."""
    return {
        "clusterIP": "None",
        "selector": node_agent.selector(instance, ROLE),
        "ports": [{"name": "metrics", "port": PORT, "targetPort": "metrics"}],
    }


class DcgmExporter(Part):
    """The exporter in kube-system, with a Service to scrape."""

    def __init__(
        self,
        name: str,
        pools: Sequence[NodePool],
        image: str,
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:DcgmExporter", name, inside)
        labels = {**names.labels(self.instance), **node_agent.selector(self.instance, ROLE)}
        metadata = {"name": names.object_name(self.instance, ROLE), "namespace": NAMESPACE, "labels": labels}
        for kind, api, spec in (
            ("DaemonSet", "apps/v1", daemon_set_spec(pools, image, self.instance)),
            ("Service", "v1", service_spec(self.instance)),
        ):
            resource = name if kind == "DaemonSet" else f"{name}-service"
            Manifest(resource, {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}, self.child)
        self.register_outputs({})
