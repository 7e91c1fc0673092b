"""The client of an API server: requests, errors and connections."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.kubernetes.client import ApiError, Client, Unreachable
from sandbox.tests.recording_server import Server, kubeconfig, serving

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n", "managedFields": [{}]}}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = Client(kubeconfig(server, token="t0ken"))
    yield client
    client.close()


def test_an_object_is_applied_with_the_name_of_its_manager(server: Server, client: Client) -> None:
    server.answers["/api/v1/namespaces/n/pods/a"] = POD
    applied = client.apply(POD, "pulumi", dry_run=True, force=True)
    assert applied == POD
    method, path, body, login = server.requests[-1]
    assert (method, json.loads(body), login) == ("PATCH", POD, "Bearer t0ken")
    assert path == "/api/v1/namespaces/n/pods/a?fieldManager=pulumi&force=true&dryRun=All"
    client.apply(POD, "a b")
    assert server.paths()[-1].endswith("?fieldManager=a+b&force=false")


def test_objects_are_read_listed_and_deleted(server: Server, client: Client) -> None:
    server.answers["/api/v1/nodes/system%3Anode"] = {"kind": "Node", "metadata": {"name": "system:node"}}
    server.answers["/apis/apps/v1/deployments"] = {"items": [{"metadata": {"name": "d"}}]}
    # Nodes have no namespace.
    assert client.get("v1", "Node", "system:node", "n") == {"kind": "Node", "metadata": {"name": "system:node"}}
    assert client.get("v1", "Node", "none") is None
    assert client.list("apps/v1", "Deployment", label_selector="a=b") == [{"metadata": {"name": "d"}}]
    assert server.paths()[-1] == "/apis/apps/v1/deployments?labelSelector=a%3Db"
    client.delete("apps/v1", "Deployment", "d", "n")
    assert server.requests[-1][:3] == (
        "DELETE",
        "/apis/apps/v1/namespaces/n/deployments/d",
        '{"propagationPolicy": "Background"}',
    )


def test_a_refusal_has_the_words_of_the_server(server: Server, client: Client) -> None:
    path = "/api/v1/namespaces/n/pods/a"
    server.answers[path] = {"status": 422, "message": "spec is required"}
    with pytest.raises(ApiError, match="spec is required") as refused:
        client.apply(POD, "pulumi")
    assert refused.value.status == 422
    server.answers[path] = "<html>"
    for ask in (lambda: client.get("v1", "Pod", "a", "n"), lambda: client.delete("v1", "Pod", "a", "n")):
        with pytest.raises(ApiError, match="Bad Gateway"):
            ask()


def test_a_server_that_is_not_ready_is_asked_again_when_it_says(server: Server, client: Client) -> None:
    path = "/api/v1/namespaces/n/pods/a"
    for status in (429, 503):
        server.answers[path] = {**POD, "status": status, "retryAfter": "0"}
        assert client.get("v1", "Pod", "a", "n")
    server.answers[path] = {**POD, "status": 429}
    with pytest.raises(ApiError):
        client.get("v1", "Pod", "a", "n")


def test_kinds_are_read_once_a_version_and_again_when_one_is_missing(server: Server, client: Client) -> None:
    assert client.namespaced(POD)
    assert not client.namespaced({"apiVersion": "v1", "kind": "Node"})
    assert server.paths() == ["/api/v1"]
    own = {"apiVersion": "example.com/v1", "kind": "Thing"}
    for body in (own, {"apiVersion": "v1", "kind": "Thing"}):
        with pytest.raises(
            ApiError, match=rf'^no matches for kind "Thing" in version "{body["apiVersion"]}"$'
        ) as missing:
            client.namespaced(body)
        assert missing.value.status == 404
    # The kind's definition was created meanwhile.
    server.answers["/apis/example.com/v1"] = {"resources": [{"name": "things", "kind": "Thing", "namespaced": False}]}
    assert not client.namespaced(own)


def test_sixteen_threads_read_kinds_once_and_keep_their_connections(server: Server, client: Client) -> None:
    server.answers["/api/v1/namespaces/n/pods/a"] = {"metadata": {"name": "a"}}
    server.wait = 0.02
    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            bodies = list(pool.map(lambda _: client.get("v1", "Pod", "a", "n"), range(16)))
            assert bodies == [{"metadata": {"name": "a"}}] * 16
    assert server.paths().count("/api/v1") == 1
    assert server.connections <= 4


def test_a_connection_ended_by_the_server_is_opened_again(server: Server, client: Client) -> None:
    server.hang_up = True
    server.answers["/api/v1/nodes/a"] = {"metadata": {"name": "a"}}
    for _ in range(3):
        assert client.get("v1", "Node", "a")
        time.sleep(0.02)
    assert server.connections == 4


def test_a_closed_client_keeps_no_connection(server: Server, client: Client) -> None:
    client.namespaced(POD)
    client.close()
    (connection,) = [*client._idle, None]
    assert connection is None
    # A request during the close ends its connection itself.
    server.answers["/api/v1/nodes/a"] = {"metadata": {"name": "a"}}
    assert client.get("v1", "Node", "a")
    assert client._idle == []


def test_a_server_that_does_not_answer_is_unreachable() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"https://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(Unreachable, match=address):
            Client(kubeconfig(address)).get("v1", "Pod", "a", "n")


def test_a_status_is_merged_by_the_keys_of_its_lists(server: Server, client: Client) -> None:
    path = "/api/v1/nodes/a/status"
    server.answers[path] = {"kind": "Node", "metadata": {"name": "a"}}
    client.patch_status("v1", "Node", "a", {"conditions": []})
    assert server.requests[-1][:3] == ("PATCH", path, '{"status": {"conditions": []}}')
    client.patch_status("v1", "Node", "gone", {})


def test_an_eviction_is_asked_for_and_a_disruption_budget_may_hold_it(server: Server, client: Client) -> None:
    path = "/api/v1/namespaces/n/pods/a/eviction"
    server.answers[path] = {"kind": "Status"}
    assert client.evict("a", "n", 15)
    method, asked, body, _ = server.requests[-1]
    assert (method, asked) == ("POST", path)
    assert json.loads(body) == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "a", "namespace": "n"},
        "deleteOptions": {"gracePeriodSeconds": 15},
    }
    server.answers[path] = {
        "status": 429,
        "message": "Cannot evict pod as it would violate the pod's disruption budget.",
    }
    assert not client.evict("a", "n", 15)
    # Gone meanwhile.
    assert client.evict("b", "n", 15)
    server.answers[path] = {"status": 500, "message": "no"}
    with pytest.raises(ApiError):
        client.evict("a", "n", 15)
