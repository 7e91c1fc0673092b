"""The nodes of a drill: how they join, report their GPUs, and end, by the drill's clock."""

from collections.abc import Mapping
from functools import partial

from drill.play.clock import Clock
from drill.play.kubelet import Kubelets, of_daemon_set
from drill.play.machines import Machines
from drill.play.observed import Observed
from drill.play.outages import READY, SILENT, Outages
from drill.play.settling import Settling
from drill.play.upgrades import Upgrades
from drill.world import record, scenario
from drill.world.node_groups import applies, node_name
from sandbox.autoscaler import devices
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.kubernetes.client import Client, Object

PLUGIN = 10.0
"""Seconds from a device plugin's start until the node reports its GPUs. Assumed."""
SCANNED = 12.0
"""Seconds from taint to cordon with the fault `scanBeforeCordon`: enough for a scan every 10 s.

A node that was tainted for so long became its pool's template for good (cluster-autoscaler 1.36.1).
"""
_DRAIN = 600.0
"""The longest grace of a pod in an upgrade's drain, in seconds."""

# Taints of a stopped machine, from the cloud's controller of nodes and from the node controller.
_STOPPED = {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"}
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class Nodes:
    """The nodes of one cluster."""

    def __init__(
        self,
        clock: Clock,
        observed: Observed,
        client: Client,
        machines: Machines,
        settling: Settling,
        facts: SpotFacts,
        version: str = "",
    ) -> None:
        """`version` is the kubelets', such as 1.36.2."""
        self._version = version
        self._clock, self._observed, self._client = clock, observed, client
        self._machines, self._settling, self._facts = machines, settling, facts
        self._pools: dict[str, str] = {}
        self._maps: dict[tuple[str, str], Mapping[str, str] | None] = {}
        self.kubelets = Kubelets(clock, observed, self._pools, machines.reach)
        machines.order = lambda node: (self.kubelets.work_on(node_name(node)), node.name)
        self._outages = Outages(
            *(clock, observed, machines, self.kubelets, self._patch_node),
            *(lambda name, taint, on: self.set_taint(name, taint, on=on), self._pods_on),
        )
        self._upgrades = Upgrades(
            *(clock, machines, facts, self._drain_for_upgrade, self._give_notice),
            lambda name: self.end_node(name, "drained"),
        )

    def join(self, body: Object) -> None:
        """Register a machine as a node that is Ready and has no GPUs yet."""
        name = body["metadata"]["name"]
        node = self._registered(name)
        if not self._machines.group(node.pool).gpus:
            self._is_ready(name)
        status = {"nodeInfo": {"kubeletVersion": f"v{self._version}"}, **body["status"]}
        whole = {**body, "status": {**status, "conditions": [*status.get("conditions", []), READY]}}

        def send(client: Client) -> Object:
            client.create(whole)
            # The node controller removes the taint of new nodes once the node is Ready.
            taints = body["spec"].get("taints") or None
            return client.patch("v1", "Node", name, None, {"spec": {"taints": taints}})

        self._observed.request(send, in_turn=True)

    def adopt(self, name: str) -> None:
        """Make a node Ready, with its GPUs, that the cluster has already."""
        self._registered(name)
        self._is_ready(name)
        self._patch_node(name, {"status": {"conditions": [READY]}}, "status")
        self.set_taint(name, _NOT_READY, on=False)

    def _registered(self, name: str) -> record.Node:
        node = self._machines.nodes[name]
        node.registered = self._clock.now
        self._pools[name], self.kubelets.names[name] = node.pool, node.name
        return node

    def _is_ready(self, name: str) -> None:
        self._machines.nodes[name].ready = self._clock.now
        self._upgrades.went_on(name)

    def plugin(self, pod: Object) -> None:
        """Let a node report its GPUs when a DaemonSet's pod runs: it may be the device plugin."""
        node, phase = pod["spec"].get("nodeName"), (pod.get("status") or {}).get("phase")
        if not node or phase != "Running" or not of_daemon_set(pod):
            return
        own = self._machines.nodes.get(node)
        if own is None or own.ready is not None or own.registered is None:
            return
        late = self._machines.fault("late_plugin", self._machines.group(own.pool))
        self._clock.after(PLUGIN + (late.seconds if late else 0.0), lambda: self._report_gpus(node))

    def _report_gpus(self, name: str) -> None:
        own = self._machines.nodes.get(name)
        known = self._settling.nodes.get(name)
        body = known.body if known else None
        if own is None or body is None or own.ready is not None:
            return
        if name in self.kubelets.silent:
            self.kubelets.silent[name].append(lambda: self._report_gpus(name))
            return
        gpus = self._machines.group(own.pool).gpus
        assert gpus is not None
        pods = [self.kubelets.lives[uid].pod for uid in self.kubelets.on_node.get(name, ())]
        found = devices.report(_older(body), pods, gpus, self._map)
        if not found.resources:
            return
        self._is_ready(name)
        amounts = {key: str(value) for key, value in found.resources.items()}
        self._patch_node(name, {"status": {"capacity": amounts, "allocatable": amounts}}, "status")

    def _map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        if (namespace, name) not in self._maps:
            found = self._client.get("v1", "ConfigMap", name, namespace)
            self._maps[namespace, name] = None if found is None else found.get("data") or {}
        return self._maps[namespace, name]

    def busy(self, node: str) -> bool:
        """Return whether a node has a pod that belongs to no DaemonSet."""
        return bool(self._pods_on(node))

    def evict_pod(self, pod: Object, grace: float, why: record.PodEnd) -> None:
        """Ask for a pod's eviction with the next requests; a PodDisruptionBudget may forbid it."""
        metadata = pod["metadata"]

        def send(client: Client) -> Object | None:
            self._evict_by(client, pod, grace, why)
            return client.get("v1", "Pod", metadata["name"], metadata["namespace"])

        self._observed.request(send, missing=True)

    def evict_now(self, pod: Object, grace: float, why: record.PodEnd) -> bool:
        """Evict a pod at once; return whether the PodDisruptionBudgets allow it."""
        return self._evict_by(self._client, pod, grace, why)

    def _evict_by(self, client: Client, pod: Object, grace: float, why: record.PodEnd) -> bool:
        """Evict a pod with at most so many seconds to end; return whether this is allowed."""
        metadata, seconds = pod["metadata"], int(_grace(pod, grace))
        allowed = client.evict(metadata["name"], metadata["namespace"], seconds)
        life = self.kubelets.lives.get(pod["metadata"]["uid"])
        if allowed and life and life.ending is None:
            life.ending = why
        return allowed

    def evict(self, node: record.Node, *, notice: bool = True) -> None:
        """Evict a machine: the cloud takes it back."""
        name = node_name(node)
        if name not in self._machines.nodes or node.noticed is not None:
            return
        node.noticed = self._clock.now
        if not notice or node.registered is None:
            self._take(name)
            return
        self._give_notice(name)
        self._clock.after(self._facts.notice, lambda: self._take(name))

    def _give_notice(self, name: str) -> None:
        self.kubelets.leaving[name] = "evicted"
        if self._facts.reaction < self._facts.notice:
            self._clock.after(self._facts.reaction, lambda: self._notice(name))

    def _notice(self, name: str) -> None:
        """Taint a node at the cloud's notice, and send SIGTERM to its pods."""
        if name not in self._machines.nodes:
            return
        end = self._clock.now + self._facts.notice - self._facts.reaction
        condition = self._facts.condition.as_object(f"{end:.0f} s")
        self.set_taint(name, self._facts.taint.as_object(), on=True)
        self._patch_node(name, {"status": {"conditions": [condition]}}, "status")
        if self._facts.pods == "deleted":
            group = self._machines.group(self._machines.nodes[name].pool)
            late = SCANNED if self._machines.fault("scan_before_cordon", group) else 0.0
            self._clock.after(late, lambda: self._drain(name, "evicted", self._facts.grace - late))
            return
        disruption = self._facts.disruption.as_object()
        for pod in self._pods_on(name):
            uid = pod["metadata"]["uid"]
            ends = self.kubelets.tell(uid, _grace(pod, self._facts.grace))
            self._clock.after(ends, partial(self.kubelets.terminate, uid, disruption))

    def _pods_on(self, name: str) -> list[Object]:
        """List the pods on a node that have not ended and belong to no DaemonSet."""
        lives = [self.kubelets.lives[uid] for uid in sorted(self.kubelets.on_node.get(name, ()))]
        pods = [life.pod for life in lives if life.record.ended is None]
        return [pod for pod in pods if not of_daemon_set(pod)]

    def _drain(self, name: str, why: record.PodEnd, grace: float) -> None:
        """Cordon a node and evict its pods."""
        if name not in self._machines.nodes:
            return
        self._patch_node(name, {"spec": {"unschedulable": True}})
        for pod in self._pods_on(name):
            self.evict_pod(pod, grace, why)

    def _take(self, name: str) -> None:
        if name not in self._machines.nodes:
            return
        if self._machines.stays(name):
            self._machines.gone([name], "evicted")
            self.kubelets.lost(name)
            self.set_taint(name, _STOPPED, on=True)
            self._patch_node(name, {"status": {"conditions": [SILENT]}}, "status")
            self._upgrades.went_on(name)
            return
        self._machines.lose([name], "evicted")
        self.end_node(name, "evicted")

    def end_node(self, name: str, why: record.PodEnd) -> None:
        """Delete the node of a lost machine."""
        self.kubelets.leaving.setdefault(name, why)
        self.kubelets.lost(name)
        self._observed.request(lambda client: client.delete("v1", "Node", name), missing=True)
        self._upgrades.went_on(name)

    def _nodes_at(self, place: scenario.Place) -> list[record.Node]:
        registered = [node for node in self._machines.nodes.values() if node.registered is not None]
        nodes = [node for node in registered if applies(place, self._machines.group(node.pool))]
        return nodes if place.nodes == "all" else nodes[: place.nodes]

    def unready(self, place: scenario.Place, *, ready: bool) -> None:
        """Silence the kubelets of nodes, or let them answer again."""
        if ready:
            self._outages.end(id(place))
        else:
            self._outages.begin(id(place), self._nodes_at(place))

    def _patch_node(self, name: str, change: Object, part: str = "") -> None:
        self._observed.request(
            lambda client: client.patch("v1", "Node", name, None, change, part), missing=True
        )

    def set_taint(self, name: str, taint: Object, *, on: bool) -> None:
        """Give a node a taint, or take it away."""

        def send(client: Client) -> Object | None:
            node = client.get("v1", "Node", name)
            if node is None:
                return None
            taints = [
                each for each in node["spec"].get("taints") or [] if each["key"] != taint["key"]
            ]
            change = {"spec": {"taints": [*taints, taint] if on else taints}}
            return client.patch("v1", "Node", name, None, change)

        self._observed.request(send, missing=True)

    def upgrade(self, place: scenario.Place) -> None:
        """Replace nodes one after the other, each when the one before is back."""
        self._upgrades.begin(self._nodes_at(place))

    def _drain_for_upgrade(self, name: str) -> None:
        self._drain(name, "drained", _DRAIN)
        self.kubelets.leaving[name] = "drained"


def _grace(pod: Object, most: float) -> float:
    """Return the seconds from SIGTERM to SIGKILL: what a pod asks for, but at most `most`."""
    own = pod["spec"].get("terminationGracePeriodSeconds")
    return min(most, 30.0 if own is None else float(own))


def _older(node: Object) -> Object:
    """Return a node that is older than every pod: real times are not of the drill's clock."""
    return {**node, "metadata": {**node["metadata"], "creationTimestamp": "2000-01-01T00:00:00Z"}}
