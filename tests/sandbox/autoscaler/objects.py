"""Node groups and pods as the recorded scenarios have them, and scans without a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from sandbox.cloud.node_groups import Gpus, NodeGroup
from sandbox.cluster.autoscaler import expander
from sandbox.cluster.autoscaler.plan import Picture, plan

Object = dict[str, Any]

SPOT_TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
SPOT = {**SPOT_TAINT, "operator": "Equal"}
GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
ONE_GPU = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
MACHINE = {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"}


def group(pool: str, most: int, taints: Sequence[Object] = (), **allocatable: str) -> NodeGroup:
    """A group at zero nodes; GPUs where its machine has some."""
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
    """The group with so many machines."""
    return replace(of, nodes=tuple(f"{of.name}{number:06}" for number in range(count)))


def node(of: NodeGroup, name: str, *, ready: bool = True, **changes: Any) -> Object:
    """The object of one of a group's machines, as its template promises."""
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": name, "labels": of.template["metadata"]["labels"], **changes.get("metadata", {})},
        "spec": {**of.template["spec"], **changes.get("spec", {})},
        "status": {**of.template["status"], "conditions": conditions, **changes.get("status", {})},
    }


def pod(name: str, requests: Object | None = None, tolerations: Sequence[Object] = (), **spec: Any) -> Object:
    """An unschedulable pod, or a pod on the node `nodeName`."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {"containers": [{"resources": {"requests": requests or {}}}], "tolerations": list(tolerations), **spec},
        "status": {} if "nodeName" in spec else {"conditions": [condition]},
    }


def training(count: int, tolerations: Sequence[Object] = (SPOT, GPU), **spec: Any) -> list[Object]:
    """Pods of one GPU each."""
    return [pod(f"train-{number}", ONE_GPU, tolerations, **spec) for number in range(count)]


def decisions(
    groups: Sequence[NodeGroup],
    pods: Sequence[Object],
    priorities: str | None = None,
    *,
    by: str = "priority",
    seed: int = 0,
    **picture: Any,
) -> list[tuple[str, int, int]]:
    """Results of scan after scan until nothing is left to do, as (pool, from, to); no machine joins meanwhile."""
    random, grown = Random(seed), []
    now = list(groups)
    nodes: Sequence[Object] = picture.pop("nodes", ())
    while (growth := plan(Picture(now, nodes, pods, **picture))).options:
        option, _ = expander.choose(by, growth.options, priorities, random)
        shares = growth.shares(option)
        grown += [(g.pool, len(g.nodes), len(g.nodes) + shares[g.name]) for g in now if g.name in shares]
        now = [sized(g, len(g.nodes) + shares.get(g.name, 0)) for g in now]
    return grown


def first(groups: Sequence[NodeGroup], pods: Sequence[Object], priorities: str | None = None, **more: Any) -> set[Any]:
    """All possible first decisions, from many random draws."""
    return {decisions(groups, pods, priorities, seed=seed, **more)[0] for seed in range(20)}
