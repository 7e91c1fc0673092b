"""The dev stack's cluster grows and shrinks by itself: with the real scheduler, the real ConfigMap, and the loops of the cloud."""

import json
import re
import shutil
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from sandbox.autoscaler.journal import decisions
from sandbox.cluster.control_plane.certificates import ensure_certificates
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.tests.stack import PROJECT, Stack
from sandbox.tests.stateful import claim, pod_with, stateful_set

from .objects import GPU, SPOT

engine = pytest.mark.engine

IDLE = {"system": 2, "general": 1}
"""The nodes of each pool without work."""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with pytest.MonkeyPatch.context() as patch:
        # Ten minutes of the profile take five seconds.
        patch.setenv("SANDBOX_CLOCK_FACTOR", "120")
        stack = Stack.copy(tmp_path_factory.mktemp("stack"))
        stack.run("up")
        yield stack
        stack.run("down", "--force")


@pytest.fixture
def stack(up: Stack) -> Iterator[Stack]:
    """Yield the dev stack without work. Pods that a test leaves are deleted, and their nodes removed, before the next test."""
    yield up
    up.kubectl("delete", "pod", "--all", "--wait=false")
    eventually(lambda: sizes(up) == IDLE, log_of(up))


def eventually(condition: Callable[[], bool], log: Path, seconds: float = 90) -> None:
    """Wait until the condition holds; the log is shown when it does not."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so after {seconds} s; {log.name}:\n{log.read_text()}"
        time.sleep(0.3)


def create(stack: Stack, *names: str, tolerations: Any = (), **requests: str) -> None:
    """Create pods of these names in the namespace default."""
    resources = {"requests": requests} | ({"limits": {GPU["key"]: "1"}} if GPU in tolerations else {})
    spec = {
        "containers": [{"name": "main", "image": "example.com/train:1", "resources": resources}],
        "tolerations": list(tolerations),
    }
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec} for name in names]
    path = stack.project.parent / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    stack.kubectl("create", "-f", str(path))


def placed(stack: Stack) -> Counter[str]:
    """Return the running pods of the namespace default by pool; those without a node are under ""."""
    nodes = {n["metadata"]["name"]: n["metadata"]["labels"]["agentpool"] for n in stack.get("nodes")["items"]}
    return Counter(nodes.get(pod["spec"].get("nodeName", ""), "") for pod in stack.get("pods")["items"])


def sizes(stack: Stack) -> Counter[str]:
    return Counter(node["metadata"]["labels"]["agentpool"] for node in stack.get("nodes")["items"])


def log_of(stack: Stack) -> Path:
    (log,) = stack.home.rglob("autoscaler.log")
    return log


def grown(stack: Stack) -> list[str]:
    """Return the pools that the autoscaler has scaled up so far, in order."""
    matches = [re.search(r"  pool (\w+): \d+ -> \d+ nodes for", line) for line in decisions(log_of(stack), 100)]
    return [match[1] for match in matches if match]


def gpus(stack: Stack, pool: str) -> list[str | None]:
    nodes = stack.get("nodes", "-l", f"agentpool={pool}")["items"]
    return [node["status"]["allocatable"].get("nvidia.com/gpu") for node in nodes]


def autoscaler(stack: Stack) -> psutil.Process:
    (running,) = (
        process
        for process in psutil.process_iter(["cmdline"])
        if "sandbox.autoscaler" in (process.info["cmdline"] or []) and str(stack.home) in str(process.info["cmdline"])
    )
    return running


@engine
def test_gpu_pods_scale_up_spot_first_then_the_twin_and_empty_nodes_are_removed(stack: Stack) -> None:
    before = len(grown(stack))
    names = [f"train-{number}" for number in range(10)]
    create(stack, *names, tolerations=[SPOT, GPU], cpu="1")
    eventually(lambda: placed(stack) == {"t4": 8, "t4od": 2}, log_of(stack))
    assert sizes(stack) == {**IDLE, "t4": 8, "t4od": 2}
    # In one step or several, as pods arrive: spot is full before the on-demand twin gets its first node.
    order = grown(stack)[before:]
    assert order == sorted(order, key=["t4", "t4od"].index)
    assert "pool t4od: 0 -> " in stack.run("status").stdout
    assert gpus(stack, "t4") == ["1"] * 8

    # One node still has work and stays.
    nodes = {name: stack.get("pod", name)["spec"]["nodeName"] for name in names}
    remaining = next(name for name, node in nodes.items() if re.fullmatch(r"aks-t4-\d+-vmss000003", node))
    kept = nodes[remaining]
    stack.kubectl("delete", "pod", *(name for name in names if name != remaining), "--wait=false")
    eventually(lambda: sizes(stack) == {**IDLE, "t4": 1}, log_of(stack))
    assert stack.get("pod", remaining)["spec"]["nodeName"] == kept
    assert stack.get("node", kept)
    assert stack.steps() == []


@engine
def test_a_datastore_runs_with_its_volumes_which_are_deleted_with_it(stack: Stack) -> None:
    path = stack.project.parent / "datastore.json"
    items = [
        stateful_set("mysql", 2),
        claim("shared", "ReadWriteMany", storageClassName="azurefile-csi"),
        claim("wrong", "ReadWriteMany", storageClassName="default"),
        pod_with("wrong"),
        claim("unused"),
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    stack.kubectl("create", "-f", str(path))

    def phases(kind: str) -> dict[str, str]:
        return {body["metadata"]["name"]: body["status"].get("phase", "") for body in stack.get(kind)["items"]}

    bound = {"data-mysql-0": "Bound", "data-mysql-1": "Bound", "shared": "Bound"}
    eventually(
        lambda: phases("persistentvolumeclaims") == {**bound, "wrong": "Pending", "unused": "Pending"}, log_of(stack)
    )
    eventually(
        lambda: phases("pods") == {"mysql-0": "Running", "mysql-1": "Running", "wrong": "Pending"}, log_of(stack)
    )
    refused = 'failed to provision volume with StorageClass "default"'
    eventually(
        lambda: refused in stack.kubectl("get", "events", "--field-selector=reason=ProvisioningFailed"), log_of(stack)
    )
    volumes = stack.get("persistentvolumes")["items"]
    # The machines of this stack have no zone.
    zones = {str(body["spec"].get("nodeAffinity")) for body in volumes if body["spec"]["storageClassName"] == "default"}
    assert len(zones) == 1
    assert "'values': ['']" in zones.pop()

    stack.kubectl("delete", "-f", str(path), "--wait=false")
    eventually(lambda: phases("persistentvolumes") == phases("persistentvolumeclaims") == {}, log_of(stack))
    assert stack.steps() == []


@engine
def test_cpu_pods_never_scale_up_a_gpu_pool_even_with_every_toleration(stack: Stack) -> None:
    before = len(grown(stack))
    create(stack, *(f"step-{number}" for number in range(8)), cpu="3")
    create(stack, "notebook", tolerations=[{"operator": "Exists"}], cpu="3")
    create(stack, "impossible", cpu="30")
    eventually(lambda: placed(stack)[""] == 1, log_of(stack))
    assert set(sizes(stack)) == {"system", "general"}
    assert set(grown(stack)[before:]) == {"general"}
    line = "no pool can grow for 1 pod (default/impossible): "
    eventually(lambda: line in log_of(stack).read_text(), log_of(stack))


@engine
def test_nodes_have_gpus_while_the_device_plugin_runs(stack: Stack) -> None:
    (plugin,) = stack.get("daemonsets", "-A")["items"]
    target = ["daemonset", plugin["metadata"]["name"], "-n", plugin["metadata"]["namespace"], "--type=merge", "-p"]

    def only_on(value: str | None) -> None:
        stack.kubectl(
            "patch", *target, json.dumps({"spec": {"template": {"spec": {"nodeSelector": {"there": value}}}}})
        )

    create(stack, "train", tolerations=[SPOT, GPU])
    eventually(lambda: gpus(stack, "t4") == ["1"], log_of(stack))
    only_on("none")
    try:
        eventually(lambda: gpus(stack, "t4") == ["0"], log_of(stack))
    finally:
        only_on(None)
    eventually(lambda: gpus(stack, "t4") == ["1"], log_of(stack))


@engine
def test_it_continues_after_a_restart_of_the_api_server_and_returns_after_it_was_killed(stack: Stack) -> None:
    before = autoscaler(stack)
    assert before.memory_info().rss < 60e6
    (record,) = stack.home.rglob("kube-apiserver.json")
    server = psutil.Process(json.loads(record.read_text())["pid"])
    server.kill()
    psutil.wait_procs([server], timeout=10)
    stack.run("up")
    assert autoscaler(stack).pid == before.pid
    create(stack, "train", tolerations=[SPOT, GPU])
    eventually(lambda: placed(stack) == {"t4": 1}, log_of(stack))
    before.kill()
    psutil.wait_procs([before], timeout=10)
    assert "autoscaler" in stack.run("status").stdout
    assert "not every process" in stack.run("outputs", ok=False).stderr
    stack.run("up")
    assert autoscaler(stack).pid != before.pid


@engine
def test_a_pool_whose_machines_are_refused_is_skipped_and_the_next_one_scales_up(stack: Stack, tmp_path: Path) -> None:
    quotas = tmp_path / "cloud.yaml"
    quotas.write_text(yaml.safe_dump({"quotas": {"westeurope": {"lowPriorityCores": 0}}}))
    stack.run("up", "--cloud", str(quotas))
    before = len(grown(stack))
    create(stack, "train-a", "train-b", tolerations=[SPOT, GPU])
    eventually(lambda: placed(stack) == {"t4od": 2}, log_of(stack))
    assert set(grown(stack)[before:]) == {"t4od"}
    assert re.search(
        r"pool t4: 0 -> \d nodes refused for .*exceeding approved LowPriorityCores quota", log_of(stack).read_text()
    )
    assert sizes(stack)["t4"] == 0
    # The pool scales up again when the cloud allows it, which the next test needs.
    quotas.write_text("quotas: {}")
    stack.run("up", "--cloud", str(quotas))
    create(stack, "train-c", tolerations=[SPOT, GPU])
    eventually(lambda: sizes(stack)["t4"] == 1, log_of(stack))


@pytest.mark.process
@pytest.mark.parametrize("end", ["folder", "signal"])
def test_it_ends_on_request_and_when_the_folder_of_its_control_plane_is_deleted(tmp_path: Path, end: str) -> None:
    directory = tmp_path / "cluster"
    ensure_certificates(directory / "certificates", "10.0.0.0/16")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        arguments = [f"--directory={directory}", f"--port={nobody.getsockname()[1]}"]
    arguments += ["--cloud=azure", f"--state={tmp_path / 'azure.json'}", "--cluster=/none"]
    process = Process("autoscaler", tmp_path)
    command = [sys.executable, "-P", "-m", "sandbox.autoscaler", *arguments]
    process.launch(command, [], {"PYTHONPATH": str(PROJECT)})
    running = process.find()
    assert running
    try:
        eventually(lambda: len(psutil.Process(running.pid).threads()) > 1, process.log)
        assert process.exit_code() is None
        if end == "folder":
            shutil.rmtree(directory)
        else:
            running.terminate()
        eventually(lambda: process.exit_code() is not None, process.log, 10)
        assert process.exit_code() == 0
        assert "Traceback" not in process.log.read_text()
    finally:
        stop_all([process])
