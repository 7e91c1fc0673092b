"""The loops: what the pure parts decide, done to the emulated cloud and the cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

from sandbox.cloud.node_groups import NodeGroup, NodeGroups, ScalableCloud, ScaleRefused
from sandbox.cluster.autoscaler import devices, idle, journal
from sandbox.cluster.autoscaler.api import ApiServer, Mirror, Object
from sandbox.cluster.autoscaler.backoff import BackOff
from sandbox.cluster.autoscaler.coming import Coming
from sandbox.cluster.autoscaler.journal import Journal
from sandbox.cluster.autoscaler.manners import Aks, Gke, Manners
from sandbox.cluster.autoscaler.plan import Picture, Plan, plan

_SCAN = 1.0  # seconds
_PROVISION_TIME = "15m"  # cluster-autoscaler's --max-node-provision-time, where the cloud's profile has none
# As the autoscaler does, so that nothing is put on a node between the decision and its end.
_GOING = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Settings:
    """`directory` is the control plane's, `cloud` is "azure" or "gcp", `state` its memory, `cluster` the cluster's id there."""

    directory: Path
    port: int
    cloud: str
    state: Path
    cluster: str
    factor: float = 1.0
    """By how much the profile's times and the back-off pass faster."""


class Loop:
    """One cluster's. `cloud` opens the emulated cloud as it is now."""

    def __init__(self, settings: Settings, cloud: Callable[[], ScalableCloud]) -> None:
        self._settings, self._cloud = settings, cloud
        self._api = ApiServer(settings.directory, settings.port)
        self._changed, self.stopping = Event(), Event()
        paths = ("/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/daemonsets")
        self._mirrors = [Mirror(self._api, path, self._changed) for path in paths]
        self._manners: Manners = Gke(self._api, self._changed) if settings.cloud == "gcp" else Aks(self._api)
        self._journal, self._idle, self._random = Journal(), idle.Idle(), Random()
        self._back_off, self._coming = BackOff(settings.factor), Coming()
        self._seen_state = 0
        self._open = True
        """Whether something waits: pods for nodes, empty nodes for their time, nodes for the API server."""
        self._unsettled = False
        self._first = True

    def run(self) -> None:
        """Scan until told to stop, or until the control plane's folder is gone."""
        for mirror in self._mirrors:
            mirror.start()
        while not self.stopping.is_set() and self._settings.directory.exists():
            try:
                again = self._due() and self._scan()
                self._journal.state("trouble", "")
            except Exception as error:  # an API server that is restarted, a full disk: the next scan may be better
                again = False
                self._journal.state("trouble", f"scan failed: {type(error).__name__}: {error}")
            if not again:
                self.stopping.wait(_SCAN)

    def _due(self) -> bool:
        """Whether anything is different, or time matters."""
        changed = self._changed.is_set()
        self._changed.clear()
        state = _modified(self._settings.state)
        moved, self._seen_state = state != self._seen_state, state
        return changed or moved or self._open

    def _scan(self) -> bool:
        """One scan; whether another should follow at once."""
        self._open = True  # until it is known better
        nodes, pods, daemon_sets = (mirror.objects() for mirror in self._mirrors)
        if nodes is None or pods is None or daemon_sets is None:
            return False
        cloud = self._cloud()
        if self._unsettled:
            cloud.apply_nodes(self._settings.cluster)
            self._unsettled = False
        if self._first:
            self._release(nodes)
            self._first = False
        fleet = cloud.node_groups(self._settings.cluster)
        self._report_devices(fleet, nodes, pods)
        now = time.monotonic()
        late = self._see_late(fleet, nodes, now)
        self._manners.admit(pods)
        limits = self._manners.limits(fleet)
        found = plan(
            Picture(
                fleet.groups,
                nodes,
                pods,
                daemon_sets,
                self._back_off.groups(now),
                limits.barred,
                limits.lost,
                late,
                balanced=str(fleet.profile.get("balanceSimilarNodeGroups")) == "true",
            )
        )
        self._tell_hopeless(found)
        if found.options:
            return self._grow(cloud, fleet, found, now)
        return self._shrink(cloud, fleet, nodes, pods, found, now)

    def _see_late(self, fleet: NodeGroups, nodes: list[Object], now: float) -> Set[str]:
        """The machines that nobody counts on any more."""
        limit = str(fleet.profile.get("maxNodeProvisionTime", _PROVISION_TIME))
        seen = self._coming.see(now, fleet.groups, nodes, idle.seconds(limit))
        for name in seen.grew:
            self._back_off.grew(name)
        for group in fleet.groups:
            if group.name in seen.failed:
                self._back_off.failed(now, group.name)
                late = ", ".join(sorted(seen.late & set(group.nodes)))
                self._journal.write(f"pool {group.pool}: not ready after {limit}, left alone for a while: {late}")
        return seen.late

    def _report_devices(self, fleet: NodeGroups, nodes: list[Object], pods: list[Object]) -> None:
        """The kubelets' part: GPUs of a node are what the device plugin on it says, and 0 when it has gone."""
        gpus = {name: group.gpus for group in fleet.groups if group.gpus for name in group.nodes}
        maps: dict[tuple[str, str], Mapping[str, str] | None] = {}

        def read(namespace: str, name: str) -> Mapping[str, str] | None:
            if (namespace, name) not in maps:
                found = self._api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
                maps[namespace, name] = None if found is None else found.get("data") or {}
            return maps[namespace, name]

        for node in nodes:
            name, capacity = node["metadata"]["name"], node["status"].get("capacity")
            if name not in gpus or not capacity:
                continue
            said = devices.report(node, pods, gpus[name], read)
            before = {key: str(value) for key, value in capacity.items() if key.startswith(devices.PREFIX)}
            after = dict.fromkeys(before, "0") | {key: str(value) for key, value in said.resources.items()}
            self._journal.state(name, f"node {name}: {said.why}" if said.why and not said.resources else "")
            if after != before:
                self._api.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": after, "allocatable": after}})
                shown = ", ".join(f"{key} {value}" for key, value in sorted(after.items()))
                self._journal.write(f"node {name}: {shown} ({said.why or 'no device plugin runs there'})")

    def _grow(self, cloud: ScalableCloud, fleet: NodeGroups, found: Plan, now: float) -> bool:
        option, why = self._manners.choose(fleet, found.options, self._random)
        shares = found.shares(option)
        if len(shares) > 1:
            why = f"{why}; shared among pools that are alike"
        waiting = journal.pods([pod.name for pod in option.pods])
        groups = [group for group in fleet.groups if group.name in shares]
        # All are asked, whatever one of them answers.
        answers = [self._ask(cloud, group, shares[group.name], waiting, why, now) for group in groups]
        return any(answers)

    def _ask(self, cloud: ScalableCloud, group: NodeGroup, nodes: int, waiting: str, why: str, now: float) -> bool:
        """Whether a group grows by so many nodes."""
        size = f"{len(group.nodes)} -> {len(group.nodes) + nodes} nodes"
        try:
            self._settle(lambda: cloud.grow(group.pool_id, nodes))
        except ScaleRefused as refused:
            self._back_off.failed(now, group.name)
            self._journal.write(f"pool {group.pool}: {size} refused for {waiting}, left alone for a while: {refused}")
            return False
        self._idle.grown = now
        self._coming.asked(now, group)
        self._journal.write(f"pool {group.pool}: {size} for {waiting}: {why}")
        return True

    def _shrink(
        self, cloud: ScalableCloud, fleet: NodeGroups, nodes: list[Object], pods: list[Object], found: Plan, now: float
    ) -> bool:
        empty = idle.empty(nodes, pods, found.needed)
        self._idle.see(now, empty)
        groups = [group for group in fleet.groups if group.least is not None]
        for pool_id, ripe in self._idle.due(now, fleet.groups, fleet.profile, self._settings.factor).items():
            group = next(group for group in groups if group.pool_id == pool_id)
            self._remove(cloud, group, ripe, str(fleet.profile["scaleDownUnneededTime"]))
        spare = any(set(group.nodes) & empty and len(group.nodes) > (group.least or 0) for group in groups)
        self._open = bool(spare or found.hopeless or found.needed)
        return False

    def _remove(self, cloud: ScalableCloud, group: NodeGroup, names: list[str], after: str) -> None:
        for name in names:
            self._api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [_GOING]}}, "strategic-merge")
        going = [name for name in names if not self._busy(name)]
        size = f"{len(group.nodes)} -> {len(group.nodes) - len(going)} nodes"
        try:
            if going:
                self._settle(lambda: cloud.remove(group.pool_id, going))
                self._journal.write(f"pool {group.pool}: {size}: {', '.join(going)} empty for {after}")
        except ScaleRefused as refused:
            self._journal.write(f"pool {group.pool}: {size} refused: {refused}")
            going = []
        for name in set(names) - set(going):
            self._take_back(name)

    def _busy(self, name: str) -> bool:
        """Whether a pod has come to a node by now, asked of the server itself."""
        found = self._api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={name}") or {"items": []}
        return not idle.empty([{"metadata": {"name": name}}], found["items"], set())

    def _release(self, nodes: list[Object]) -> None:
        """Give back what a killed process had chosen to remove."""
        for node in nodes:
            if any(taint["key"] == _GOING["key"] for taint in node["spec"].get("taints") or []):
                self._take_back(node["metadata"]["name"])

    def _take_back(self, name: str) -> None:
        taint: dict[str, Any] = {"$patch": "delete", "key": _GOING["key"]}
        self._api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [taint]}}, "strategic-merge")

    def _settle(self, change: Callable[[], None]) -> None:
        """Change the cloud; where its nodes could not follow, the next scan sees to them."""
        self._unsettled = True
        try:
            change()
        except ScaleRefused:
            self._unsettled = False
            raise
        self._unsettled = False

    def _tell_hopeless(self, found: Plan) -> None:
        by_reason: dict[str, list[str]] = {}
        for pod, why in found.hopeless.items():
            by_reason.setdefault(why, []).append(pod)
        lines = [f"no pool can grow for {journal.pods(names)}: {why}" for why, names in by_reason.items()]
        self._journal.state("hopeless", "\n".join(lines))


def _modified(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0
