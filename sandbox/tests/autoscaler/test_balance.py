"""Similar pools, and how new nodes are shared among them."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.autoscaler.growth import Limits, Size, growth, shares, similar
from sandbox.autoscaler.snapshot import Snapshots
from sandbox.autoscaler.templates import Templates
from sandbox.autoscaler.world import World

from .objects import EAGER, GPU, ONE_GPU, Steps, group, pod, sized, training

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
