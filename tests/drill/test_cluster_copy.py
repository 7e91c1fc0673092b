"""What is copied of a cluster, and how."""

from __future__ import annotations

from typing import Any

import pytest

from drill.play.cluster_copy import copy_cluster
from sandbox.base.errors import SandboxError
from sandbox.kubernetes.client import ApiError

Object = dict[str, Any]


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
