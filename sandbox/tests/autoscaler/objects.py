"""Node groups and pods as the recorded scenarios have them, and scans without a cluster."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.scaler import Autoscaler
from sandbox.autoscaler.world import Decision, World
from sandbox.cloud.node_groups import Gpus, NodeGroup, ScaleRefused

Object = dict[str, Any]

SPOT_TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
SPOT = {**SPOT_TAINT, "operator": "Equal"}
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ONE_GPU = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
MACHINE = {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"}


def group(pool: str, most: int, taints: Sequence[Object] = (), **allocatable: str) -> NodeGroup:
    """Return a group at zero nodes; GPUs where its machine has some."""
    resources = {**MACHINE, **{name.replace("gpu", "nvidia.com/gpu"): value for name, value in allocatable.items()}}
    gpus = int(resources["nvidia.com/gpu"])
    labels = {"agentpool": pool} | ({SPOT["key"]: "spot"} if SPOT_TAINT in taints else {})
    name = f"aks-{pool}-12345678-vmss"
    node = {"metadata": {"labels": labels}, "spec": {"taints": list(taints)}, "status": {"allocatable": resources}}
    return NodeGroup(name, pool, f"/pools/{pool}", 0, most, (), node, Gpus(gpus) if gpus else None)


def spot(most: int) -> NodeGroup:
    return group("gpuspot", most, [SPOT_TAINT, GPU_TAINT])


def on_demand(most: int) -> NodeGroup:
    return group("gpuod", most, [GPU_TAINT])


def sized(of: NodeGroup, count: int) -> NodeGroup:
    """Return the group with so many machines."""
    return replace(of, nodes=tuple(f"{of.name}{number:06}" for number in range(count)))


def node(of: NodeGroup, name: str, *, ready: bool = True, **changes: Any) -> Object:
    """Return the object of one of a group's machines, as its template promises."""
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": name, "labels": of.template["metadata"]["labels"], **changes.get("metadata", {})},
        "spec": {**of.template["spec"], **changes.get("spec", {})},
        "status": {**of.template["status"], "conditions": conditions, **changes.get("status", {})},
    }


def pod(name: str, requests: Object | None = None, tolerations: Sequence[Object] = (), **spec: Any) -> Object:
    """Return an unschedulable pod, or a pod on the node `nodeName`."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {"containers": [{"resources": {"requests": requests or {}}}], "tolerations": list(tolerations), **spec},
        "status": {} if "nodeName" in spec else {"conditions": [condition]},
    }


def training(count: int, tolerations: Sequence[Object] = (SPOT, GPU), **spec: Any) -> list[Object]:
    """Return pods of one GPU each."""
    return [pod(f"train-{number}", ONE_GPU, tolerations, **spec) for number in range(count)]


class Cloud:
    """A cloud that grants everything, but for `full` pools, whose machines never come; keeps what was decided and asked."""

    def __init__(self, groups: Sequence[NodeGroup], full: str = "") -> None:
        self.groups, self.full = {each.name: each for each in groups}, full
        self.decisions: list[Decision] = []
        self.calls: list[tuple[str, Any]] = []
        self.refusing: set[str] = set()
        """Pods, by name, whose eviction is refused; nodes that a pod has come to."""

    def grow(self, group: NodeGroup, by: int) -> None:
        if group.pool == self.full:
            raise ScaleRefused("quota")
        self.groups[group.name] = sized(group, len(group.nodes) + by)

    def remove(self, group: NodeGroup, nodes: Collection[str]) -> None:
        if group.pool == self.full:
            raise ScaleRefused("locked")
        self.calls.append(("remove", sorted(nodes)))
        now = self.groups[group.name]
        self.groups[group.name] = replace(now, nodes=tuple(name for name in now.nodes if name not in nodes))

    def taint(self, nodes: Collection[str]) -> None:
        self.calls.append(("taint", sorted(nodes)))

    def untaint(self, nodes: Collection[str]) -> None:
        self.calls.append(("untaint", sorted(nodes)))

    def busy(self, node: str) -> bool:
        return node in self.refusing

    def evict(self, pod: Any, grace: float) -> bool:
        self.calls.append(("evict", (pod["metadata"]["name"], grace)))
        return pod["metadata"]["name"] not in self.refusing

    def tolerate(self, pod: Any, tolerations: Sequence[Any]) -> None:
        self.calls.append(("tolerate", (pod["metadata"]["name"], list(tolerations))))

    def decided(self, decision: Decision) -> None:
        self.decisions.append(decision)


EAGER = Options(pod_age=0, gpu_pod_age=0)
"""No pod is too young."""


def scanned(
    groups: Sequence[NodeGroup],
    pods: Sequence[Object],
    *,
    cloud: str = "azure",
    seed: int = 0,
    nodes: Sequence[Object] = (),
    **world: Any,
) -> tuple[Autoscaler, Cloud]:
    """Scan again and again until nothing is left to do; no machine joins meanwhile."""
    hands, scaler, now = Cloud(groups), Autoscaler(cloud, EAGER, Random(seed)), 0.0
    while True:
        grown = len(hands.decisions)
        scaler.scan(now, World(list(hands.groups.values()), nodes, pods, {}, **world), hands)
        if len(hands.decisions) == grown:
            return scaler, hands
        now += 1


def decisions(
    groups: Sequence[NodeGroup],
    pods: Sequence[Object],
    priorities: str | None = None,
    *,
    by: str = "priority",
    **world: Any,
) -> list[tuple[str, int, int]]:
    """Return the scale-ups as (pool, from, to) until nothing is left to do."""
    profile = {"expander": by, **world.pop("profile", {})}
    _, hands = scanned(groups, pods, profile=profile, priorities=priorities, **world)
    return [(each.pool, each.before, each.after) for each in hands.decisions if each.action == "scale-up"]


def hopeless(groups: Sequence[NodeGroup], pods: Sequence[Object], **world: Any) -> dict[str, str]:
    """Return the reasons why no pool helps pods, by the pods' names."""
    scaler, _ = scanned(groups, pods, **world)
    return {waiting.name: why for why, pods in scaler.growth.hopeless for waiting in pods}


