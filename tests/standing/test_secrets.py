"""Secrets of a running stack: readable only by their owner, and in no state, log or output."""

from __future__ import annotations

import base64
import json
import socket

import pytest

from sandbox.tests.stack import Stack

pytestmark = pytest.mark.engine


def test_secrets_are_in_no_state_log_or_output(stack: Stack) -> None:
    (token_file,) = stack.home.rglob("token")
    token = token_file.read_text()
    assert len(token) > 20
    kubeconfig = json.loads(stack.run("outputs", "--json", "--show-secrets").stdout)["kubeconfig"]
    assert token not in kubeconfig
    secrets = [token.encode(), base64.b64encode(kubeconfig.encode())]
    ups = [stack.run("up"), stack.run("outputs"), stack.run("preview", "--json")]
    printed = "".join(up.stdout + up.stderr for up in ups).encode()
    assert [secret for secret in secrets if secret in printed] == []
    assert b"[secret]" in printed
    # The API server's own files contain it; only their owner may read them.
    own = [token_file, *stack.home.rglob("tokens.csv")]
    files = [path for path in stack.home.rglob("*") if path.is_file() and not path.is_symlink() and path not in own]
    assert len(files) > 20
    assert [path for path in files if any(secret in path.read_bytes() for secret in secrets)] == []
    private = [*own, *stack.home.rglob("*.key"), *stack.home.rglob("*.kubeconfig"), *stack.home.rglob("passphrase")]
    assert len(private) > 8
    assert [path for path in private if path.stat().st_mode & 0o077] == []


def test_the_store_answers_only_holders_of_its_certificates(stack: Stack) -> None:
    (ports,) = stack.home.rglob("ports.json")
    with socket.create_connection(("127.0.0.1", json.loads(ports.read_text())["etcd"]), timeout=5) as plain:
        plain.sendall(b"GET /version HTTP/1.0\r\n\r\n")
        assert b"etcdserver" not in plain.recv(4096)
