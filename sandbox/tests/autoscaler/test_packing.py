"""Pods that cannot be scheduled, free capacity, and the nodes they need."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from sandbox.autoscaler.scaler import Autoscaler
from sandbox.autoscaler.world import World

from . import objects
from .objects import GPU, ONE_GPU, SPOT, decisions, group, node, pod, sized, spot, training

PLAIN = group("general", 6, gpu="0")


def hopeless(groups: Any, pods: Any, seed: int = 0) -> dict[str, str]:
    """Return the reasons why no pool helps pods, after one scan."""
    scaler = Autoscaler("azure", objects.EAGER, Random(seed))
    scaler.scan(0, World(groups, [], pods, {}), objects.Cloud(groups))
    return {waiting.name: why for why, pods in scaler.growth.hopeless for waiting in pods}


def test_pods_that_fit_an_existing_node_grow_nothing() -> None:
    pool = sized(PLAIN, 2)
    nodes = [node(pool, name) for name in pool.nodes]
    waiting = pod("one", {"cpu": "3"})
    assert decisions([pool], [waiting], nodes=nodes) == []
    taken = [pod(f"there-{n}", {"cpu": "2"}, nodeName=name) for n, name in enumerate(pool.nodes)]
    assert decisions([pool], [*taken, waiting], nodes=nodes) == [("general", 2, 3)]
    ended = [{**busy, "status": {"phase": "Succeeded"}} for busy in taken]
    assert decisions([pool], [*ended, waiting], nodes=nodes) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": {"unschedulable": True}},
        {"metadata": {"deletionTimestamp": "now"}},
        {"spec": {"taints": [{"key": "node.example.com/maintenance", "effect": "NoSchedule"}]}},
        {"spec": {"taints": [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]}},
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
    ],
)
def test_a_node_that_takes_no_pods_is_no_room(changes: Any) -> None:
    pool = sized(PLAIN, 1)
    # Another machine of the pool would take pods: this node's state does not count.
    ready = group("other", 0, gpu="0") if "maintenance" in str(changes) else pool
    nodes = [node(pool, pool.nodes[0], **changes)]
    assert decisions([pool, PLAIN] if ready is not pool else [pool], [pod("one", {"cpu": "1"})], nodes=nodes)


@pytest.mark.parametrize(
    ("key", "passes"),
    [
        ("startup-taint.cluster-autoscaler.kubernetes.io/cilium", True),
        ("ignore-taint.cluster-autoscaler.kubernetes.io/cilium", True),
        ("status-taint.cluster-autoscaler.kubernetes.io/cilium", True),
        ("node.cloudprovider.kubernetes.io/uninitialized", True),
        ("node.cilium.io/agent-not-ready", False),
        ("node.kubernetes.io/out-of-service", False),
    ],
)
def test_taints_of_a_nodes_start_are_not_its_pools(key: str, passes: bool) -> None:
    """utils/taints/taints.go, SanitizeTaints."""
    pool = group("general", 6, [{"key": key, "value": "", "effect": "NoSchedule"}], gpu="0")
    assert bool(decisions([pool], [pod("one", {"cpu": "1"})])) is passes


def test_a_template_is_like_an_existing_node() -> None:
    """With four replicas of a GPU one node takes four pods; at zero nodes only the machine's one GPU is known."""
    pool = sized(spot(4), 1)
    shared = {"allocatable": {**objects.MACHINE, "nvidia.com/gpu": "4", "cpu": "16"}}
    assert decisions([spot(4)], training(4)) == [("gpuspot", 0, 4)]
    busy = [pod(f"busy-{n}", ONE_GPU, [SPOT, GPU], nodeName=pool.nodes[0]) for n in range(4)]
    nodes = [node(pool, pool.nodes[0], status=shared)]
    assert decisions([pool], [*busy, *training(4)], nodes=nodes) == [("gpuspot", 1, 2)]


def test_a_node_on_its_way_out_is_no_model() -> None:
    """mixed_nodeinfos_processor.go, isNodeGoodTemplateCandidate: its DaemonSets' pods may be gone."""
    pool = sized(spot(4), 1)
    shared = {"allocatable": {**objects.MACHINE, "nvidia.com/gpu": "4", "cpu": "16"}}
    going = {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}
    nodes = [node(pool, pool.nodes[0], status=shared, spec=going)]
    assert decisions([pool], training(3), nodes=nodes) == [("gpuspot", 1, 4)]


def test_the_largest_pods_get_nodes_first() -> None:
    pods = [pod(name, {"cpu": cpu}) for name, cpu in (("a", "1"), ("b", "3"), ("c", "1"), ("d", "3"))]
    assert decisions([PLAIN], pods) == [("general", 0, 2)]


def test_a_pod_that_fits_no_pool_gets_the_reasons_and_other_pods_continue() -> None:
    pods = [
        pod("pinned", ONE_GPU, [GPU], nodeSelector={"agentpool": "gpuspot"}),
        pod("huge", {"cpu": "64"}),
        *training(1),
    ]
    assert decisions([spot(1), PLAIN], pods) == [("gpuspot", 0, 1)]
    assert hopeless([spot(1), PLAIN], pods) == {
        "default/pinned": "gpuspot: does not tolerate kubernetes.azure.com/scalesetpriority=spot:NoSchedule; general: selects "
        "agentpool=gpuspot",
        "default/huge": "gpuspot: does not tolerate kubernetes.azure.com/scalesetpriority=spot:NoSchedule; general: too little cpu",
    }


def test_a_pool_at_its_maximum_gives_the_reason() -> None:
    full = sized(group("general", 1, gpu="0"), 1)
    assert hopeless([full], [pod("one", {"cpu": "3"})]) == {"default/one": "general: at its most, 1 nodes"}


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, True),
        ({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}, False),
        ({"status": {"conditions": []}}, False),
        ({"status": {"nominatedNodeName": "there"}}, False),
        ({"metadata": {"deletionTimestamp": "now"}}, False),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet"}]}}, False),
        ({"metadata": {"ownerReferences": [{"kind": "Job"}]}}, True),
    ],
)
def test_pods_that_count(changes: Any, counts: bool) -> None:
    waiting = pod("one", ONE_GPU, [SPOT, GPU])
    waiting = {key: {**waiting[key], **changes.get(key, {})} for key in waiting}
    assert bool(decisions([spot(1)], [waiting])) is counts