PLAIN = sized(group("general", 6, gpu="0"), 2)
FIRST, SECOND = PLAIN.nodes
PROFILE = {"scaleDownUnneededTime": "60s", "scaleDownDelayAfterAdd": "60s", "scaleDownDelayAfterDelete": "0s"}
JOB = {"ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}]}


def running(name: str, on: str, cpu: str = "1", **metadata: Any) -> Any:
    """Return a running pod of a ReplicaSet."""
    body = pod(name, {"cpu": cpu}, nodeName=on)
    body["metadata"] = {**body["metadata"], **JOB, **metadata}
    body["spec"] |= metadata.pop("spec", {})
    return body


def budget(allowed: int, **labels: str) -> Any:
    return {
        "metadata": {"namespace": "default", "name": "b"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


class Steps:
    """Scans of one autoscaler at times of a test's choice; the cloud's machines are all ready, unless a scan names its nodes."""

    def __init__(
        self, *groups: NodeGroup, options: Options | None = None, cloud: str = "azure", full: str = "", **profile: str
    ) -> None:
        self.cloud = Cloud(groups, full)
        self.scaler = Autoscaler(cloud, options or Options(), Random(0))
        self.profile = {**PROFILE, **profile}
        self.next = 0.0
        """The time of the next scan, as the last one says."""
        self.nodes: dict[str, Any] = {}
        """Changed node objects by name."""

    def at(self, now: float, *pods: Any, nodes: Sequence[Object] | None = None, **world: Any) -> list[str]:
        """Scan once; return the names of the machines that are left."""
        groups = list(self.cloud.groups.values())
        if nodes is None:
            nodes = [self.nodes.get(name, node(each, name)) for each in groups for name in each.nodes]
        state = World(groups, nodes, pods, world.pop("since", {}), profile=self.profile, **world)
        self.next = self.scaler.scan(now, state, self.cloud)
        return [name for each in self.cloud.groups.values() for name in each.nodes]

    def over(self, *pods: Any, **world: Any) -> list[str]:
        """Return the machines that are left after minutes of the same pods."""
        left: list[str] = []
        for now in range(0, 200, 5):
            left = self.at(now, *pods, **world)
        return left

    def decided(self) -> list[tuple[float, str, str]]:
        return [(each.at, each.action, each.pool) for each in self.cloud.decisions]
