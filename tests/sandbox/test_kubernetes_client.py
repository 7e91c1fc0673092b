"""The client of an API server: requests, errors, connections and kubeconfigs, with a server that records its requests."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cluster.control_plane.certificates import ensure_certificates
from sandbox.kubernetes.client import Client
from sandbox.kubernetes.errors import ApiError, Unreachable
from sandbox.kubernetes.kubeconfig import Unusable

CORE = {"resources": [{"name": "pods", "kind": "Pod", "namespaced": True}, {"name": "pods/log", "kind": "Pod"}]}
APPS = {"resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True}]}
NODES = {"resources": [{"name": "nodes", "kind": "Node", "namespaced": False}]}
DISCOVERY = {"/api/v1": {"resources": [*CORE["resources"], *NODES["resources"]]}, "/apis/apps/v1": APPS}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n", "managedFields": [{}]}}


class Server(ThreadingHTTPServer):
    """A server that answers from `answers` by path, and with 404 otherwise."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {**DISCOVERY}
        self.asked: list[tuple[str, str, str, str]] = []
        self.connections = 0
        self.wait = 0.0
        self.hang_up = False
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.asked.append((self.command, self.path, body, self.headers.get("Authorization") or ""))
        time.sleep(self.server.wait)
        found = self.server.answers.get(self.path.partition("?")[0])
        status = 404 if found is None else found.pop("status", 200) if isinstance(found, dict) else 502
        text = json.dumps(found or {"message": "not found"}) if not isinstance(found, str) else found
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
        # Without an answer, like a restarting server.
        self.close_connection = self.server.hang_up

    do_GET = do_PATCH = do_DELETE = answer

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


