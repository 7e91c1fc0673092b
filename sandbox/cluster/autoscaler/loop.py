"""The autoscaler's loop: carries the decisions of the pure parts out in the emulated cloud and the cluster."""

import os
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

from sandbox.cloud.node_groups import NodeGroup, NodeGroups, ScalableCloud, ScaleRefused
from sandbox.cluster import plugins
from sandbox.cluster.autoscaler import devices, idle, journal
from sandbox.cluster.autoscaler.api import ApiServer, Mirror, Object
from sandbox.cluster.autoscaler.backoff import BackOff
from sandbox.cluster.autoscaler.behaviour import Aks, Behaviour, Gke
from sandbox.cluster.autoscaler.journal import Journal
from sandbox.cluster.autoscaler.plan import Picture, Plan, plan
from sandbox.cluster.autoscaler.upcoming import UpcomingNodes

_SCAN = 1.0  # seconds
_PROVISION_TIME = "15m"  # cluster-autoscaler's --max-node-provision-time, where the cloud's profile has none
# The autoscaler's own taint: no pod comes to a node between the decision and the removal.
_GOING = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Settings:
    """The command line of the process."""

    directory: Path
    """The control plane's folder."""
    port: int
    cloud: str
    """"azure" or "gcp"."""
    state: Path
    """The emulated cloud's memory."""
    cluster: str
    """The cluster's cloud id."""
    factor: float = 1.0
    """The divisor of the profile's times and of the back-off."""


