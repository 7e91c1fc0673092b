"""Secrets of a running stack are in no state, log or output, and another user of the machine gets nothing of the cluster.

While a command runs, the engine's resource monitor answers them. As root the attacker is the user nobody. Elsewhere it is the
same user: then the files' modes are what keeps the token, and the rest of the test is the same.
"""

import base64
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.home import Home
from sandbox.cluster import clusters
from sandbox.tests.stack import Stack, until
from sandbox.tests.subjects import Subject

pytestmark = pytest.mark.engine

NOBODY = 65534
HELD = """
import asyncio, pathlib

async def held(kubeconfig):
    pathlib.Path("ASKED").touch()
    while pathlib.Path("ASKED").exists():
        await asyncio.sleep(0.05)

# The cloud has answered by then.
cluster.outputs["kubeconfig"].apply(held)
"""
Call = tuple[str, dict[str, Any]]


def provider(stack: Stack) -> dict[str, Any]:
    """Return the kubernetes provider in the stack's state."""
    resources = Checkpoint(Home.of(stack.name, stack.project)).resources()
    return next(resource for resource in resources if resource["type"] == PROVIDER)


def cluster_id(stack: Stack) -> str:
    """Return the cloud's id of the stack's cluster."""
    return clusters.cluster_of(clusters.of_stack(Home.of(stack.name, stack.project)).directory) or ""


@contextmanager
def running(stack: Stack, folder: Path) -> Iterator[list[int]]:
    """Run an `up` whose program has asked for everything and does not end; yields the ports on which its engine listens."""
    asked, main = folder / "asked", stack.project / "__main__.py"
    checked_in = main.read_text()
    main.write_text(checked_in + HELD.replace("ASKED", str(asked)))
    try:
        with (folder / "output").open("w") as output, stack.start("up", output) as command:
            assert until(asked.exists, 120), (folder / "output").read_text()
            engines = [p for p in psutil.Process(command.pid).children(recursive=True) if p.name() == "pulumi"]
            ports = [c.laddr.port for engine in engines for c in engine.net_connections("tcp") if c.status == "LISTEN"]
            assert ports
            try:
                yield ports
            finally:
                asked.unlink()
    finally:
        main.write_text(checked_in)


def attack(ports: list[int], calls: dict[str, Call], user: int | None) -> dict[str, Any]:
    """Return what these calls of the engine's monitor give to a user."""
    task = json.dumps({"user": user, "ports": ports, "calls": calls})
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.tests.stranger"], input=task, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def invoke(token: str, **arguments: Any) -> Call:
    return "Invoke", {"tok": token, "args": arguments}


def declare(type: str, name: str, content: dict[str, Any], **options: Any) -> Call:
    return "RegisterResource", {"type": type, "name": name, "custom": True, "object": content, **options}


STRANGER = NOBODY if os.geteuid() == 0 else None
REFUSED = "the program has not asked for this"
OBJECT = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "kube-system", "name": "stranger"}}
SECRET = "kubernetes:core/v1:Secret"
PROVIDER = "pulumi:providers:kubernetes"


def kubeconfigs_of(read: dict[str, Any], calls: dict[str, Call]) -> dict[str, list[str]]:
    """Return what the API server says to the kubeconfigs in each answer; none is missing that an answer has."""
    return {name: read[name]["used"] for name in calls}


