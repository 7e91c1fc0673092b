"""The autoscaler's loop in a live sandbox: each scan sees the emulated cloud and the cluster as they are now."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event

from sandbox.autoscaler import devices, expander, journal, status_map
from sandbox.autoscaler.api import ApiServer, Mirror, Object
from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.journal import Journal
from sandbox.autoscaler.live import LiveHands
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.autoscaler.status_map import Status
from sandbox.autoscaler.world import World
from sandbox.cloud.node_groups import NodeGroups, ScalableCloud
from sandbox.cluster import plugins

_SCAN = 1.0  # seconds
_CONFIG_MAP = f"/api/v1/namespaces/kube-system/configmaps/{expander.CONFIG_MAP}"
_COMPUTE_CLASSES = "/apis/cloud.google.com/v1/computeclasses"


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
    provisioner: bool = False
    """Whether another program makes nodes: no autoscaler runs beside it."""


class Loop:
    """The loop of one cluster. `cloud` opens the emulated cloud as it is now."""

    def __init__(self, settings: Settings, cloud: Callable[[], ScalableCloud]) -> None:
        self._settings, self._cloud = settings, cloud
        self._api = ApiServer(settings.directory, settings.port)
        self._changed, self.stopping = Event(), Event()
        paths = ("/api/v1/nodes", "/api/v1/pods", "/apis/apps/v1/daemonsets")
        self._mirrors = [Mirror(self._api, path, self._changed) for path in paths]
        self._classes: Mirror | None = None
        if plugins.plugin(settings.cloud).compute_classes:
            self._classes = Mirror(self._api, _COMPUTE_CLASSES, self._changed)
        self._status = Status(self._api) if plugins.plugin(settings.cloud).autoscaler_status else None
        self._journal = Journal()
        self._hands = LiveHands(self._api, settings.cluster, self._journal)
        self._scaler = Autoscaler(settings.cloud, Options.live(settings.factor), Random())
        self._since: dict[str, float] = {}
        """When this process first saw a node or pod, by uid."""
        self._seen_state = 0
        self._pending = True
        """Whether something waits: pods for nodes, empty nodes for their time, nodes for the API server."""

    def run(self) -> None:
        """Scan until `stopping` is set, or the control plane's folder is gone."""
        for mirror in [*self._mirrors, *filter(None, [self._classes])]:
            mirror.start()
        while not self.stopping.is_set() and self._settings.directory.exists():
            pause = _SCAN
            try:
                if self._due():
                    pause = self._scan()
                self._journal.state("trouble", "")
            except Exception as error:  # an API server that is restarted, a full disk: the next scan may be better
                self._journal.state("trouble", f"scan failed: {type(error).__name__}: {error}")
            self.stopping.wait(pause)

    def _due(self) -> bool:
        """Return whether anything changed, or something waits."""
        changed = self._changed.is_set()
        self._changed.clear()
        state = _modified(self._settings.state)
        moved, self._seen_state = state != self._seen_state, state
        return changed or moved or self._pending

    def _scan(self) -> float:
        """Scan once; return the seconds until the next scan."""
        self._pending = True  # until the end of this scan tells
        nodes, pods, daemon_sets = (mirror.objects() for mirror in self._mirrors)
        if nodes is None or pods is None or daemon_sets is None:
            return _SCAN
        cloud = self._cloud()
        self._hands.settle(cloud)
        fleet = cloud.node_groups(self._settings.cluster)
        self._report_devices(fleet, nodes, pods)
        if self._settings.provisioner:
            self._pending = False
            return _SCAN
        now = time.monotonic()
        uids = [str(item["metadata"].get("uid")) for item in (*nodes, *pods)]
        self._since = {uid: self._since.get(uid, now) for uid in uids}
        classes = (self._classes.objects() or ()) if self._classes else ()
        priorities = self._priorities(fleet, pods)
        world = World(fleet.groups, nodes, pods, self._since, daemon_sets, (), fleet.profile, priorities, classes)
        upcoming = self._scaler.scan(now, world, self._hands)
        written = not self._status or self._status.write(
            status_map.document(fleet.groups, nodes, self._scaler.backed_off(now))
        )
        self._log_hopeless()
        self._pending = self._scaler.wakes() < float("inf") or not written
        return min(_SCAN, max(0.0, upcoming - now))

    def _priorities(self, fleet: NodeGroups, pods: list[Object]) -> str | None:
        """Return the text of the priority expander's ConfigMap, where a scan may need it."""
        if fleet.profile.get("expander") != "priority" or all(pod["spec"].get("nodeName") for pod in pods):
            return None
        data: Mapping[str, str] = (self._api.get(_CONFIG_MAP) or {}).get("data") or {}
        return data.get("priorities")

    def _report_devices(self, fleet: NodeGroups, nodes: list[Object], pods: list[Object]) -> None:
        """Play the kubelets' part: a node has the GPUs that its device plugin reports, and none without a plugin."""
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

    def _log_hopeless(self) -> None:
        lines = [
            f"no pool can grow for {journal.pods([pod.name for pod in pods])}: {why}"
            for why, pods in self._scaler.growth.hopeless
        ]
        self._journal.state("hopeless", "\n".join(lines))


def _modified(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0
