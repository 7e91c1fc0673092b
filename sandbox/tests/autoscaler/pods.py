"""Groups, pods and PodDisruptionBudgets of a recording as the autoscaler sees them, and rules between pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sandbox.autoscaler.fit import selects
from sandbox.autoscaler.fitting import Fitting
from sandbox.autoscaler.neighbours import Tally, Terms, rules_of
from sandbox.autoscaler.rooms import Room
from sandbox.autoscaler.shapes import Shape, amounts
from sandbox.cloud.node_groups import Gpus, NodeGroup

from .script import Object

GPU = "nvidia.com/gpu"
_OWNERS = {"job": "Job", "replicaset": "ReplicaSet", "statefulset": "StatefulSet"}
_SPEC = (
    "affinity",
    "tolerations",
    "nodeSelector",
    "volumes",
    "terminationGracePeriodSeconds",
    "topologySpreadConstraints",
)


def group(told: Object, machines: Sequence[str]) -> NodeGroup:
    """A node group with these machines."""
    name, labels, capacity = told["name"], told["labels"], told["capacity"]
    spec = {"taints": list(told.get("taints", ()))}
    template = {"metadata": {"labels": labels}, "spec": spec, "status": {"allocatable": capacity}}
    gpus = Gpus(int(capacity[GPU])) if capacity.get(GPU) else None
    return NodeGroup(
        name, labels.get("agentpool", name), name, told["min"], told["max"], tuple(machines), template, gpus
    )


def body(batch: Object, uid: str, number: int) -> Object:
    """A waiting pod of a recording's list; `batch` keeps what a controller needs to make another."""
    labels, annotations = dict(batch.get("labels") or {}), dict(batch.get("annotations") or {})
    if batch.get("safeToEvict") is not None:
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = str(batch["safeToEvict"]).lower()
    owner = _OWNERS.get(str(batch.get("owner")).lower(), batch.get("owner"))
    name = "-".join(labels.values()) or "pod"
    spec = {key: batch[key] for key in _SPEC if batch.get(key) is not None}
    if batch.get("localStorage"):
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    container = {"resources": {"requests": batch["requests"]}, "ports": batch.get("ports") or []}
    return {
        "metadata": {
            "uid": uid,
            "name": f"{name}-{number}",
            "namespace": batch.get("namespace", "default"),
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [{"kind": owner, "name": name, "uid": name, "controller": True}] if owner else [],
        },
        "spec": {**spec, "containers": [container], "priority": _priority(batch)},
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
        "batch": batch,
        "rules": rules_of(batch.get("namespace", "default"), labels, {**spec, "containers": [container]}),
    }


def about(pod: Object, who: str, groups: Sequence[str]) -> bool:
    """Whether a word of a sentence means a pod: by a label, or by the group of its node, whose name begins with the group's."""
    if not who or who in pod["metadata"]["labels"].values():
        return True
    return any(who in group and pod["spec"].get("nodeName", "").startswith(group) for group in groups)


def asks(pod: Object) -> dict[str, int]:
    """The requests of a pod."""
    return amounts(pod["spec"]["containers"][0]["resources"]["requests"])


def budgets(told: Iterable[Object], pods: Iterable[Object]) -> list[Object]:
    """PodDisruptionBudgets with the evictions that they allow now."""
    found, existing = [], list(pods)
    for budget in told:
        selector = budget.get("selector") or budget.get("labels") or budget.get("matchLabels") or {}
        if not {"matchLabels", "matchExpressions"} & selector.keys():
            selector = {"matchLabels": selector}
        matching = [pod for pod in existing if selects(selector, pod["metadata"]["labels"])]
        running = sum(1 for pod in matching if pod["spec"].get("nodeName"))
        allowed = running - int(budget["minAvailable"]) if "minAvailable" in budget else 0
        if "maxUnavailable" in budget:
            allowed = int(budget["maxUnavailable"]) - (len(matching) - running)
        metadata = {"name": budget.get("name", "budget"), "namespace": budget.get("namespace", "default")}
        status = {"disruptionsAllowed": max(0, allowed)}
        found.append({"metadata": metadata, "spec": {"selector": selector}, "status": status})
    return found


def refusals(pod: Object, nodes: Mapping[str, Object], pods: Mapping[str, Object]) -> Callable[[str], str]:
    """The reason why other pods keep a pod from a node, by the node's name; empty where they do not. No pods: none has rules."""
    if not pods:
        return lambda name: ""
    terms = Terms()
    for each in pods.values():
        if each["rules"] is not None:
            terms.learn(each["rules"])
    rooms = {
        name: Room(name, body["metadata"]["labels"], body["spec"]["taints"], {}, tally=Tally())
        for name, body in nodes.items()
    }
    for each in pods.values():
        bonds, room = terms.bonds(each["rules"], *_described(each)), rooms.get(each["spec"].get("nodeName", ""))
        if room is not None and room.tally is not None and bonds is not None:
            room.tally.add(bonds)
    bonds = terms.bonds(pod["rules"], *_described(pod))
    fitting = Fitting(Shape(pod["spec"], bonds), rooms.values())

    def refusal(name: str) -> str:
        tally = rooms[name].tally
        taken = tally is not None and bonds is not None and tally.blocks(bonds.rules.ports)
        return "its host port is taken" if taken else fitting.refusal(rooms[name])

    return refusal


def _described(pod: Object) -> tuple[str, dict[str, str]]:
    return pod["metadata"]["namespace"], pod["metadata"]["labels"]


def _priority(batch: Object) -> int:
    """The priority, of a class such as `batch-minus-11` too."""
    if isinstance(batch.get("priority"), int):
        return int(batch["priority"])
    _, minus, number = str(batch.get("priorityClass") or "").rpartition("minus-")
    return -int(number) if minus and number.isdigit() else 0
