"""The emulated clouds' clusters as real control planes on this machine."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from subprocess import run
from typing import Any

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.files import Unreadable, read_json, write_private
from sandbox.base.home import Home
from sandbox.cloud.cluster_runtime import Endpoint, Provisioner
from sandbox.cloud.ids import key
from sandbox.cloud.node_groups import is_silent
from sandbox.cluster import plugins
from sandbox.cluster.control_plane import ControlPlane

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
"""The programs of a control plane."""

CLOCK_FACTOR = "SANDBOX_CLOCK_FACTOR"
"""An environment variable: by how much the times of the autoscaler's profile pass faster (see `sandbox.autoscaler`)."""

_SETTINGS = "cluster.json"
_CLUSTER = "--cluster="
_DIGITS = 12


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
        """Return the folder of a cluster: the one whose settings have the cluster's id, under any name, or a new one."""
        folders = (settings.parent for settings in sorted(self._directory.glob(f"*/{_SETTINGS}")))
        return next((f for f in folders if _is(cluster_of(f), cluster_id)), self._directory / folder_name(cluster_id))

    def start(
        self, cluster_id: str, name: str, version: str, service_cidr: str, provisioner: Provisioner | None = None
    ) -> None:
        folder = self.folder(cluster_id)
        if sharing := self._shared_before(folder, cluster_id):
            self._report(
                f"cluster {label(cluster_id)} gets a control plane of its own: an earlier version of the sandbox gave it that of"
                f" {label(sharing)}; `up --refresh` makes anew what was declared in it"
            )
        loops = [f"--cloud={self._cloud}", f"--state={self._state}", f"{_CLUSTER}{cluster_id}"]
        if factor := os.environ.get(CLOCK_FACTOR):
            loops.append(f"--clock-factor={factor}")
        settings: dict[str, Any] = {
            "version": version,
            "cloud": self._cloud,
            "service_cidr": service_cidr,
            "loops": loops,
        }
        if provisioner:
            pace = [f"--clock-factor={factor}"] if factor else []
            settings["loops"] = [*loops, "--provisioner"]
            settings["provisioner"] = asdict(provisioner) | {"arguments": [*provisioner.arguments, *pace]}
        note(folder, settings)
        programs, definitions = dict(self._programs()), []
        if provisioner:
            # Only here: other clusters neither build nor run it.
            from sandbox.toolchain.programs import ensure

            programs |= ensure([provisioner.program], self._report)
            definitions = printed_definitions(programs[provisioner.program])
        # Only here: certificates and HTTP take 0.1 s to import, and most commands start nothing.
        from sandbox.cluster.control_plane.start import start

        started = plane(folder)
        start(started, programs, self._report)
        plugins.plugin(self._cloud).trust(self._directory)
        plugins.install(self._cloud, started.admin_kubeconfig, version, definitions)

    def _shared_before(self, folder: Path, cluster_id: str) -> str | None:
        """Return the id of the cluster that has the folder which earlier versions gave to this one as well."""
        before = self._directory / label(cluster_id).replace("/", "-")
        return None if before == folder or folder.exists() else cluster_of(before)

    def stop(self, cluster_id: str) -> None:
        remove(self.folder(cluster_id))

    def user_kubeconfig(self, cluster_id: str) -> str:
        return plane(self.folder(cluster_id)).user_kubeconfig()

    def endpoint(self, cluster_id: str) -> Endpoint:
        """Return the endpoint of a started cluster. Raises SandboxError for another."""
        control_plane = plane(self.folder(cluster_id))
        return Endpoint(control_plane.address(), control_plane.authority())

    def apply_nodes(self, cluster_id: str, nodes: list[dict[str, Any]]) -> None:
        """Make the cluster's nodes exactly these, and wait until they are Ready.

        A node that was not Ready before, or whose kubelet is silent, is ill: no cloud waits for it.
        """
        # Only here: most commands never ask the API server.
        from sandbox.kubernetes import node_objects as kubernetes_nodes

        with kubernetes_nodes.opened(plane(self.folder(cluster_id)).admin_kubeconfig) as client:
            ill = kubernetes_nodes.apply(client, nodes)
            well = [node for node in nodes if node["metadata"]["name"] not in ill and not is_silent(node)]
            kubernetes_nodes.await_ready(client, well)


