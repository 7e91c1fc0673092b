"""NVIDIA's DCGM exporter: GPU metrics for Prometheus. Why no Helm chart: docs/adr/0019."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.gpu import existing_plugins, node_agent
from components.layer.part import Inside, Part, metadata
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
    """Plan the exporter for all GPU pools with the cloud's driver, except those that another
    exporter reaches.

    Two exporters on a node conflict: only one process may read the profiling counters (NVIDIA/DCGM
    issue 106). Arguments as in `device_plugin_plan.plan`; `clouds`: the cloud's own exporter on
    every GPU node, in words.
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
    node_pools: Iterable[NodePool],
    pools: Sequence[NodePool],
    served: Mapping[str, existing_plugins.Plugin],
) -> Iterator[str]:
    for name, exporter in sorted(served.items()):
        yield f"{exporter} reaches the nodes of {name}: they get no DCGM exporter of this stack's"
    without = [pool.name for pool in node_pools if pool.gpus and not pool.install_driver]
    if without:
        yield (
            f"{', '.join(without)}: no DCGM exporter without the cloud's driver (installDriver: "
            "false)"
        )
    if not pools and not served and not without:
        yield "dcgmExporter.enabled: there is no pool with GPUs"


def exporters(
    daemon_sets: Iterable[Mapping[str, Any]], policies: Iterable[Mapping[str, Any]], instance: str
) -> list[existing_plugins.Plugin]:
    """Return the exporters of a cluster and its GPU operators, except this stack's own."""
    operators = existing_plugins.operators(
        policies, "dcgmExporter", "nvidia.com/gpu.deploy.dcgm-exporter"
    )
    return [*operators, *existing_plugins.running(daemon_sets, instance, _is_exporter)]


def _is_exporter(name: str, pod: Mapping[str, Any]) -> bool:
    return any("dcgm-exporter" in (container.get("image") or "") for container in pod["containers"])


def daemon_set_spec(
    pools: Sequence[NodePool], image: str, instance: str
) -> k8s.apps.v1.DaemonSetSpecArgs:
    """Return the DaemonSet, as in dcgm-exporter's own chart (4.8.2)."""
    health = k8s.core.v1.ProbeArgs(
        http_get=k8s.core.v1.HTTPGetActionArgs(path="/health", port="metrics"),
        initial_delay_seconds=45,
    )
    exporter = k8s.core.v1.ContainerArgs(
        name="exporter",
        image=image,
        args=["-f", "/etc/dcgm-exporter/default-counters.csv"],
        env=[
            k8s.core.v1.EnvVarArgs(name="DCGM_EXPORTER_LISTEN", value=f":{PORT}"),
            k8s.core.v1.EnvVarArgs(name="DCGM_EXPORTER_KUBERNETES", value="true"),
            node_agent.NODE_NAME,
        ],
        ports=[k8s.core.v1.ContainerPortArgs(name="metrics", container_port=PORT)],
        # For the profiling counters (DCGM_FI_PROF_*).
        security_context=k8s.core.v1.SecurityContextArgs(
            run_as_user=0,
            allow_privilege_escalation=False,
            capabilities=k8s.core.v1.CapabilitiesArgs(add=["SYS_ADMIN"], drop=["ALL"]),
        ),
        resources=k8s.core.v1.ResourceRequirementsArgs(
            requests={"cpu": "100m", "memory": "128Mi"}, limits={"memory": "512Mi"}
        ),
        liveness_probe=health,
        readiness_probe=health,
        volume_mounts=[
            k8s.core.v1.VolumeMountArgs(name="pod-resources", mount_path=_SOCKETS, read_only=True)
        ],
    )
    pod = k8s.core.v1.PodSpecArgs(
        automount_service_account_token=False,
        containers=[exporter],
        volumes=[node_agent.of_the_node("pod-resources", _SOCKETS, "Directory")],
    )
    # Annotations for a Prometheus that scrapes pods.
    scrape = {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT)}
    return node_agent.daemon_set_spec(
        pools, instance, node_agent.selector(instance, ROLE), pod, scrape
    )


def service_spec(instance: str) -> k8s.core.v1.ServiceSpecArgs:
    """Return a headless Service: nodes are scraped one by one; Pulumi waits for no endpoints."""
    return k8s.core.v1.ServiceSpecArgs(
        cluster_ip="None",
        selector=node_agent.selector(instance, ROLE),
        ports=[k8s.core.v1.ServicePortArgs(name="metrics", port=PORT, target_port="metrics")],
    )


class DcgmExporter(Part):
    """The exporter in kube-system, with a Service to scrape."""

    def __init__(self, name: str, pools: Sequence[NodePool], image: str, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:DcgmExporter", name, inside)
        called = metadata(names.object_name(self.instance, ROLE), self.instance, NAMESPACE)
        called.labels = {**names.labels(self.instance), **node_agent.selector(self.instance, ROLE)}
        spec = daemon_set_spec(pools, image, self.instance)
        k8s.apps.v1.DaemonSet(name, metadata=called, spec=spec, opts=self.child)
        k8s.core.v1.Service(
            f"{name}-service", metadata=called, spec=service_spec(self.instance), opts=self.child
        )
        self.register_outputs({})
