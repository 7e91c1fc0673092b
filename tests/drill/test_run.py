"""From a stack that is up to a record: its copy, its pools and their orders, machines that share a name."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from drill.play.cluster_copy import copy_cluster
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
from sandbox.kubernetes.client import ApiError, Object, Unreachable
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


def body(name: str, namespace: str = "team-a", **others: Any) -> Object:
    metadata = {"name": name, "namespace": namespace, "uid": "u", "resourceVersion": "7", **others.pop("metadata", {})}
    return {"metadata": metadata, **others}


class Source:
    """A cluster with these objects by kind."""

    def __init__(self, **objects: list[Object]) -> None:
        self._objects = objects

    def kinds(self) -> list[tuple[str, str]]:
        return [("v1", kind) for kind in self._objects]

    def list(self, version: str, kind: str) -> Any:
        return self._objects[kind]


class Target:
    """A cluster that takes what it gets, and refuses some kind so many times."""

    def __init__(self, refused: str = "", times: int = 0, status: int = 404) -> None:
        self.taken: list[Object] = []
        self._refused, self._times, self._status = refused, times, status

    def apply(self, body: Object, manager: str, *, force: bool) -> Object:
        if body["kind"] == self._refused and self._times:
            self._times -= 1
            raise ApiError(self._status, "no matches for kind")
        self.taken.append(body)
        return body


def copied(target: Target | None = None, **objects: list[Object]) -> list[Object]:
    target = target or Target()
    copy_cluster(Source(**objects), target)  # type: ignore[arg-type]
    return target.taken


OWNED = {"metadata": {"ownerReferences": [{"kind": "Deployment", "controller": True}]}}


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("Pod", body("web")),
        ("Node", body("n1")),
        ("ReplicaSet", body("web-1", **OWNED)),
        ("ConfigMap", body("kube-root-ca.crt")),
        ("ServiceAccount", body("default")),
        ("Service", body("kubernetes", "default")),
        ("PriorityClass", body("system-node-critical")),
        ("Namespace", body("kube-system")),
        ("Secret", body("token", type="kubernetes.io/service-account-token")),
        ("ClusterRole", body("system:node")),
        ("ClusterRole", body("admin", metadata={"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}})),
        ("ConfigMap", body("old", metadata={"deletionTimestamp": "now"})),
    ],
)
def test_what_kubernetes_makes_by_itself_is_not_copied(kind: str, made: Object) -> None:
    assert copied(**{kind: [made]}) == []


def test_objects_come_as_they_were_declared_and_those_that_others_need_come_first() -> None:
    taken = copied(
        ValidatingAdmissionPolicyBinding=[body("guard")],
        Service=[body("web", spec={"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"], "ports": []})],
        ConfigMap=[body("order", data={"priorities": "1"}, metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}})],
        Namespace=[body("team-a", status={"phase": "Active"}, metadata={"labels": {"part-of": "kubeflow-profile"}})],
    )
    assert [each["kind"] for each in taken] == ["Namespace", "Service", "ConfigMap", "ValidatingAdmissionPolicyBinding"]
    assert taken[0] == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team-a", "namespace": "team-a", "labels": {"part-of": "kubeflow-profile"}},
    }
    assert taken[1]["spec"] == {"ports": []}
    assert taken[2]["data"] == {"priorities": "1"}
    assert taken[2]["metadata"]["annotations"] == {"c": "d"}


def test_a_kind_that_is_served_a_moment_later_is_tried_again() -> None:
    assert [each["kind"] for each in copied(Target("Own", 2), Own=[body("x")])] == ["Own"]


def test_an_object_that_the_copy_refuses_is_named() -> None:
    with pytest.raises(SandboxError, match="the drill's copy of the cluster refuses Own x: "):
        copied(Target("Own", 1, 422), Own=[body("x")])
