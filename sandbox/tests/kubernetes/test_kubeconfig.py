"""Kubeconfigs of the API client: certificates, log-in programs, credentials and mistakes."""

import json
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cluster.control_plane.certificates import ensure_certificates
from sandbox.kubernetes.client import Client, Unreachable
from sandbox.kubernetes.kubeconfig import Unusable
from sandbox.tests.recording_server import Server, kubeconfig, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls") / "certificates"
    ensure_certificates(folder, "10.0.0.0/16")
    return folder


@pytest.fixture
def secure(certificates: Path) -> Iterator[Server]:
    """Yield a server that requires a client certificate of its authority."""
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


def login(server: Server, tmp_path: Path, script: str, **fields: Any) -> str:
    program = tmp_path / "login"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return kubeconfig(server, exec={"command": str(program), "apiVersion": "client.authentication.k8s.io/v1", **fields})


def answering(**status: str) -> str:
    return f"cat <<'END'\n{json.dumps({'status': status})}\nEND"


@pytest.mark.process
def test_a_login_program_runs_once_with_the_settings_of_the_kubeconfig(server: Server, tmp_path: Path) -> None:
    calls = tmp_path / "asked"
    script = f'echo "$KUBERNETES_EXEC_INFO" "$EXTRA" "$@" >> {calls}\n{answering(token="fresh")}'
    text = login(
        server, tmp_path, script, args=["one"], env=[{"name": "EXTRA", "value": "two"}], provideClusterInfo=True
    )
    assert names_node(server, text)
    assert {authorization for *_, authorization in server.requests} == {"Bearer fresh"}
    (line,) = calls.read_text().splitlines()
    question, extra, argument = line.rsplit(" ", 2)
    assert (extra, argument) == ("two", "one")
    assert json.loads(question)["spec"] == {
        "interactive": False,
        "cluster": {"server": f"http://127.0.0.1:{server.server_port}"},
    }
    calls.unlink()
    assert names_node(server, login(server, tmp_path, script))
    assert "cluster" not in json.loads(calls.read_text())["spec"]


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
    assert server.requests[-1][3] == authorization


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
