"""The pool that grows on GKE: the order of a ComputeClass, and the cheapest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.gke import KEY, requested, tolerations
from sandbox.autoscaler.gke_figures import FIGURES
from sandbox.cloud.node_groups import NodeGroup

from .objects import EAGER, GPU, GPU_TAINT, ONE_GPU, Cloud, Steps, budget, group, hopeless, pod, scanned, sized

CLASS = "kubeflow-spot"
CLASS_TAINT = {"key": KEY, "value": CLASS, "effect": "NoSchedule"}
IN_CLASS = {"key": KEY, "operator": "Equal", "value": CLASS, "effect": "NoSchedule"}
ASKS: Any = {"nodeSelector": {KEY: CLASS}}


def pool(name: str, most: int = 4, *, spot: bool = False, of_class: str = "", **resources: str) -> NodeGroup:
    """Return a GPU pool, unless it has `gpu="0"`."""
    sized_group = group(name, most, [], **resources)
    labels = {"cloud.google.com/gke-nodepool": name} | ({"cloud.google.com/gke-spot": "true"} if spot else {})
    taints = [GPU_TAINT] if sized_group.gpus else []
    if of_class:
        labels[KEY] = of_class
        taints.append({**CLASS_TAINT, "value": of_class})
    template = {**sized_group.template, "metadata": {"labels": labels}, "spec": {"taints": taints}}
    return replace(sized_group, template=template)


def a_class(*rules: Sequence[str], name: str = CLASS, **spec: Any) -> Any:
    return {"metadata": {"name": name}, "spec": {"priorities": [{"nodepools": list(rule)} for rule in rules], **spec}}


def training(count: int, **spec: Any) -> list[Any]:
    return [pod(f"train-{n}", ONE_GPU, [GPU, IN_CLASS] if spec else [GPU], **spec) for n in range(count)]


def decisions(groups: Sequence[NodeGroup], pods: Sequence[Any], *classes: Any, seed: int = 0) -> list[Any]:
    """Return the scale-ups as (pool, from, to, why)."""
    _, hands = scanned(groups, pods, cloud="gcp", classes=classes, seed=seed)
    return [(d.pool, d.before, d.after, d.reason.partition(": ")[2]) for d in hands.decisions if d.action == "scale-up"]


def reasons(groups: Sequence[NodeGroup], pods: Sequence[Any], *classes: Any) -> dict[str, str]:
    return hopeless(groups, pods, cloud="gcp", classes=classes)


MEMBERS = [pool("l4od", 2, of_class=CLASS), pool("l4", 3, spot=True, of_class=CLASS), pool("t4", 2, of_class=CLASS)]
OUTSIDE = pool("other", 9, spot=True)


def test_the_pools_of_a_class_grow_in_the_order_of_its_rules_and_no_other_does() -> None:
    grown = decisions([OUTSIDE, *MEMBERS], training(9, **ASKS), a_class(["l4"], ["l4od"], ["t4"]))
    assert grown == [
        ("l4", 0, 3, "ComputeClass kubeflow-spot, rule 1 of 3"),
        ("l4od", 0, 2, "ComputeClass kubeflow-spot, rule 2 of 3"),
        ("t4", 0, 2, "ComputeClass kubeflow-spot, rule 3 of 3"),
    ]


def test_the_order_inside_a_rule_is_ignored() -> None:
    """The cheapest pool, the spot one, comes first in any order of the list."""
    for rule in (["l4od", "l4"], ["l4", "l4od"]):
        first = decisions(MEMBERS, training(2, **ASKS), a_class(rule))[0]
        assert first == ("l4", 0, 2, "ComputeClass kubeflow-spot, rule 1 of 1; spot costs less")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["l4"]),
        ({"whenUnsatisfiable": "DoNotScaleUp"}, ["l4"]),
        ({"whenUnsatisfiable": "ScaleUpAnyway"}, ["l4", "l4od", "t4"]),
    ],
)
def test_a_pool_that_no_rule_names_grows_only_anyway(spec: Any, expected: list[str]) -> None:
    grown = decisions(MEMBERS, training(7, **ASKS), a_class(["l4"], **spec))
    assert grown[0][0] == "l4"
    assert sorted(name for name, *_ in grown) == expected
    if "l4od" in expected:
        assert grown[1][3].startswith("ComputeClass kubeflow-spot, after all its rules")


def test_why_a_pod_that_asks_for_a_class_waits() -> None:
    pods = training(1, **ASKS)
    assert reasons([OUTSIDE, *MEMBERS], pods) == {"default/train-0": "there is no ComputeClass kubeflow-spot"}
    assert reasons([OUTSIDE, MEMBERS[0]], pods, a_class(["l4"])) == {
        "default/train-0": "other: selects cloud.google.com/compute-class=kubeflow-spot;"
        " l4od: no rule of ComputeClass kubeflow-spot names it"
    }
    untolerating = [pod("train", ONE_GPU, [GPU], **ASKS)]
    why = reasons([MEMBERS[0]], untolerating, a_class(["l4od"]))["default/train"]
    assert why == "l4od: does not tolerate cloud.google.com/compute-class=kubeflow-spot:NoSchedule"


def test_pods_without_a_class_stay_off_its_pools() -> None:
    grown = decisions([*MEMBERS, OUTSIDE], training(2), a_class(["l4"], ["l4od"], ["t4"]))
    assert [name for name, *_ in grown] == ["other"]


def test_two_classes_take_turns() -> None:
    other = pool("a100", 2, of_class="big")
    classes = (a_class(["l4"]), a_class(["a100"], name="big"))
    big = [pod("big", ONE_GPU, [GPU, {**IN_CLASS, "value": "big"}], nodeSelector={KEY: "big"})]
    firsts = {decisions([*MEMBERS, other], [*training(1, **ASKS), *big], *classes, seed=n)[0][0] for n in range(20)}
    assert firsts == {"l4", "a100"}


def test_spot_before_on_demand_and_of_several_spot_pools_any() -> None:
    small, large = pool("small", spot=True), pool("large", spot=True, cpu="64")
    dear = pool("dear")
    drawn = {decisions([dear, small, large], training(1), seed=n)[0] for n in range(20)}
    why = "spot costs less; drawn from large, small"
    assert drawn == {("small", 0, 1, why), ("large", 0, 1, why)}


def test_on_demand_the_least_vcpus_then_memory() -> None:
    cheap, wide, tall = pool("cheap"), pool("wide", cpu="8"), pool("tall", memory="32Gi")
    for seed in range(10):
        assert decisions([wide, tall, cheap], training(1), seed=seed)[0] == ("cheap", 0, 1, "least vCPUs and memory")
    # One node that costs less than four small ones, and more than one.
    quad = pool("quad", cpu="12", memory="64Gi", gpu="4")
    assert decisions([quad, cheap], training(4))[0][:3] == ("quad", 0, 1)
    assert decisions([quad, cheap], training(1))[0][:3] == ("cheap", 0, 1)


def test_nodes_with_gpus_are_not_for_pods_without() -> None:
    plain = pool("general", gpu="0", cpu="64")
    tolerant = [pod("step", {"cpu": "1"}, [{"operator": "Exists"}])]
    assert decisions([pool("gpu", spot=True), plain], tolerant) == [("general", 0, 1, "it has no GPUs")]


def affine(*terms: Any) -> Any:
    required = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


IS = {"key": KEY, "operator": "In", "values": [CLASS]}


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({}, ""),
        (ASKS, CLASS),
        (affine([IS]), CLASS),
        (affine([IS], [IS]), ""),
        (affine([{**IS, "values": [CLASS, "other"]}]), ""),
        (affine([{**IS, "operator": "NotIn"}]), ""),
    ],
)
def test_how_pods_ask_for_a_class(spec: Any, name: str) -> None:
    assert requested(spec) == name


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (pod("one", **ASKS), True),
        (pod("one", tolerations=[GPU], **ASKS), True),
        (pod("one", tolerations=[{**IN_CLASS, "value": "other"}], **ASKS), True),
        (pod("one", tolerations=[IN_CLASS], **ASKS), False),
        (pod("one"), False),
        (pod("one", **affine([IS])), False),
        (pod("one", nodeName="there", **ASKS), False),
    ],
)
def test_the_toleration_of_the_class_is_added_once_and_the_others_stay(body: Any, given: bool) -> None:
    assert tolerations(body) == ([*body["spec"]["tolerations"], IN_CLASS] if given else None)


TWO_MINUTES = {"autoscalingPolicy": {"consolidationDelayMinutes": 2}}


@pytest.mark.parametrize(
    ("spec", "factor", "goes"),
    [({}, 1, 600), (TWO_MINUTES, 1, 120), ({"autoscalingPolicy": {}}, 1, 600), (TWO_MINUTES, 2, 60), ({}, 2, 300)],
)
def test_an_unused_node_of_a_class_goes_after_the_time_of_its_class(spec: Any, factor: int, goes: int) -> None:
    """Nodes of other pools go after the time of all. A sandbox may run faster than the clock: all times shrink."""
    other = sized(pool("outside"), 1)
    steps = Steps(LATER, other, options=Options(factor=factor), cloud="gcp")
    steps.profile = {}
    gone: dict[str, float] = {}
    for now in range(0, 700, 10):
        steps.at(now, classes=[a_class(["l4od"], **spec)])
        for each in steps.cloud.decisions:
            gone.setdefault(each.pool, now)
    assert gone[LATER.pool] in (goes, goes + 10)
    assert gone.get(other.pool, 600) >= 600 / factor


SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
MOVING = {"activeMigration": {"optimizeRulePriority": True}}
LATER = sized(MEMBERS[0], 1)


def migrate(*scans: float, full: str = "", budgets: Any = (), annotations: Any = None, **spec: Any) -> Cloud:
    """Scan a cluster with a pod on a pool of the second rule, whose new machines are ready in the next scan."""
    steps = Steps(LATER, MEMBERS[1], options=EAGER, cloud="gcp", full=full)
    steps.profile = {}
    busy = pod("train", ONE_GPU, [GPU, IN_CLASS], nodeName=LATER.nodes[0], nodeSelector={KEY: CLASS})
    busy["metadata"] |= {"labels": {"a": "b"}, "annotations": annotations or {}}
    busy["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j", "controller": True}]
    for now in scans:
        steps.at(now, busy, classes=[a_class(["l4"], ["l4od"], **spec)], budgets=budgets)
    return steps.cloud


def test_active_migration_grows_the_pool_of_the_earlier_rule_and_moves_the_pod_there() -> None:
    hands = migrate(0, 5, 10, **MOVING)
    assert [(d.action, d.pool, d.reason.split(":")[-1].strip()) for d in hands.decisions][:2] == [
        ("scale-up", "l4", "active migration"),
        ("scale-down", "l4od", LATER.nodes[0]),
    ]
    assert hands.calls[:2] == [("taint", [LATER.nodes[0]]), ("evict", ("train", 30.0))]


@pytest.mark.parametrize(
    "held",
    [
        {},
        {**MOVING, "annotations": {SAFE: "false"}},
        {**MOVING, "budgets": [budget(0, a="b")]},
    ],
)
def test_no_pod_moves_without_active_migration_or_against_its_wish_or_budget(held: Any) -> None:
    hands = migrate(0, 5, 10, **held)
    assert (hands.decisions, hands.calls) == ([], [])


def test_a_refused_pool_is_left_alone_and_tried_again_after_its_back_off() -> None:
    hands = migrate(0, 5, 299, 300, full="l4", **MOVING)
    assert [d.at for d in hands.decisions if d.action == "scale-up"] == [0, 300]


def test_every_figure_of_gke_says_documented_or_assumed_and_where() -> None:
    assert {figure.status for figure in FIGURES} == {"documented", "assumed"}
    assert all(figure.source and figure.value for figure in FIGURES)
    assert all("page" in figure.source for figure in FIGURES if figure.status == "documented")
