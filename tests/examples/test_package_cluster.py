"""What the package reads from a cluster, and what it says where it cannot."""

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from kubeflow_spot import Contract, ContractError

from tests.examples.contracts import config_map

SUBJECT = "ConfigMap kube-public/kubeflow-spot: "


@pytest.fixture
def server() -> Iterator[Any]:
    """Yield an API server that answers each GET with `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/api/v1/namespaces/kube-public/configmaps/kubeflow-spot"
            status, body = server.answer  # type: ignore[attr-defined]
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _kubeconfig(folder: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {
        "clusters": [{"name": "x", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "users": [{"name": "x", "user": {}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    # The client reads the variable once, when it is imported.
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(path))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the cluster does not know these credentials. Log in again"),
        (403, "reading is not allowed. Ask the cluster's administrator .* scheduling.contract.readers"),
        (404, "it does not exist. Check the kubeconfig's current context"),
        (500, "the API server answers 500 .*. Try again, or load a file"),
    ],
)
def test_an_answer_of_the_api_server_says_what_to_do(
    status: int, message: str, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kubeconfig(tmp_path, server.server_port, monkeypatch)
    server.answer = (200, config_map("dev"))
    assert Contract.from_cluster() == Contract.from_config_map(config_map("dev"))
    server.answer = (status, {})
    with pytest.raises(ContractError, match=SUBJECT + message):
        Contract.from_cluster()


def test_a_cluster_that_is_not_there_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kubeconfig(tmp_path, 1, monkeypatch)
    with pytest.raises(ContractError, match=SUBJECT + "the cluster cannot be reached .*. Check the network or VPN"):
        Contract.from_cluster()


@pytest.mark.parametrize("content", [None, "", "{", "[]"])
def test_without_a_kubeconfig_it_says_what_to_do(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _kubeconfig(tmp_path, 1, monkeypatch)
    path = tmp_path / "kubeconfig"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ContractError, match=SUBJECT + "this is no pod, and there is no usable kubeconfig") as error:
        Contract.from_cluster()
    assert "KUBECONFIG" in str(error.value)


def test_without_the_kubernetes_package_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ContractError, match=SUBJECT + "the Python package kubernetes is not .*pip install kubernetes"):
        Contract.from_cluster()