def test_another_user_reads_no_credential_while_a_command_runs(stack: Stack, subject: Subject, tmp_path: Path) -> None:
    (token_file,) = stack.home.rglob("token")
    parts = dict(zip(*[iter(cluster_id(stack).strip("/").split("/"))] * 2, strict=False))
    named = {"resourceGroupName": parts.get("resourcegroups", ""), "resourceName": subject.cluster}
    credentials = "azure-native:containerservice:listManagedCluster{}Credentials"
    calls: dict[str, Call] = {
        "as the program": invoke(credentials.format("User"), **named),
        "administrator": invoke(credentials.format("Admin"), **named),
        "cluster": invoke("gcp:container/getCluster:getCluster", name=subject.cluster),
        "outputs": invoke("pulumi:pulumi:readStackOutputs", name=f"organization/kubeflow-spot/{stack.name}"),
        "state": invoke("pulumi:pulumi:getResource", urn=provider(stack)["urn"]),
    }
    with running(stack, tmp_path) as ports:
        read = attack(ports, calls, STRANGER)
        own = attack(ports, {"outputs": calls["outputs"]}, None)
    # The engine answers, and every user sees its ports.
    assert set(read["ports"]) == set(ports)
    assert read["outputs"]["return"]["outputs"]["clusterName"] == subject.cluster
    assert REFUSED in read["administrator"]["error"]
    assert REFUSED in read["cluster"]["error"]
    # The kubeconfig is in some of the answers; the token in none.
    assert token_file.read_text() not in json.dumps(read)
    assert [bool(used) for used in kubeconfigs_of(read, calls).values()] == [
        subject.name == "dev",
        False,
        False,
        True,
        True,
    ]
    opened = {used for answers in kubeconfigs_of(read, calls).values() for used in answers}
    # The user's own program gets in by the same answer; on GKE by a login program in the sandbox's folder.
    assert own["outputs"]["used"] == ["200" if subject.name == "dev" else "FileNotFoundError"]
    if STRANGER is not None:
        assert opened == {"PermissionError" if subject.name == "dev" else "FileNotFoundError"}
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    assert stat.S_IMODE((stack.home / stack.name).stat().st_mode) == 0o700


def login(command: str, *arguments: str) -> str:
    """Return a kubeconfig whose login program is a stranger's choice."""
    run = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": command,
        "args": arguments,
        "interactiveMode": "Never",
    }
    return yaml.safe_dump(
        {
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"exec": run}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }
    )


@pytest.mark.repeats
@pytest.mark.parametrize("attempt", ["reads a Secret", "makes a Secret", "runs a program", "starts a plugin"])
def test_another_user_makes_reads_and_runs_nothing_through_a_command(
    attempt: str, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, plugin = tmp_path / "ran", tmp_path / "pulumi-resource-mine"
    # Like the plugins that Pulumi's own CLI puts there.
    plugin.write_text(f"#!/bin/sh\ntouch {ran}\n")
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    own = provider(stack)
    by = f"{own['urn']}::{own['id']}"
    stack.kubectl("create", "secret", "generic", "kept", "--namespace=kube-system", "--from-literal=password=geheim")
    calls: dict[str, dict[str, Call]] = {
        "reads a Secret": {
            "it": (
                "ReadResource",
                {
                    "type": SECRET,
                    "name": "it",
                    "id": "kube-system/kept",
                    "provider": by,
                    "properties": OBJECT,
                },
            )
        },
        "makes a Secret": {"it": declare(SECRET, "it", OBJECT, provider=by)},
        "runs a program": {
            "login": declare(PROVIDER, "login", {"kubeconfig": login("touch", str(ran))}),
            "it": declare(SECRET, "it", OBJECT, provider="login"),
        },
        "starts a plugin": {"it": declare("mine:index:It", "it", {})},
    }
    try:
        with running(stack, tmp_path) as ports:
            answers = attack(ports, calls[attempt], STRANGER)
    finally:
        stack.kubectl("delete", "secret", "kept", "--namespace=kube-system")
    assert "error" in answers["it"], answers
    refusal = "no resource plugin 'pulumi-resource-mine' found" if attempt == "starts a plugin" else REFUSED
    assert refusal in (tmp_path / "output").read_text()
    assert not ran.exists()
    assert "stranger" not in [
        secret["metadata"]["name"] for secret in stack.get("secrets", "-n", "kube-system")["items"]
    ]


@pytest.mark.repeats
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
