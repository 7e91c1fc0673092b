"""From a stack that is up to a record: its copy, its pools and their orders, machines that share a name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drill.play.drill import told_apart
from drill.play.run import undone
from drill.play.source import Captured, declared_objects, open_cloud, unreachable_as_error
from drill.play.stack_facts import growth_orders, stack_pools
from drill.world.record import Node, Pod
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import Gpus
from sandbox.cloud.spot_nodes import Bound
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import NAMES
from sandbox.kubernetes.client import Unreachable
from sandbox.tests.spot_bed import on_azure
from tests.drill.machine_bed import Cloud


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


@pytest.fixture
def plane(tmp_path: Path) -> ControlPlane:
    found = ControlPlane(tmp_path, version="1.36", cloud="azure")
    (tmp_path / "ports.json").write_text(json.dumps(dict.fromkeys(NAMES, 28406)))
    return found


def said(plane: ControlPlane, server: str) -> str:
    with pytest.raises(SandboxError) as refused, unreachable_as_error("dev", plane):
        raise Unreachable(server)
    return str(refused.value)


def test_the_drills_own_server_is_named_with_its_last_words(plane: ControlPlane) -> None:
    log = plane.processes["kube-apiserver"].log
    first = said(plane, "https://127.0.0.1:28406")
    assert first.startswith("the drill's API server does not answer any more")
    assert first.endswith(f"the log {log}")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("begin\na\nb\netcd is gone\n")
    assert said(plane, "https://127.0.0.1:28406").endswith("which ended so:\n  a\n  b\n  etcd is gone")


def test_the_stacks_server_is_told_from_it(plane: ControlPlane) -> None:
    assert "the API server of stack 'dev' does not answer at https://127.0.0.1:9: `up`" in said(
        plane, "https://127.0.0.1:9"
    )


def test_the_copy_has_the_machines_that_the_live_stack_was_denied(tmp_path: Path) -> None:
    bed = on_azure(tmp_path)
    bed.cloud.set_capacity(Bound(bed.machine, 0))
    bed.refused(1)
    copy = open_cloud("azure", tmp_path, Captured())
    assert copy.capacities() == []
    copy.grow(bed.id(), 1)