def kubeconfig(server: Server | str, cluster: dict[str, Any] | None = None, **user: Any) -> str:
    address = server if isinstance(server, str) else f"http://127.0.0.1:{server.server_port}"
    return yaml.safe_dump(
        {
            "clusters": [{"name": "other"}, {"name": "c", "cluster": {"server": address, **(cluster or {})}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = Client(kubeconfig(server, token="t0ken"))
    yield client
    client.close()


def test_an_object_is_applied_with_the_name_of_its_manager(server: Server, client: Client) -> None:
    server.answers["/api/v1/namespaces/n/pods/a"] = POD
    applied = client.apply(POD, "pulumi", dry_run=True, force=True)
    assert applied == {**POD, "metadata": {"name": "a", "namespace": "n"}}
    method, path, body, login = server.asked[-1]
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
    assert server.asked[-1][:3] == (
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
    # Its definition was created meanwhile.
    server.answers["/apis/example.com/v1"] = {"resources": [{"name": "things", "kind": "Thing", "namespaced": False}]}
    assert not client.namespaced(own)


def test_sixteen_threads_read_kinds_once_and_keep_their_connections(server: Server, client: Client) -> None:
    server.answers["/api/v1/namespaces/n/pods/a"] = {"metadata": {"name": "a"}}
    server.wait = 0.02
    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            found = list(pool.map(lambda _: client.get("v1", "Pod", "a", "n"), range(16)))
            assert found == [{"metadata": {"name": "a"}}] * 16
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


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls") / "certificates"
    ensure_certificates(folder, "10.0.0.0/16")
    return folder


@pytest.fixture
def secure(certificates: Path) -> Iterator[Server]:
    """A server that requires a client certificate of its authority."""
    server = Server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "serving.crt", certificates / "serving.key")
    context.load_verify_locations(certificates / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield server


def base64(path: Path) -> str:
    return b64encode(path.read_bytes()).decode()


def names_node(server: Server, text: str) -> bool:
    server.answers["/api/v1/nodes/a"] = {"metadata": {"name": "a"}}
    client = Client(text)
    try:
        return client.get("v1", "Node", "a") is not None
    finally:
        client.close()


def test_client_certificates_and_authorities_as_data_and_as_files(
    secure: Server, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"https://127.0.0.1:{secure.server_port}"
    data = {f"client-{part}-data": base64(certificates / f"admin.{end}") for part, end in CLIENT}
    files = {f"client-{part}": str(certificates / f"admin.{end}") for part, end in CLIENT}
    authority = {"certificate-authority-data": base64(certificates / "ca.crt")}
    assert names_node(secure, kubeconfig(address, authority, **data))
    assert names_node(secure, kubeconfig(address, {"certificate-authority": str(certificates / "ca.crt")}, **files))
    assert names_node(secure, kubeconfig(address, {"insecure-skip-tls-verify": True}, **data))
    for name in ("localhost", "kubernetes.default"):
        assert names_node(secure, kubeconfig(address, {**authority, "tls-server-name": name}, **data))
    for cluster, user in ((authority, {}), ({}, data), ({**authority, "tls-server-name": "elsewhere"}, data)):
        with pytest.raises(Unreachable):
            names_node(secure, kubeconfig(address, cluster, **user))
    # Publicly trusted authorities (`sandbox.gcp.workstation`).
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.crt"))
    assert names_node(secure, kubeconfig(address, {}, **data))


CLIENT = (("certificate", "crt"), ("key", "key"))


def login(server: Server, tmp_path: Path, script: str, **told: Any) -> str:
    program = tmp_path / "login"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return kubeconfig(server, exec={"command": str(program), "apiVersion": "client.authentication.k8s.io/v1", **told})


def answering(**status: str) -> str:
    return f"cat <<'END'\n{json.dumps({'status': status})}\nEND"


@pytest.mark.process
def test_a_login_program_runs_once_with_the_settings_of_the_kubeconfig(server: Server, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    script = f'echo "$KUBERNETES_EXEC_INFO" "$EXTRA" "$@" >> {asked}\n{answering(token="fresh")}'
    text = login(
        server, tmp_path, script, args=["one"], env=[{"name": "EXTRA", "value": "two"}], provideClusterInfo=True
    )
    assert names_node(server, text)
    assert {authorization for *_, authorization in server.asked} == {"Bearer fresh"}
    (line,) = asked.read_text().splitlines()
    question, extra, argument = line.rsplit(" ", 2)
    assert (extra, argument) == ("two", "one")
    assert json.loads(question)["spec"] == {
        "interactive": False,
        "cluster": {"server": f"http://127.0.0.1:{server.server_port}"},
    }
    asked.unlink()
    assert names_node(server, login(server, tmp_path, script))
    assert "cluster" not in json.loads(asked.read_text())["spec"]


@pytest.mark.process
def test_a_login_program_may_answer_with_a_certificate(secure: Server, certificates: Path, tmp_path: Path) -> None:
    words = {f"client{part.title()}Data": (certificates / f"admin.{end}").read_text() for part, end in CLIENT}
    text = yaml.safe_load(login(secure, tmp_path, answering(**words)))
    text["clusters"][1]["cluster"] = {
        "server": f"https://127.0.0.1:{secure.server_port}",
        "certificate-authority-data": base64(certificates / "ca.crt"),
    }
    assert names_node(secure, yaml.safe_dump(text))


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        ({"token": "a"}, "Bearer a"),
        ({"tokenFile": "FILE"}, "Bearer from the file"),
        ({"username": "a", "password": "b"}, "Basic YTpi"),
        ({}, ""),
    ],
)
def test_credentials(server: Server, tmp_path: Path, user: dict[str, str], authorization: str) -> None:
    file = tmp_path / "token"
    file.write_text("from the file\n")
    assert names_node(server, kubeconfig(server, **{k: str(file) if v == "FILE" else v for k, v in user.items()}))
    assert server.asked[-1][3] == authorization


def broken(change: Callable[[dict[str, Any]], object]) -> str:
    content = yaml.safe_load(kubeconfig("https://127.0.0.1:1", token="s3cret"))
    change(content)
    return yaml.safe_dump(content)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s3cret: [", "not what kubectl would read"),
        ("s3cret", "not what kubectl would read"),
        (broken(lambda content: content.pop("users")), "not what kubectl would read"),
        (broken(lambda content: content.update({"current-context": "y"})), "it has no context 'y'"),
        (broken(lambda content: content["clusters"].pop()), "it has no cluster 'c'"),
        (broken(lambda content: content["users"][0].update(user={"tokenFile": "/none"})), "No such file"),
        (
            broken(
                lambda content: content["users"][0].update(
                    user={"client-certificate-data": "%", "client-key-data": "%"}
                )
            ),
            "PEM",
        ),
    ],
)
def test_an_unusable_kubeconfig_is_named_without_its_content(text: str, why: str) -> None:
    with pytest.raises(Unusable, match=why) as unusable:
        Client(text)
    assert "s3cret" not in str(unusable.value)


@pytest.mark.process
def test_the_reason_of_a_failed_login_program_is_shown(server: Server, tmp_path: Path) -> None:
    for script, why in (("echo no account >&2; exit 3", "login failed: no account"), ("echo hello", "Expecting value")):
        with pytest.raises(Unusable, match=why):
            Client(login(server, tmp_path, script))
