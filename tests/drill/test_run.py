"""From a copied cluster to a record: the pools, their orders, and machines that share a name."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from drill.play.drill import told_apart
from drill.play.run import undone
from drill.play.source import Captured, declared_objects
from drill.play.stack_facts import growth_orders, stack_pools
from drill.world.record import Node, Pod
from sandbox.cloud.node_groups import Gpus
from tests.drill.test_machines import Cloud


def copy(provider: str, **found: Any) -> Any:
    cloud = Cloud(Captured())
    cloud.groups["t4"] = replace(cloud.groups["t4"], gpus=Gpus(2, instances=3, clients=4))
    base = {"provider": provider, "cluster": "c", "cloud": cloud, "outputs": {"expander": []}, "classes": []}
    return SimpleNamespace(**{**base, **found})


def compute_class(*rules: str) -> dict[str, Any]:
    return {"kind": "ComputeClass", "spec": {"priorities": [{"nodepools": [rule]} for rule in rules]}}


TIERS = [{"priority": 10, "pools": ["t4od"]}, {"priority": 50, "pools": ["t4"]}]


@pytest.mark.parametrize(
    ("provider", "found"),
    [
        ("azure", {"outputs": {"expander": TIERS}}),
        ("gcp", {"classes": [compute_class("big", "t4od"), compute_class("t4", "t4od")]}),
    ],
)
def test_the_pools_that_take_the_work_of_spot_follow_from_what_the_stack_declares(
    provider: str, found: dict[str, Any]
) -> None:
    source = copy(provider, **found)
    assert {pool.name: pool.fallback for pool in stack_pools(source, growth_orders(source))} == {
        "t4": ("t4od",),
        "t4od": (),
    }


def test_a_node_has_as_many_gpus_as_it_reports() -> None:
    assert {pool.name: pool.gpus for pool in stack_pools(copy("azure"))} == {"t4": 24, "t4od": 1}


def test_declared_objects_are_those_of_the_engines_state() -> None:
    body = compute_class("t4")
    state = [{"type": "kubeflow-spot:addons:ComputeClass"}, {"inputs": {"kind": "Namespace"}}, {"inputs": body}]
    assert declared_objects(SimpleNamespace(resources=lambda: state), "ComputeClass") == [body]  # type: ignore[arg-type]


def test_machines_that_share_a_name_are_told_apart_and_so_are_their_pods() -> None:
    nodes = [
        Node("t4-0", "t4", "a", 0.0, 100.0, 110.0, gone=500.0, why="evicted"),
        Node("t4-0", "t4", "a", 500.0, gone=700.0, why="lost"),
        Node("t4-0", "t4", "a", 700.0, 800.0, 810.0),
        Node("t4-1", "t4", "a", 0.0, 100.0, 110.0),
    ]
    made = [("t4-0", 120.0), ("t4-0", 820.0), ("t4-1", 120.0), (None, None), ("gone", 5.0)]
    given = [Pod("a", "a", "training", "Job", 1, True, 1.0, bound, node) for node, bound in made]
    named, pods = told_apart(nodes, given)
    assert [node.name for node in named] == ["t4-0", "t4-0#2", "t4-0#3", "t4-1"]
    assert [pod.node for pod in pods] == ["t4-0", "t4-0#3", "t4-1", None, "gone"]


def test_what_a_program_did_not_do_stands_before_the_figures() -> None:
    assert undone([]) == ()
    assert undone(["a", "b", "c", "d"]) == ("A program did not do what seemed due: a, b, c and 1 more.",)
