"""Contents of an existing cluster: from a server with set answers, and from a real API server."""

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pulumi
import pytest

from components import running
from components.layer import discovery
from config.clouds.traits import RulesKind
from tests.components.program import kubeconfig_of

pytestmark = pytest.mark.process

Answer = tuple[int, dict[str, Any] | str]
VERSION = {"gitVersion": "v1.36.2"}
EXPANDER = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-priority-expander"
CONTRACT = "/api/v1/namespaces/kube-public/configmaps"


@pytest.fixture
def serving() -> Iterator[Callable[[dict[str, Answer]], str]]:
    """Start a server that answers these paths, and 404 to others; return its address."""
    servers: list[HTTPServer] = []

    def start(answers: dict[str, Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = answers.get(self.path.partition("?")[0], (404, {"message": "not found"}))
                self.send_response(status)
                self.end_headers()
                self.wfile.write((body if isinstance(body, str) else json.dumps(body)).encode())

            def log_message(self, *_: Any) -> None: ...

        servers.append(HTTPServer(("127.0.0.1", 0), Handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_daemon_sets_operators_policies_the_expander_and_the_contract_are_read_as_they_are(serving: Any) -> None:
    spec = {"template": {"spec": {"nodeSelector": {"a": "b"}}}}
    daemon_set = {"metadata": {"name": "d", "namespace": "n"}, "spec": spec}
    answers: dict[str, Answer] = {
        "/version": (200, VERSION),
        "/version/": (200, VERSION),
        "/apis/apps/v1/daemonsets": (200, {"items": [daemon_set]}),
        "/apis/nvidia.com/v1/clusterpolicies": (200, {"items": [{"metadata": {"name": "p"}}]}),
        EXPANDER: (200, {"metadata": {}, "data": {"priorities": "1: ['.*']"}}),
        CONTRACT: (200, {"items": [{"metadata": {"name": "kubeflow-spot"}}]}),
    }
    contents = discovery.read_contents(kubeconfig_of(serving(answers)), "cloud.kubeconfig")
    assert contents.version == "1.36.2"
    assert contents.daemon_sets == (daemon_set,)
    assert [policy["metadata"]["name"] for policy in contents.policies] == ["p"]
    assert contents.expander
    assert contents.expander["data"] == {"priorities": "1: ['.*']"}
    assert contents.contracts == ({"metadata": {"name": "kubeflow-spot"}},)


def test_a_compute_class_is_read_by_its_name_where_one_is_asked_for(serving: Any) -> None:
    compute_class = {"metadata": {"name": "gpus", "labels": {"owner": "them"}}}
    answers: dict[str, Answer] = {
        "/version/": (200, VERSION),
        "/apis/apps/v1/daemonsets": (200, {"items": []}),
        "/apis/cloud.google.com/v1/computeclasses/gpus": (200, compute_class),
        # A refused read of an unused class is no error.
        "/apis/cloud.google.com/v1/computeclasses/others": (403, {}),
    }
    server = kubeconfig_of(serving(answers))
    assert discovery.read_contents(server, "cloud.existingCluster", "gpus").compute_class == compute_class
    assert discovery.read_contents(server, "cloud.existingCluster").compute_class is None
    with pytest.raises(pulumi.RunError, match="refuses to show a ComputeClass: 403"):
        discovery.read_contents(server, "cloud.existingCluster", "others")


def test_a_kind_of_rules_is_served_or_missing_and_a_refusal_names_the_right(serving: Any) -> None:
    operators = RulesKind("monitoring.coreos.com/v1", "PrometheusRule", "prometheusrules", "")
    googles = RulesKind("monitoring.googleapis.com/v1", "ClusterRules", "clusterrules", "")
    answers: dict[str, Answer] = {
        "/apis/monitoring.coreos.com/v1/namespaces/monitoring/prometheusrules": (200, {"items": []}),
        "/apis/monitoring.coreos.com/v1/namespaces/theirs/prometheusrules": (403, {}),
        "/apis/monitoring.googleapis.com/v1/clusterrules": (200, {"items": []}),
    }
    server, bare = kubeconfig_of(serving(answers)), kubeconfig_of(serving({}))
    assert discovery.serves(server, "cloud.kubeconfig", operators, "monitoring")
    assert discovery.serves(server, "cloud.kubeconfig", googles, None)
    assert not discovery.serves(bare, "cloud.kubeconfig", operators, "monitoring")
    assert not discovery.serves(bare, "cloud.kubeconfig", googles, None)
    right = (
        "403 .*\n  the kubeconfig's user must be allowed to list and change prometheusrules of monitoring.coreos.com"
    )
    with pytest.raises(pulumi.RunError, match=right):
        discovery.serves(server, "cloud.kubeconfig", operators, "theirs")


def test_missing_objects_are_no_error(serving: Any) -> None:
    answers: dict[str, Answer] = {"/version/": (200, VERSION), "/apis/apps/v1/daemonsets": (200, {"items": []})}
    contents = discovery.read_contents(kubeconfig_of(serving(answers)), "cloud.kubeconfig")
    assert (contents.daemon_sets, contents.policies, contents.expander, contents.contracts) == ((), (), None, ())


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"/version/": (200, VERSION), "/apis/apps/v1/daemonsets": (403, {})}, "refuses to show DaemonSets: 403"),
        ({"/version/": (401, {})}, "refuses to show the version: 401"),
        ({"/version/": (200, "<html>")}, "is no API server"),
    ],
)
def test_a_refusal_by_the_server_is_one_line_that_names_the_setting(
    answers: dict[str, Answer], expected: str, serving: Any
) -> None:
    with pytest.raises(pulumi.RunError, match=expected) as refused:
        discovery.read_contents(kubeconfig_of(serving(answers)), "cloud.existingCluster")
    assert str(refused.value).startswith("cloud.existingCluster: ")


