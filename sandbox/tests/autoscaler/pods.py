"""Groups, pods and PodDisruptionBudgets of a recording as the autoscaler sees them."""

from collections.abc import Iterable, Sequence

from sandbox.autoscaler.fit import selects
from sandbox.autoscaler.neighbours import rules_of
from sandbox.autoscaler.shapes import amounts
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
    """Return a node group with these machines."""
    name, labels, capacity = told["name"], told["labels"], told["capacity"]
    spec = {"taints": list(told.get("taints", ()))}
    template = {"metadata": {"labels": labels}, "spec": spec, "status": {"allocatable": capacity}}
    gpus = Gpus(int(capacity[GPU])) if capacity.get(GPU) else None
    return NodeGroup(
        name, labels.get("agentpool", name), name, told["min"], told["max"], tuple(machines), template, gpus
    )


def body(batch: Object, uid: str, number: int) -> Object:
    """Return a waiting pod of a recording's list; `batch` keeps what a controller needs to make another."""
    labels, annotations = dict(batch.get("labels") or {}), dict(batch.get("annotations") or {})
    if batch.get("safeToEvict") is not None:
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = str(batch["safeToEvict"]).lower()
    owner = _OWNERS.get(str(batch.get("owner")).lower(), batch.get("owner"))
    name = "-".join(labels.values()) or "pod"
    spec = {key: batch[key] for key in _SPEC if batch.get(key) is not None}
    if batch.get("localStorage"):
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    container = {"resources": {"requests": batch["requests"]}, "ports": batch.get("ports") or []}
    if rules_of(batch.get("namespace", "default"), labels, {**spec, "containers": [container]}):
        raise ValueError("not understood: rules between pods, which the scheduler of a replay does not have")
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
    }


def about(pod: Object, who: str, groups: Sequence[str]) -> bool:
    """Return whether a word of a sentence means a pod: by a label, or by its node's group, with whose name the node's begins."""
    if not who or who in pod["metadata"]["labels"].values():
        return True
    return any(who in group and pod["spec"].get("nodeName", "").startswith(group) for group in groups)


def asks(pod: Object) -> dict[str, int]:
    """Return the requests of a pod."""
    return amounts(pod["spec"]["containers"][0]["resources"]["requests"])


def budgets(told: Iterable[Object], pods: Iterable[Object]) -> list[Object]:
    """Return PodDisruptionBudgets with the evictions that they allow now."""
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


def _priority(batch: Object) -> int:
    """Return the priority, of a class such as `batch-minus-11` too."""
    if isinstance(batch.get("priority"), int):
        return int(batch["priority"])
    _, minus, number = str(batch.get("priorityClass") or "").rpartition("minus-")
    return -int(number) if minus and number.isdigit() else 0
