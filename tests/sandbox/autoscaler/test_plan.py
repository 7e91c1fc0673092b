"""Pods that cannot be scheduled, free capacity, and the nodes they need."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.cluster.autoscaler.plan import Picture, plan, unschedulable

from .objects import (
    GPU,
    MACHINE,
    ONE_GPU,
    SPOT,
    decisions,
    group,
    node,
    on_demand,
    pod,
    sized,
    spot,
    training,
)

PLAIN = group("general", 6, gpu="0")


def test_cpu_pods_without_tolerations_never_grow_a_gpu_pool() -> None:
    pods = [pod(f"step-{n}", {"cpu": "3"}) for n in range(8)]
    assert decisions([spot(8), on_demand(8), PLAIN], pods) == [("general", 0, 6)]
    assert decisions([spot(8), on_demand(8)], pods) == []


def test_pods_that_fit_an_existing_node_grow_nothing_and_need_that_node() -> None:
    pool = sized(PLAIN, 2)
    nodes = [node(pool, name) for name in pool.nodes]
    growth = plan(Picture([pool], nodes, [pod("one", {"cpu": "3"})]))
    assert (growth.options, growth.needed) == ([], {pool.nodes[0]})
    taken = [pod(f"there-{n}", {"cpu": "2"}, nodeName=name) for n, name in enumerate(pool.nodes)]
    assert [option.nodes for option in plan(Picture([pool], nodes, [*taken, pod("one", {"cpu": "3"})])).options] == [1]
    ended = [{**busy, "status": {"phase": "Succeeded"}} for busy in taken]
    assert plan(Picture([pool], nodes, [*ended, pod("one", {"cpu": "3"})])).options == []


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": {"unschedulable": True}},
        {"metadata": {"deletionTimestamp": "now"}},
        {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}},
        {"spec": {"taints": [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]}},
    ],
)
def test_a_node_that_takes_no_pods_is_no_room(changes: Any) -> None:
    pool = sized(PLAIN, 1)
    nodes = [node(pool, pool.nodes[0], **changes)]
    # Another machine of the pool would take pods: this node's state does not count.
    growth = plan(Picture([pool], nodes, [pod("one", {"cpu": "1"})]))
    assert [option.nodes for option in growth.options] == [1]


def test_a_machine_that_is_not_ready_yet_will_have_what_its_pool_has() -> None:
    pool = sized(PLAIN, 1)
    nodes = [node(pool, pool.nodes[0], ready=False, status={"allocatable": {}})]
    assert plan(Picture([pool], nodes, [pod("one", {"cpu": "3"})])).needed == {pool.nodes[0]}


def test_a_template_is_like_an_existing_node() -> None:
    """With four replicas of a GPU one node takes four pods; at zero nodes only the machine's one GPU is known."""
    pool = sized(spot(4), 1)
    shared = {"allocatable": {**MACHINE, "nvidia.com/gpu": "4", "cpu": "16"}}
    assert decisions([spot(4)], training(4)) == [("gpuspot", 0, 4)]
    busy = training(4, nodeName=pool.nodes[0])
    nodes = [node(pool, pool.nodes[0], status=shared)]
    assert decisions([pool], [*busy, *training(4)], nodes=nodes) == [("gpuspot", 1, 2)]


def test_the_largest_pods_get_nodes_first() -> None:
    pods = [pod(name, {"cpu": cpu}) for name, cpu in (("a", "1"), ("b", "3"), ("c", "1"), ("d", "3"))]
    (option,) = plan(Picture([PLAIN], [], pods)).options
    assert (option.nodes, len(option.pods)) == (2, 4)


def test_a_pod_that_fits_no_pool_gets_the_reasons_and_other_pods_continue() -> None:
    pods = [
        pod("pinned", ONE_GPU, [GPU], nodeSelector={"agentpool": "gpuspot"}),
        pod("huge", {"cpu": "64"}),
        *training(1),
    ]
    growth = plan(Picture([spot(1), sized(on_demand(1), 1), PLAIN], [], pods, backed_off={PLAIN.name}))
    assert [option.pool for option in growth.options] == []
    growth = plan(Picture([spot(1), PLAIN], [], pods))
    assert [option.pool for option in growth.options] == ["gpuspot"]
    assert growth.hopeless == {
        "default/pinned": "gpuspot: does not tolerate kubernetes.azure.com/scalesetpriority=spot:NoSchedule; general: selects "
        "agentpool=gpuspot",
        "default/huge": "gpuspot: does not tolerate kubernetes.azure.com/scalesetpriority=spot:NoSchedule; general: too little cpu",
    }


def test_a_pool_at_its_maximum_or_backed_off_gives_the_reason() -> None:
    growth = plan(Picture([sized(PLAIN, 6)], [], [pod(f"step-{n}", {"cpu": "3"}) for n in range(7)]))
    assert growth.hopeless == {"default/step-6": "general: at its most, 6 nodes"}
    growth = plan(Picture([PLAIN], [], [pod("one", {"cpu": "3"})], backed_off={PLAIN.name}))
    assert growth.hopeless == {"default/one": "general: left alone because it could not grow"}


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, True),
        ({"spec": {"nodeName": "there"}}, False),
        ({"spec": {"priority": -11}}, False),
        ({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}, False),
        ({"status": {"conditions": []}}, False),
        ({"metadata": {"deletionTimestamp": "now"}}, False),
        ({"metadata": {"ownerReferences": [{"kind": "DaemonSet"}]}}, False),
        ({"metadata": {"ownerReferences": [{"kind": "Job"}]}}, True),
    ],
)
def test_pods_that_count(changes: Any, counts: bool) -> None:
    waiting = pod("one", ONE_GPU, [SPOT])
    assert unschedulable({key: {**waiting[key], **changes.get(key, {})} for key in waiting}) is counts


def test_a_pod_for_which_others_are_preempted_has_its_node() -> None:
    waiting = pod("one", ONE_GPU)
    waiting["status"]["nominatedNodeName"] = "there"
    assert not unschedulable(waiting)