def test_work_is_read_from_nodes_and_pods(serving: Any) -> None:
    node = {"metadata": {"name": "n", "labels": {"kubeflow-spot.dev/pool": "t4od"}}}
    pod = {"metadata": {"namespace": "a", "name": "p"}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}}
    answers: dict[str, Answer] = {"/api/v1/nodes": (200, {"items": [node]}), "/api/v1/pods": (200, {"items": [pod]})}
    found = running.read_running(kubeconfig_of(serving(answers)), "cluster", {"t4od", "t4"})
    assert found == {"t4od": running.Running(("n",), (pod,)), "t4": running.Running()}


def test_objects_of_a_kind_are_read_by_name_and_a_missing_kind_has_none(serving: Any) -> None:
    path = "/apis/karpenter.sh/v1/nodepools"
    metadata = {"name": "t4od", "annotations": {"a": "b"}}
    answers: dict[str, Answer] = {path: (200, {"items": [{"metadata": metadata}]})}
    of = ("cluster", "karpenter.sh", "v1", "nodepools")
    assert running.read_metadata(kubeconfig_of(serving(answers)), *of) == {"t4od": metadata}
    assert running.read_metadata(kubeconfig_of(serving({})), *of) == {}
    with pytest.raises(pulumi.RunError, match=r"403(.|\n)*must be allowed to list nodepools of karpenter\.sh"):
        running.read_metadata(kubeconfig_of(serving({path: (403, {})})), *of)


def test_a_refused_list_of_pods_names_the_right_that_is_missing(serving: Any) -> None:
    answers: dict[str, Answer] = {"/api/v1/nodes": (200, {"items": []}), "/api/v1/pods": (403, {})}
    with pytest.raises(
        pulumi.RunError, match=r"refuses to show pods: 403(.|\n)* list nodes, and pods in all namespaces"
    ):
        running.read_running(kubeconfig_of(serving(answers)), "cluster", {"t4od"})


def test_a_cluster_that_does_not_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(
        pulumi.RunError, match=rf"cloud.kubeconfig: .*https://127.0.0.1:{port}, does not answer: .*refused"
    ):
        discovery.read_contents(kubeconfig_of(f"https://127.0.0.1:{port}"), "cloud.kubeconfig")


@pytest.mark.parametrize(
    "text", ["", "token: [secret", "{}", kubeconfig_of("http://x").replace("current-context: lab", "")]
)
def test_an_invalid_kubeconfig_is_reported(text: str) -> None:
    with pytest.raises(pulumi.RunError, match=r"cloud\.kubeconfig: the kubeconfig cannot be used") as refused:
        discovery.read_contents(text, "cloud.kubeconfig")
    assert "secret" not in str(refused.value)
