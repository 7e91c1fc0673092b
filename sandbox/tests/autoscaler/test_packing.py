"""Pods that cannot be scheduled, free capacity, the nodes they need, and how similar pools share these."""

from typing import Any

import pytest

from sandbox.autoscaler.growth import Limits, Size, growth, shares, similar
from sandbox.autoscaler.snapshot import Snapshots
from sandbox.autoscaler.templates import Templates
from sandbox.autoscaler.world import World

from . import objects
from .objects import EAGER, GPU, ONE_GPU, SPOT, Steps, decisions, group, hopeless, node, pod, sized, spot, training

PLAIN = group("general", 6, gpu="0")


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
        ({"spec": {"nodeName": "there"}}, False),
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


SIMILAR = {"topology.kubernetes.io/zone": "westeurope-2", "kubernetes.azure.com/agentpool": "b", "agentpool": "b"}


def labelled(pool: str, most: int = 5, *, labels: Any = None, **resources: str) -> Any:
    labelled_group = group(pool, most, **resources)
    labelled_group.template["metadata"]["labels"] |= labels or {}
    return labelled_group


@pytest.mark.parametrize(
    ("labels", "resources", "same"),
    [
        (SIMILAR, {}, True),
        # Every pool that this project declares has this label.
        ({"kubeflow-spot.dev/pool": "b"}, {}, False),
        ({"gpu": "true"}, {}, False),
        (SIMILAR, {"memory": "15700Mi"}, True),
        (SIMILAR, {"memory": "15Gi"}, False),
        (SIMILAR, {"gpu": "2"}, False),
        (SIMILAR, {"cpu": "3900m"}, True),
    ],
)
def test_pools_are_similar(labels: Any, resources: dict[str, str], same: bool) -> None:
    first, second = labelled("a"), labelled("b", labels=labels, **resources)
    assert similar(first, second) == similar(second, first) == same


@pytest.mark.parametrize(
    ("resource", "amount", "same"), [("cpu", "3900m", False), ("memory", "16200Mi", True), ("memory", "15Gi", False)]
)
def test_machines_of_one_size_are_similar_however_much_of_them_is_kept_back(
    resource: str, amount: str, same: bool
) -> None:
    first, second = labelled("a"), labelled("b")
    for sized_group in (first, second):
        sized_group.template["status"]["capacity"] = {"cpu": "4", "memory": "16Gi"}
    second.template["status"]["capacity"][resource] = amount
    assert similar(first, second) == same


@pytest.mark.parametrize(
    ("sizes", "nodes", "expected"),
    [
        ([(0, 5), (0, 5)], 6, [3, 3]),
        ([(0, 5), (0, 5)], 5, [3, 2]),
        ([(4, 5), (1, 9)], 3, [0, 3]),
        ([(4, 5), (1, 9)], 5, [1, 4]),
        ([(0, 1), (0, 2), (0, 9)], 9, [1, 2, 6]),
        ([(2, 2)], 1, [0]),
    ],
)
def test_the_smallest_grows_first(sizes: list[tuple[int, int]], nodes: int, expected: list[int]) -> None:
    counts = shares([Size(str(number), now, most) for number, (now, most) in enumerate(sizes)], nodes)
    assert [counts.get(str(number), 0) for number in range(len(sizes))] == expected


def test_only_those_share_that_can_grow_and_take_all_the_pods() -> None:
    def sharing(*others: Any, pods: Any = None, **limits: Any) -> set[str]:
        groups = [labelled("a"), *others]
        snapshot = Snapshots(-10).take(0, World(groups, [], pods or training(2, [GPU]), {}))
        found = growth(groups, Templates(60).of(snapshot), snapshot.waiting, Limits(balanced=True, **limits))
        return {size.group for size in found.sharing["aks-a-12345678-vmss"]} - {"aks-a-12345678-vmss"}

    b = labelled("b")
    assert sharing(b) == {b.name}
    assert sharing(b, stopped={b.name: "left alone"}) == set()
    assert sharing(sized(b, 5)) == set()
    pinned = pod("pinned", ONE_GPU, [GPU], nodeSelector={"agentpool": "a"})
    assert sharing(b, pods=[pinned]) == set()
    assert sharing(b, pods=[pinned, *training(1, [GPU])]) == set()


def test_of_like_pools_one_that_is_refused_is_left_alone_and_the_other_takes_all() -> None:
    profile = {"expander": "random", "balanceSimilarNodeGroups": "true", "scaleDownUnneededTime": "10m"}
    steps = Steps(group("z1", 5), group("z2", 5), options=EAGER, full="z1", **profile)

    def sizes(now: float) -> list[int]:
        steps.at(now, *training(6, [GPU]), nodes=())
        return [len(each.nodes) for each in steps.cloud.groups.values()]

    # The first refusal ends the scale-up; which of the two is asked first is drawn.
    assert sizes(0) in ([0, 0], [0, 3])
    assert sizes(1) == [0, 5]
    steps.cloud.full = ""
    assert sizes(299) == [0, 5]
    assert sizes(301) == [1, 5]
    assert "shared among similar pools" in str(steps.cloud.decisions)


def test_labels_that_the_caller_ignores_do_not_count() -> None:
    first, second = labelled("a", labels={"team": "x"}), labelled("b", labels={"team": "y"})
    assert not similar(first, second)
    assert similar(first, second, frozenset({"team"}))
