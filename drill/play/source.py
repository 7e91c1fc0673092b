"""The source of a drill: the copy of a stack that is up."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from drill.play.cluster_copy import await_policies, copy_cluster, refuse_events
from sandbox.autoscaler.api import ApiServer
from sandbox.base import locks
from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.cloud.cluster_runtime import NodesAlone
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import NodeGroups
from sandbox.cluster import clusters, plugins
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import read_ports
from sandbox.cluster.control_plane.start import start
from sandbox.kubernetes.client import Client, Object, Unreachable
from sandbox.toolchain import programs

_LAST_LINES = 3


class Captured(NodesAlone):
    """The runtime of the copied cloud: keeps the nodes that the cluster should have."""

    def __init__(self) -> None:
        self.nodes: dict[str, Object] = {}

    def apply_nodes(self, cluster_id: str, nodes: list[Object]) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}


@dataclass(frozen=True)
class CopiedCloud:
    """A copy of a stack's emulated cloud."""

    provider: str
    version: str
    cluster: str
    """The cluster's cloud id."""
    cloud: Any
    captured: Captured
    outputs: dict[str, Any]
    """The stack's outputs."""
    classes: list[dict[str, Any]]
    """GKE's ComputeClasses as the stack declares them."""
    node_pools: tuple[Object, ...]
    """Karpenter's NodePools and their classes, likewise."""


@dataclass(frozen=True)
class Copy(CopiedCloud):
    """A copy of a stack's cloud and cluster, for one drill."""

    client: Client
    api: ApiServer
    plane: ControlPlane


class Provisioned:
    """The copy of a cloud whose cluster has node auto-provisioning: its NodePools are pools too."""

    def __init__(self, cloud: Any, copy: CopiedCloud) -> None:
        self._cloud, self._cluster = cloud, copy.cluster
        self._groups = {
            group.pool_id: group
            for group in cloud.provisioned_groups(copy.cluster, copy.node_pools)
        }

    def node_groups(self, cluster: str) -> NodeGroups:
        """Return the agent pools, and the NodePools without machines."""
        found = self._cloud.node_groups(cluster)
        agents = {group.pool for group in found.groups}
        # The system pool grows by a NodePool of its own name.
        more = [group for group in self._groups.values() if group.pool not in agents]
        return NodeGroups([*found.groups, *more], found.profile)

    def get(self, id: str) -> Any:
        """Return the body of a resource; of a NodePool nothing that a drill reads."""
        return {} if id in self._groups else self._cloud.get(id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cloud, name)


def open_cloud(provider: str, folder: Path, captured: Captured) -> EmulatedCloud:
    """Open the copy of an emulated cloud in a folder, without what `capacity` and `evict` took."""
    cloud = plugins.opened(provider, folder, captured)
    cloud.restore()
    return cloud


def _anything(copy: CopiedCloud) -> None:
    pass


def declared_objects(state: Checkpoint, kind: str) -> list[dict[str, Any]]:
    """List the Kubernetes objects of a kind that the stack's program declares."""
    found = [resource.get("inputs") or {} for resource in state.resources()]
    return [body for body in found if body.get("kind") == kind]


def has_node_pools(home: Home) -> bool:
    """Return whether a stack declares NodePools: Karpenter makes its nodes."""
    return bool(declared_objects(Checkpoint(home), "NodePool"))


def copy_cloud(
    home: Home, folder: Path, name: str | None = None
) -> tuple[ControlPlane, CopiedCloud]:
    """Copy the emulated cloud of a running stack into a new folder.

    `name` is another cluster of the emulated cloud. Returns the stack's control plane too, which
    goes on. Raises SandboxError for a stack that is not up.
    """
    if not clusters.planes(home.clusters):
        raise SandboxError(
            f"stack {home.stack!r} is not up: bring it up first,"
            " or name a stack file with --config-file"
        )
    source = clusters.of_stack(home, name)
    if not source.running():
        raise SandboxError(f"not every process of stack {home.stack!r} runs: `up` restarts them")
    cluster = clusters.cluster_of(source.directory)
    assert cluster is not None
    folder.mkdir(parents=True, mode=0o700)
    with locks.lock_stack(home):
        shutil.copytree(home.cloud, folder / "cloud")
        state = Checkpoint(home)
        outputs, classes = state.outputs(), declared_objects(state, "ComputeClass")
        kinds = ("NodePool", "AKSNodeClass")
        node_pools = tuple(body for kind in kinds for body in declared_objects(state, kind))
    captured = Captured()
    cloud = open_cloud(source.cloud, folder / "cloud", captured)
    copy = CopiedCloud(
        *(source.cloud, source.version, cluster, cloud, captured, outputs, classes, node_pools)
    )
    return source, replace(copy, cloud=Provisioned(cloud, copy)) if node_pools else copy


@contextmanager
def unreachable_as_error(stack: str, plane: ControlPlane) -> Iterator[None]:
    """Turn a silent API server into SandboxError: the stack's, or the drill's own `plane`."""
    try:
        yield
    except Unreachable as silent:
        if str(silent).rpartition("/")[2] != plane.address():
            raise SandboxError(
                f"the API server of stack {stack!r} does not answer at {silent}:"
                " `up` restarts it, then run the drill again"
            ) from silent
        log = plane.processes["kube-apiserver"].log
        text = log.read_text(errors="replace") if log.exists() else ""
        lines = text.splitlines()[-_LAST_LINES:]
        words = (
            "the drill's API server does not answer any more, so it has no result;"
            " its copy of the cluster is removed,",
            f"and with it the log {log}" + (", which ended so:" if lines else ""),
        )
        raise SandboxError("\n  ".join([" ".join(words), *lines])) from silent


@contextmanager
def copied(
    home: Home,
    folder: Path,
    notify: Notify,
    check: Callable[[CopiedCloud], None] = _anything,
    name: str | None = None,
) -> Iterator[Copy]:
    """Copy a running stack's cluster into a new folder; the copy's processes end afterwards.

    `name` is another cluster of the emulated cloud. `check` gets the cloud before a process starts.
    Raises SandboxError for a stack that is not up, and what `check` raises.
    """
    source, copied_cloud = copy_cloud(home, folder, name)
    check(copied_cloud)
    directory = folder / "clusters" / "copy"
    # By these settings a later command finds the processes of a drill that was killed.
    known = {"version": source.version, "cloud": source.cloud, "service_cidr": source.service_cidr}
    clusters.note(directory, {**known, "timed": True})
    plane = clusters.plane(directory)
    start(plane, programs.ensure(list(clusters.PROGRAMS), notify), notify)
    live, own = Client(source.admin_kubeconfig), Client(plane.admin_kubeconfig)
    try:
        with unreachable_as_error(home.stack, plane):
            number = copy_cluster(live, own)
            await_policies(own)
            refuse_events(own)
            notify(
                f"the cluster's {number} declared objects are copied;"
                " the stack itself stays as it is"
            )
            ports = read_ports(plane.directory / "ports.json")
            api = ApiServer(plane.directory, ports["kube-apiserver"])
            yield Copy(**vars(copied_cloud), client=own, api=api, plane=plane)
    finally:
        live.close()
        own.close()
        plane.stop()
