"""The real kube-state-metrics beside a drill's API server, read at the drill's own times."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from sandbox.autoscaler.api import ApiServer
from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import free_port
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.kubernetes.client import Object

NAME = "kube-state-metrics"
LABELS = ("kubeflow-spot.dev/pool", "kubeflow-spot.dev/capacity")
"""Labels of nodes that the alerts need; kube-state-metrics shows none by default."""
METRICS = (
    *("kube_configmap_info", "kube_configmap_metadata_resource_version"),
    *("kube_node_info", "kube_node_labels", "kube_node_status_condition"),
    *("kube_node_status_allocatable", "kube_pod_container_resource_requests", "kube_pod_info"),
    *("kube_pod_status_phase", "kube_pod_status_unschedulable", "kube_pod_tolerations"),
    "kube_resourcequota",
)
_LISTS = ("/api/v1/nodes", "/api/v1/pods")
_SECONDS = 20.0
"""The longest wait for a change to show; it takes milliseconds."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class KubeStateMetrics:
    """The program: `KubeStateMetrics(program, plane, folder).read(observed)`."""

    def __init__(self, program: Path, plane: ControlPlane, folder: Path) -> None:
        self._process = Process(NAME, folder)
        self._port = free_port(())
        self._own = free_port((self._port,))
        self._program, self._plane = program, plane

    def start(self) -> None:
        """Start the program. Raises SandboxError if it does not answer."""
        self._process.launch(
            [
                str(self._program),
                f"--kubeconfig={self._plane.admin_kubeconfig}",
                *("--host=127.0.0.1", f"--port={self._port}"),
                *("--telemetry-host=127.0.0.1", f"--telemetry-port={self._own}"),
                "--resources=configmaps,nodes,pods,resourcequotas",
                f"--metric-labels-allowlist=nodes=[{','.join(LABELS)}]",
                f"--metric-allowlist={','.join(METRICS)}",
            ],
            (),
            {},
        )

    def stop(self) -> None:
        """End the program."""
        stop_all([self._process])

    def read(self, api: ApiServer) -> dict[str, float]:
        """Return the value of each series, once it shows the API server's nodes and pods.

        Raises SandboxError if it does not in time.
        """
        deadline = time.monotonic() + _SECONDS
        while True:
            # Listed anew each time: controllers go on beside the drill.
            wanted = _state(*(api.get(path) or {"items": []} for path in _LISTS))
            series = self._scrape()
            if series is not None and _shown(series) == wanted:
                return series
            if time.monotonic() > deadline:
                differ = sorted(wanted ^ (_shown(series) if series else set()))
                raise SandboxError(
                    f"{NAME} does not show the cluster's nodes and pods after {_SECONDS:.0f} s:"
                    f" {differ[:3]}; its log is {self._process.log}"
                )
            time.sleep(0.01)

    def _scrape(self) -> dict[str, float] | None:
        try:
            with closing(HTTPConnection("127.0.0.1", self._port, timeout=10)) as connection:
                connection.request("GET", "/metrics")
                text = connection.getresponse().read().decode()
        except (OSError, HTTPException):
            return None  # it starts
        lines = (line.rpartition(" ") for line in text.splitlines() if line and line[0] != "#")
        series = {name: float(value) for name, _, value in lines}
        return {name: value for name, value in series.items() if value or _tells_by_zero(name)}


def _tells_by_zero(series: str) -> bool:
    """Return whether a rule reads a series that is 0. Most are the phases and conditions that an
    object is not in: nine of ten.
    """
    if series.startswith("kube_node_status_condition{"):
        return 'condition="Ready"' in series and 'status="true"' in series
    return not series.startswith("kube_pod_status_phase{")


def labels_of(series: str) -> Mapping[str, str]:
    """Return a series' labels, such as `up{job="x"}`."""
    return dict(_LABEL.findall(series))


def _state(node_list: Object, pod_list: Object) -> set[tuple[str, ...]]:
    """Return nodes, and pods with phase and node, as the API server has them."""
    nodes = {
        ("node", body["metadata"]["name"], str(_is_ready(body))) for body in node_list["items"]
    }
    pods = {
        (
            *("pod", body["metadata"]["uid"], (body.get("status") or {}).get("phase", "")),
            (body.get("spec") or {}).get("nodeName", ""),
            str(_is_unschedulable(body)),
        )
        for body in pod_list["items"]
    }
    return nodes | pods


def _is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _is_unschedulable(pod: Object) -> bool:
    return any(
        each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
        for each in (pod.get("status") or {}).get("conditions") or ()
    )


def _shown(series: Mapping[str, float]) -> set[tuple[str, ...]]:
    nodes: dict[str, str] = {}
    phases: dict[str, str] = {}
    places: dict[str, str] = {}
    waiting: set[str] = set()
    for name, value in series.items():
        if name.startswith("kube_node_info{"):
            nodes.setdefault(labels_of(name)["node"], "False")
        elif value != 1:
            continue
        elif name.startswith("kube_node_status_condition{") and 'condition="Ready"' in name:
            labels = labels_of(name)
            if labels["status"] == "true":
                nodes[labels["node"]] = "True"
        elif name.startswith("kube_pod_status_phase{"):
            labels = labels_of(name)
            phases[labels["uid"]] = labels["phase"]
        elif name.startswith("kube_pod_info{"):
            labels = labels_of(name)
            places[labels["uid"]] = labels["node"]
        elif name.startswith("kube_pod_status_unschedulable{"):
            waiting.add(labels_of(name)["uid"])
    return {("node", name, ready) for name, ready in nodes.items()} | {
        ("pod", uid, phases.get(uid, ""), places.get(uid, ""), str(uid in waiting))
        for uid in phases.keys() | places.keys()
    }