class Loop:
    """The loop of one cluster. `cloud` opens the emulated cloud as it is now."""

    def __init__(self, settings: Settings, cloud: Callable[[], ScalableCloud]) -> None:
        self._settings, self._cloud = settings, cloud
        self._api = ApiServer(settings.directory, settings.port)
        self._changed, self.stopping = Event(), Event()
        paths = ("/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/daemonsets")
        self._mirrors = [Mirror(self._api, path, self._changed) for path in paths]
        by_class = plugins.plugin(settings.cloud).compute_classes
        self._behaviour: Behaviour = Gke(self._api, self._changed) if by_class else Aks(self._api)
        self._journal, self._idle, self._random = Journal(), idle.Idle(), Random()
        self._back_off, self._upcoming = BackOff(settings.factor), UpcomingNodes()
        self._seen_state = 0
        self._pending = True
        """Whether something waits: pods for nodes, empty nodes for their time, nodes for the API server."""
        self._unsettled = False
        """Whether a change of the cloud may have left the cluster's nodes behind."""
        self._first = True

    def run(self) -> None:
        """Scan until `stopping` is set, or the control plane's folder is gone."""
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
        """Whether anything changed, or something waits."""
        changed = self._changed.is_set()
        self._changed.clear()
        state = _modified(self._settings.state)
        moved, self._seen_state = state != self._seen_state, state
        return changed or moved or self._pending

    def _scan(self) -> bool:
        """One scan; whether another should follow at once."""
        self._pending = True  # until the end of this scan tells
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
        late = self._observe_upcoming(fleet, nodes, now)
        self._behaviour.admit(pods)
        limits = self._behaviour.limits(fleet)
        decided = plan(
            Picture(
                fleet.groups,
                nodes,
                pods,
                daemon_sets,
                self._back_off.groups(now),
                limits.barred,
                limits.hopeless,
                late,
                balanced=str(fleet.profile.get("balanceSimilarNodeGroups")) == "true",
            )
        )
        self._log_hopeless(decided)
        if decided.options:
            return self._grow(cloud, fleet, decided, now)
        return self._shrink(cloud, fleet, nodes, pods, decided, now)

    def _observe_upcoming(self, fleet: NodeGroups, nodes: list[Object], now: float) -> Set[str]:
        """The upcoming nodes that do not count any more; their groups back off."""
        limit = str(fleet.profile.get("maxNodeProvisionTime", _PROVISION_TIME))
        upcoming = self._upcoming.observe(now, fleet.groups, nodes, idle.seconds(limit))
        for name in upcoming.grew:
            self._back_off.grew(name)
        for group in fleet.groups:
            if group.name in upcoming.failed:
                self._back_off.failed(now, group.name)
                late = ", ".join(sorted(upcoming.late & set(group.nodes)))
                self._journal.write(f"pool {group.pool}: not ready after {limit}, left alone for a while: {late}")
        return upcoming.late

    def _report_devices(self, fleet: NodeGroups, nodes: list[Object], pods: list[Object]) -> None:
        """The kubelets' part: a node has the GPUs that its device plugin reports, and none without a plugin."""
        gpus = {name: group.gpus for group in fleet.groups if group.gpus for name in group.nodes}
        maps: dict[tuple[str, str], Mapping[str, str] | None] = {}

        def read(namespace: str, name: str) -> Mapping[str, str] | None:
            if (namespace, name) not in maps:
                config_map = self._api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
                maps[namespace, name] = None if config_map is None else config_map.get("data") or {}
            return maps[namespace, name]

        for node in nodes:
            name, capacity = node["metadata"]["name"], node["status"].get("capacity")
            if name not in gpus or not capacity:
                continue
            report = devices.report(node, pods, gpus[name], read)
            before = {key: str(value) for key, value in capacity.items() if key.startswith(devices.PREFIX)}
            after = dict.fromkeys(before, "0") | {key: str(value) for key, value in report.resources.items()}
            self._journal.state(name, f"node {name}: {report.why}" if report.why and not report.resources else "")
            if after != before:
                self._api.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": after, "allocatable": after}})
                shown = ", ".join(f"{key} {value}" for key, value in sorted(after.items()))
                self._journal.write(f"node {name}: {shown} ({report.why or 'no device plugin runs there'})")

    def _grow(self, cloud: ScalableCloud, fleet: NodeGroups, decided: Plan, now: float) -> bool:
        option, why = self._behaviour.choose(fleet, decided.options, self._random)
        shares = decided.shares(option)
        if len(shares) > 1:
            why = f"{why}; shared among similar pools"
        waiting = journal.pods([pod.name for pod in option.pods])
        groups = [group for group in fleet.groups if group.name in shares]
        # A refusal of one group does not spare the others the request.
        answers = [self._request(cloud, group, shares[group.name], waiting, why, now) for group in groups]
        return any(answers)

    def _request(self, cloud: ScalableCloud, group: NodeGroup, nodes: int, waiting: str, why: str, now: float) -> bool:
        """Request so many nodes more of a group; whether the cloud grants them."""
        size = f"{len(group.nodes)} -> {len(group.nodes) + nodes} nodes"
        try:
            self._settle(lambda: cloud.grow(group.pool_id, nodes))
        except ScaleRefused as refused:
            self._back_off.failed(now, group.name)
            self._journal.write(f"pool {group.pool}: {size} refused for {waiting}, left alone for a while: {refused}")
            return False
        self._idle.grown = now
        self._upcoming.requested(now, group)
        self._journal.write(f"pool {group.pool}: {size} for {waiting}: {why}")
        return True

    def _shrink(
        self,
        cloud: ScalableCloud,
        fleet: NodeGroups,
        nodes: list[Object],
        pods: list[Object],
        decided: Plan,
        now: float,
    ) -> bool:
        empty = idle.empty(nodes, pods, decided.needed)
        self._idle.observe(now, empty)
        groups = [group for group in fleet.groups if group.least is not None]
        for pool_id, ripe in self._idle.due(now, fleet.groups, fleet.profile, self._settings.factor).items():
            group = next(group for group in groups if group.pool_id == pool_id)
            self._remove(cloud, group, ripe, str(fleet.profile["scaleDownUnneededTime"]))
        spare = any(set(group.nodes) & empty and len(group.nodes) > (group.least or 0) for group in groups)
        self._pending = bool(spare or decided.hopeless or decided.needed)
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
            self._untaint(name)

    def _busy(self, name: str) -> bool:
        """Whether a pod has come to a node by now; the server itself knows."""
        listed = self._api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={name}") or {"items": []}
        return not idle.empty([{"metadata": {"name": name}}], listed["items"], set())

    def _release(self, nodes: list[Object]) -> None:
        """Keep the nodes that a killed process had chosen to remove."""
        for node in nodes:
            if any(taint["key"] == _GOING["key"] for taint in node["spec"].get("taints") or []):
                self._untaint(node["metadata"]["name"])

    def _untaint(self, name: str) -> None:
        taint: dict[str, Any] = {"$patch": "delete", "key": _GOING["key"]}
        self._api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [taint]}}, "strategic-merge")

    def _settle(self, change: Callable[[], None]) -> None:
        """Change the cloud; where the cluster's nodes could not follow, the next scan applies them."""
        self._unsettled = True
        try:
            change()
        except ScaleRefused:
            self._unsettled = False
            raise
        self._unsettled = False

    def _log_hopeless(self, decided: Plan) -> None:
        by_reason: dict[str, list[str]] = {}
        for pod, why in decided.hopeless.items():
            by_reason.setdefault(why, []).append(pod)
        lines = [f"no pool can grow for {journal.pods(names)}: {why}" for why, names in by_reason.items()]
        self._journal.state("hopeless", "\n".join(lines))


def _modified(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0
