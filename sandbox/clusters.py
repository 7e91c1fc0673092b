"""The emulated clouds' clusters as real control planes on this machine."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.checkpoint import Checkpoint
from sandbox.controlplane import ControlPlane
from sandbox.errors import SandboxError
from sandbox.files import write_private
from sandbox.home import Home

if TYPE_CHECKING:
    from sandbox.gcp.clusters import Endpoint

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
"""What a control plane is made of."""

CLOCK_FACTOR = "SANDBOX_CLOCK_FACTOR"
"""An environment variable: by how much the times of the autoscaler's profile pass faster (see `sandbox.autoscaler`)."""

_SETTINGS = "cluster.json"


class LocalClusters:
    """Starts, stops and fills one control plane for each emulated cluster, by the cluster's cloud id.

    `state` is the emulated cloud's memory, in which the clusters' autoscalers change their pools.
    """

    def __init__(
        self,
        directory: Path,
        cloud: str,
        programs: Callable[[], Mapping[str, Path]],
        report: Callable[[str], None],
        state: Path,
    ) -> None:
        self._directory, self._cloud, self._programs, self._report = directory, cloud, programs, report
        self._state = state

    def folder(self, cluster_id: str) -> Path:
        return self._directory / folder_name(cluster_id)

    def start(self, cluster_id: str, name: str, version: str, service_cidr: str) -> None:
        folder = self.folder(cluster_id)
        folder.mkdir(parents=True, exist_ok=True)
        loops = [f"--cloud={self._cloud}", f"--state={self._state}", f"--cluster={cluster_id}"]
        if factor := os.environ.get(CLOCK_FACTOR):
            loops.append(f"--clock-factor={factor}")
        settings = {"version": version, "cloud": self._cloud, "service_cidr": service_cidr, "loops": loops}
        write_private(folder / _SETTINGS, json.dumps(settings).encode())
        started = plane(folder)
        started.start(self._programs(), self._report)
        if self._cloud == "gcp":
            from sandbox.gcp import clusters as gke
            from sandbox.gcp import workstation

            workstation.trust(self._directory)
            gke.install(started.admin_kubeconfig, version)

    def stop(self, cluster_id: str) -> None:
        remove(self.folder(cluster_id))

    def user_kubeconfig(self, cluster_id: str) -> str:
        return plane(self.folder(cluster_id)).user_kubeconfig()

    def endpoint(self, cluster_id: str) -> Endpoint:
        """Of a cluster that was started. Raises SandboxError for another."""
        from sandbox.gcp.clusters import Endpoint

        found = plane(self.folder(cluster_id))
        return Endpoint(found.address(), found.authority())

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        """Make the cluster's nodes exactly these, and wait until all are Ready."""
        # Only here: most commands never ask the API server.
        from sandbox.kubernetes import nodes as kubernetes_nodes

        with kubernetes_nodes.opened(plane(self.folder(cluster_id)).admin_kubeconfig) as client:
            kubernetes_nodes.apply(client, nodes)
            kubernetes_nodes.await_ready(client, nodes)


def folder_name(cluster_id: str) -> str:
    """A cloud id is too long for a folder and has slashes. Of Azure's the resource group and name are enough, of Google's
    project, location and name."""
    parts = cluster_id.strip("/").lower().split("/")
    return "-".join([*(parts[1:2] if parts[0] == "projects" else []), *parts[3:4], parts[-1]])


def plane(folder: Path) -> ControlPlane:
    """The control plane in a folder, with the settings it was last started with."""
    return ControlPlane(folder, **json.loads((folder / _SETTINGS).read_text()))


def planes(directory: Path) -> list[ControlPlane]:
    """Every control plane below a folder, by name."""
    return [plane(settings.parent) for settings in sorted(directory.glob(f"*/{_SETTINGS}"))]


def of_stack(home: Home, name: str | None = None) -> ControlPlane:
    """The control plane of the cluster that a stack declares or has pools in, or of the one with this name.

    Raises SandboxError, naming those there are, when that is not one.
    """
    there = planes(home.clusters)
    if name is not None:
        found = [p for p in there if f"-{p.directory.name}".endswith(f"-{name.lower()}")]
    else:
        own = {folder_name(id) for id in Checkpoint(home).clusters()}
        found = [p for p in there if p.directory.name in own] or there
    if len(found) != 1:
        names = ", ".join(p.directory.name for p in there)
        raise SandboxError(f"`--cluster` must name one of the emulated cloud's clusters: {names}")
    return found[0]


def remove(folder: Path) -> None:
    """Stop the control plane in a folder and remove it; nothing when there is none."""
    if (folder / _SETTINGS).exists():
        plane(folder).stop()
    if folder.exists():
        shutil.rmtree(folder)