def printed_definitions(program: Path) -> list[dict[str, Any]]:
    """Return the definitions of the custom resources that a node provisioner prints."""
    # Only here: most commands read no YAML.
    import yaml

    text = run([program, "crds"], capture_output=True, text=True, check=True).stdout
    return [body for body in yaml.load_all(text, yaml.CSafeLoader) if body]


def folder_name(cluster_id: str) -> str:
    """Return a new cluster's folder: its name, and what no other id has. The parts of an id cannot be joined instead: each may have
    in it whatever would stand between them."""
    return f"{_parts(cluster_id)[-1]}-{hashlib.sha256(key(cluster_id).encode()).hexdigest()[:_DIGITS]}"


def label(cluster_id: str) -> str:
    """Return a cluster in few words: of Azure's ids the resource group and name, of Google's project, location and name."""
    parts = _parts(cluster_id)
    return "/".join([*(parts[1:2] if parts[0] == "projects" else []), *parts[3:4], parts[-1]])


def _parts(cluster_id: str) -> list[str]:
    return key(cluster_id).strip("/").split("/")


def cluster_of(folder: Path) -> str | None:
    """Return the cloud id of the cluster whose control plane is in a folder; None where it does not say."""
    try:
        loops: list[str] = read_json(folder / _SETTINGS).get("loops", [])
    except FileNotFoundError:
        return None
    return next((loop.removeprefix(_CLUSTER) for loop in loops if loop.startswith(_CLUSTER)), None)


def _is(id: str | None, other: str) -> bool:
    return id is not None and key(id) == key(other)


def note(folder: Path, settings: Mapping[str, Any]) -> None:
    """Keep the settings of a control plane in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / _SETTINGS, json.dumps(settings).encode())


def plane(folder: Path) -> ControlPlane:
    """Return the control plane in a folder, with the settings it was last started with."""
    return ControlPlane(folder, **read_json(folder / _SETTINGS))


def of_cluster(directory: Path, cluster_id: str) -> ControlPlane | None:
    """Return the control plane of a cluster, below a folder; None for a cluster without one."""
    return next((found for found in planes(directory) if _is(cluster_of(found.directory), cluster_id)), None)


def planes(directory: Path) -> list[ControlPlane]:
    """Return every control plane below a folder, by name."""
    return [plane(settings.parent) for settings in sorted(directory.glob(f"*/{_SETTINGS}"))]


def of_stack(home: Home, name: str | None = None) -> ControlPlane:
    """Return the control plane of the cluster that a stack declares or has pools in, or of the one with this name.

    A name is the cluster's, or with more of its id before it: `ml`, `rg-ml/ml`. Raises SandboxError, naming the clusters,
    unless exactly one cluster matches.
    """
    candidates = [(plane, cluster_of(plane.directory) or plane.directory.name) for plane in planes(home.clusters)]
    if name is not None:
        matches = [plane for plane, id in candidates if f"/{label(id)}".endswith(f"/{name.lower()}")]
    else:
        own = {key(id) for id in Checkpoint(home).clusters()}
        matches = [plane for plane, id in candidates if key(id) in own] or [plane for plane, _ in candidates]
    if len(matches) != 1:
        names = ", ".join(label(id) for _, id in candidates)
        raise SandboxError(f"`--cluster` must name one of the emulated cloud's clusters: {names}")
    return matches[0]


def remove(folder: Path) -> None:
    """Stop the control plane in a folder and remove it; a missing one is no error."""
    if (folder / _SETTINGS).exists():
        try:
            stopped = plane(folder)
        except Unreadable:
            # The records of the processes name them, whatever the settings were.
            stopped = ControlPlane(folder, version="1.35", cloud=plugins.NAMES[0])
        stopped.stop()
    if folder.exists():
        shutil.rmtree(folder)


def remove_all(directory: Path) -> None:
    """Stop and remove every control plane below a folder, also those whose settings cannot be read."""
    for settings in sorted(directory.glob(f"*/{_SETTINGS}")):
        remove(settings.parent)
