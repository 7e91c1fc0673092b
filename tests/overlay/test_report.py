"""What the report says of an installation, from objects as an API server holds them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from overlay import applying, command, observing
from overlay import cli as cli
from overlay.applying import Refusal, Stages, stages
from overlay.bases import Checkout
from overlay.observing import Live
from overlay.render import Rendered
from overlay.report import Report
from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT
from sandbox.cli.commands import main as sandbox
from sandbox.cluster import clusters
from sandbox.kubernetes.client import ApiError
from sandbox.toolchain import programs

Object = dict[str, Any]


def body(kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "kubeflow"}, **fields}


def node(name: str, capacity: str = "on-demand", **labels: str) -> Object:
    own = {"kubeflow-spot.dev/pool": name.partition("-")[0], "kubeflow-spot.dev/capacity": capacity}
    return {"metadata": {"name": name, "labels": own | labels}}


def pod(owner: str, kind: str, on: str = "", phase: str = "Running", why: str = "") -> Object:
    conditions = [{"type": "PodScheduled", "status": "False", "message": why}] if why else []
    return {
        "metadata": {
            "name": f"{owner}-x",
            "namespace": "kubeflow",
            "ownerReferences": [{"kind": kind, "name": owner}],
        },
        "spec": {"nodeName": on},
        "status": {"phase": phase, "conditions": conditions},
    }


def claim(name: str, phase: str) -> Object:
    spec = {"storageClassName": "kubeflow-retain", "resources": {"requests": {"storage": "20Gi"}}}
    return body("PersistentVolumeClaim", name, spec=spec, status={"phase": phase})


OBJECTS = [
    body("Deployment", "mysql", spec={}),
    body("StatefulSet", "metacontroller", spec={"replicas": 1}),
    body("DaemonSet", "istio-cni-node", spec={}),
    body("PersistentVolumeClaim", "mysql-pv-claim", spec={}),
    body("ConfigMap", "form"),
]
GPU = {"kubeflow-spot.dev/accelerator": "nvidia-t4"}
GOOD = {
    "nodes": [node("general-0"), node("t4-0", "spot", **GPU)],
    "pods": [
        pod("mysql-6d4b75cb6d", "ReplicaSet", "general-0"),
        pod("metacontroller", "StatefulSet", "general-0"),
        pod("istio-cni-node", "DaemonSet", "t4-0"),
        # Another's.
        pod("train", "Job", "t4-0"),
    ],
    "claims": [claim("mysql-pv-claim", "Bound"), claim("somebody-elses", "Pending")],
}
ORDERED = Stages(others=OBJECTS)
CHECKOUTS = [Checkout("https://example.com/kubeflow/manifests", "26.03"), Checkout("https://example.com/a.yaml", "")]


def report(refused: tuple[Refusal, ...] = (), **live: Any) -> Report:
    seen = observing.observe(OBJECTS, Live(**(GOOD | live)))
    return Report(Rendered(OBJECTS, "26.03", ["retry"], [], CHECKOUTS), ORDERED, refused, seen, 12.3)


def test_a_good_installation() -> None:
    good = report()
    assert good.ok
    assert good.faults == []
    assert good.observed.settled
    assert [(p.name, p.kind, p.nodes, p.pods, p.agents) for p in good.observed.pools] == [
        ("general", "on-demand", 1, 2, 0),
        ("t4", "spot, GPU", 1, 0, 1),
    ]
    text = good.as_text()
    assert "holds  Datastores bound                         1 of 1 claims, class kubeflow-retain" in text
    assert "FAILS" not in text
    assert "their servers do not run in the sandbox" in text
    assert "holds  Checkouts of the version asked for       manifests 26.03" in text
    assert "note   Versions not compared: no git there      https://example.com/a.yaml" in text


def test_secrets_that_are_applied_with_a_value_are_named() -> None:
    # An upgrade may bring one more. An empty password is a value, too; what a controller fills has none.
    secrets = [
        body("Secret", "mysql-secret", stringData={"password": ""}),
        body("Secret", "katib-mysql-secrets", data={"MYSQL_ROOT_PASSWORD": "dGVzdA=="}),
        body("Secret", "webhook-certs"),
        body("Secret", "webhook-cert", data={}),
    ]
    said = Report(Rendered(secrets, "26.03", [], [], []), ORDERED, (), report().observed, 1)
    (verdict,) = (each for each in said.verdicts if each.name.startswith("Secrets"))
    assert verdict.measured == "kubeflow/mysql-secret, kubeflow/katib-mysql-secrets"


def test_an_update_of_a_workload_is_waited_for_and_pods_that_go_do_not_count() -> None:
    old = pod("mysql-5c9f7d8b4f", "ReplicaSet", "t4-0")
    both = report(pods=[old, *GOOD["pods"]])
    assert not both.observed.settled
    going = {**old, "metadata": {**old["metadata"], "deletionTimestamp": "2026-11-23T00:00:00Z"}}
    after = report(pods=[going, *GOOD["pods"]])
    assert after.observed.settled
    assert after.faults == []
    assert after.ok


def pods(*first: Object) -> list[Object]:
    return [*first, *GOOD["pods"][1:]]


WRONG = {
    "refused": ({"refused": (Refusal("Service kubeflow/a", "no"),)}, "refused: Service kubeflow/a: no"),
    "on spot": (
        {"pods": pods(pod("mysql-6d4b75cb6d", "ReplicaSet", "t4-0"))},
        "misplaced: kubeflow/mysql-6d4b75cb6d-x on spot, GPU node t4-0",
    ),
    "on an on-demand GPU": (
        {
            "pods": pods(pod("mysql-6d4b75cb6d", "ReplicaSet", "t4od-0")),
            "nodes": [*GOOD["nodes"], node("t4od-0", **GPU)],
        },
        "misplaced: kubeflow/mysql-6d4b75cb6d-x on on-demand, GPU node t4od-0",
    ),
    "pending": (
        {"pods": pods(pod("mysql-6d4b75cb6d", "ReplicaSet", phase="Pending", why="0/2 nodes are available"))},
        "pending: kubeflow/mysql-6d4b75cb6d-x: 0/2 nodes are available",
    ),
    "an agent pends": (
        {"pods": [*GOOD["pods"][:2], pod("istio-cni-node", "DaemonSet", "t4-0", phase="Pending")]},
        "pending: kubeflow/istio-cni-node-x: has a node and has not started",
    ),
    "not made": (
        {
            "pods": pods(),
            "events": [
                {
                    "metadata": {"namespace": "kubeflow"},
                    "involvedObject": {"name": "mysql-6d4b75cb6d"},
                    "reason": "FailedCreate",
                    "message": "violates PodSecurity",
                }
            ],
        },
        "refused: Deployment kubeflow/mysql: violates PodSecurity",
    ),
    "not bound": (
        {"claims": [claim("mysql-pv-claim", "Pending")]},
        "not bound: claim kubeflow/mysql-pv-claim, class kubeflow-retain",
    ),
}


@pytest.mark.parametrize(("changes", "fault"), WRONG.values(), ids=WRONG)
def test_each_fault_is_told_and_turns_the_report(changes: dict[str, Any], fault: str) -> None:
    wrong = report(**changes)
    assert wrong.faults == [fault]
    assert not wrong.ok
    assert "FAILS" in wrong.as_text()
    assert wrong.as_json()["ok"] is False


def test_many_faults_of_a_kind_are_counted() -> None:
    many = report(tuple(Refusal(f"Service kubeflow/{n}", "no") for n in range(14)))
    assert len(many.faults) == 11
    assert many.faults[-1] == "and 4 more"


def test_webhooks_come_last_and_conversion_by_one_is_switched_off() -> None:
    crd = {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "a"},
        "spec": {"conversion": {"strategy": "Webhook"}},
    }
    plain = {"kind": "CustomResourceDefinition", "metadata": {"name": "b"}, "spec": {}}
    hook, space = body("ValidatingWebhookConfiguration", "v"), body("Namespace", "kubeflow")
    ordered = stages([hook, *OBJECTS, space, crd, plain])
    assert ordered.webhooks == [hook]
    assert ordered.namespaces == [space]
    assert ordered.others == OBJECTS
    assert ordered.definitions == [{**crd, "spec": {"conversion": {"strategy": "None"}}}, plain]
    assert (ordered.conversions, ordered.count) == (1, 9)


class Server:
    """An API server that refuses an object so many times, and notes what it takes."""

    def __init__(self, **refusals: int) -> None:
        self.refusals, self.taken = refusals, list[tuple[str, str, bool]]()

    status, served_after = 404, 0

    def get(self, *_: str) -> Object:
        self.served_after -= 1
        return {"status": {"conditions": [{"type": "Established", "status": str(self.served_after < 0)}]}}

    def namespaced(self, wanted: Object) -> bool:
        return bool(wanted["kind"] != "Namespace")

    def apply(self, wanted: Object, manager: str, *, dry_run: bool, force: bool) -> None:
        metadata = wanted["metadata"]
        if self.refusals.get(metadata["name"], 0):
            self.refusals[metadata["name"]] -= 1
            raise ApiError(self.status, f'no matches for kind "{wanted["kind"]}"')
        self.taken.append((metadata["name"], metadata.get("namespace", ""), dry_run))


def test_what_is_refused_is_tried_again_and_what_stays_refused_is_told() -> None:
    server, pauses, lines = Server(form=2, mysql=99), list[float](), list[str]()
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bare"}}
    hook = body("MutatingWebhookConfiguration", "hook")
    wanted = Stages(others=[*OBJECTS, bare], webhooks=[hook])
    refused = applying.apply(server, wanted, lines.append, pauses.append)  # type: ignore[arg-type]
    assert refused == [Refusal("Deployment kubeflow/mysql", 'no matches for kind "Deployment"')]
    assert len(pauses) == 4
    assert ("form", "kubeflow", False) in server.taken
    assert ("bare", "default", False) in server.taken
    assert server.taken[-1] == ("hook", "kubeflow", True)
    assert any("2 to be tried again, such as Deployment kubeflow/mysql" in line for line in lines)


def test_an_invalid_object_is_not_tried_again() -> None:
    server = Server(form=1)
    server.status = 422
    refused = applying.apply(server, ORDERED, print, pytest.fail)  # type: ignore[arg-type]
    assert [each.what for each in refused] == ["ConfigMap kubeflow/form"]


def test_objects_wait_until_their_kinds_are_served() -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "a"},
    }
    server, pauses = Server(), list[float]()
    server.served_after = 3
    assert applying.apply(server, Stages(definitions=[definition], others=OBJECTS), print, pauses.append) == []  # type: ignore[arg-type]
    assert (len(pauses), len(server.taken)) == (3, 1 + len(OBJECTS))


@pytest.mark.parametrize(("refused", "status"), [((), 0), ((Refusal("Service kubeflow/a", "no"),), 1)])
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_command_ends_with_1_where_something_is_wrong(
    refused: tuple[Refusal, ...], status: int, option: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[command.Request] = []

    def install(request: command.Request, *_: Any) -> Report:
        asked.append(request)
        return report(refused)

    plane = SimpleNamespace(cloud="gcp", version="1.36.2", admin_kubeconfig=tmp_path / "kubeconfig")
    monkeypatch.setattr(command, "install", install)
    monkeypatch.setattr(cli, "require_running", lambda home: None)
    monkeypatch.setattr(clusters, "of_stack", lambda home, name: plane)
    monkeypatch.setattr(programs, "ensure", lambda names, notify: {"kubectl": tmp_path})
    monkeypatch.setattr(Checkpoint, "outputs", lambda self: {"kubeflowValues": {}})
    base = ["--base", "https://example.com/far", str(tmp_path)]
    done = CliRunner().invoke(sandbox, ["kubeflow", "--manifests", str(tmp_path), "--timeout", "7", *base, *option])
    assert done.exit_code == status, done.output
    assert ("refused: Service kubeflow/a: no" in done.output) is bool(refused)
    if option:
        assert json.loads(done.stdout)["ok"] is not bool(refused)
    (request,) = asked
    assert request.root == PROJECT / "kubeflow" / "gcp"
    assert (request.manifests, request.timeout, request.bases) == (tmp_path, 7, {"https://example.com/far": tmp_path})


def test_a_stack_that_an_earlier_program_brought_up_is_told_so(tmp_path: Path) -> None:
    request = command.Request(tmp_path, tmp_path, tmp_path, tmp_path, "1.36.2", outputs={"pools": []})
    with pytest.raises(SandboxError, match="no output kubeflowValues: bring it up with this version"):
        command.install(request, tmp_path, print)
