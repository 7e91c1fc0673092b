"""The checked-in stacks through the real engine on the emulated clouds: what a newcomer sees after `make up`."""

from __future__ import annotations

import base64
import json
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.sandbox.pods import node_of, run_pod, unschedulable
from tests.sandbox.stack import Stack, Standing, until
from tests.subjects import GKE_CLASS, Subject

pytestmark = pytest.mark.engine


@pytest.fixture
def edited(stack: Standing) -> dict[str, Any]:
    """The stack file's settings, to be changed and written."""
    return stack.config


@pytest.fixture
def gpu_node(stack: Standing, subject: Subject) -> Iterator[str]:
    """The name of a spot node with a GPU that the cloud adds, as its autoscaler would."""
    with stack.scaled(subject.spot, 1):
        selector = f"kubeflow-spot.dev/pool={subject.spot}"
        (node,) = (n["metadata"]["name"] for n in stack.get("nodes", "-l", selector)["items"])
        yield node


def device_plugins(stack: Stack) -> tuple[int, int]:
    """Desired and ready pods of the device plugin."""
    (plugin,) = stack.get("daemonsets", "-A")["items"]
    return plugin["status"]["desiredNumberScheduled"], plugin["status"]["numberReady"]


def test_the_minimum_of_the_system_and_general_pools_is_ready_and_no_gpu_node_nor_device_plugin(
    stack: Stack, subject: Subject
) -> None:
    assert until(lambda: device_plugins(stack) == (0, 0))
    assert "NAME" in stack.run("kubectl", "--", "get", "nodes").stdout
    nodes = stack.get("nodes")["items"]
    assert Counter(node["metadata"]["labels"]["kubeflow-spot.dev/pool"] for node in nodes) == subject.at_first
    for node in nodes:
        assert {"type": "Ready", "status": "True"} in [
            {key: c[key] for key in ("type", "status")} for c in node["status"]["conditions"]
        ]
        assert "nvidia.com/gpu" not in node["status"]["capacity"]
        assert node["metadata"]["labels"]["kubeflow-spot.dev/capacity"] == "on-demand"
        assert "taints" not in node["spec"]
        name = node["metadata"]["labels"]["kubeflow-spot.dev/pool"]
        assert re.fullmatch(subject.node_name.format(pool=name), node["metadata"]["name"])


def test_a_gpu_node_has_the_declared_labels_and_taints_and_gets_the_device_plugin(
    stack: Stack, subject: Subject, gpu_node: str
) -> None:
    node = stack.get("node", gpu_node)
    declared = {
        "gpu": "true",
        "kubeflow-spot.dev/accelerator": subject.accelerator,
        "kubeflow-spot.dev/capacity": "spot",
        "kubeflow-spot.dev/pool": subject.spot,
        **subject.added_labels,
    }
    taints = {"nvidia.com/gpu=present:NoSchedule", "{}={}:NoSchedule".format(*subject.taint)}
    if subject.class_name:
        declared[GKE_CLASS] = subject.class_name
        taints.add(f"{GKE_CLASS}={subject.class_name}:NoSchedule")
    assert declared.items() <= node["metadata"]["labels"].items()
    there = [f"{t['key']}={t['value']}:{t['effect']}" for t in node["spec"]["taints"]]
    assert sorted(there) == sorted(taints)
    assert until(lambda: device_plugins(stack) == (1, 1))
    assert until(lambda: stack.get("node", gpu_node)["status"]["allocatable"].get("nvidia.com/gpu") == "1")
    (pod,) = (one for one in stack.get("pods", "-n", "kube-system")["items"] if one["spec"]["nodeName"] == gpu_node)
    assert pod["status"]["phase"] == "Running"


def test_only_pods_that_tolerate_spot_land_on_the_gpu_node(stack: Stack, subject: Subject, gpu_node: str) -> None:
    gpu = {
        "containers": [{"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
    }
    there = {"nodeSelector": {"kubeflow-spot.dev/pool": subject.spot}}
    run_pod(stack, "plain")
    run_pod(stack, "plain-pinned", **there)
    run_pod(stack, "gpu-only", **gpu, **there)
    run_pod(stack, "spot-only", tolerations=[subject.toleration], **there)
    run_pod(stack, "gpu-spot", tolerations=[subject.toleration], **gpu)
    try:
        assert until(lambda: node_of(stack, "gpu-spot") == gpu_node)
        assert until(lambda: node_of(stack, "plain") not in ("", gpu_node))
        for refused in ("plain-pinned", "gpu-only", "spot-only"):
            assert until(lambda pod=refused: "untolerated taint" in unschedulable(stack, pod)), refused
            assert node_of(stack, refused) == ""
    finally:
        stack.kubectl("delete", "pod", "--all", "-n", "default", "--wait=false")


def test_the_autoscalers_order_is_in_the_cluster(stack: Stack, subject: Subject) -> None:
    if subject.class_name:
        spec = stack.get("computeclass", subject.class_name)["spec"]
        assert [rule["nodepools"] for rule in spec["priorities"]] == [[pool] for pool in subject.order]
        assert spec["whenUnsatisfiable"] == "DoNotScaleUp"
        return
    data = stack.get("configmap", "cluster-autoscaler-priority-expander", "-n", "kube-system")["data"]
    tiers = yaml.safe_load(data["priorities"])
    assert [tiers[number] for number in sorted(tiers, reverse=True)] == [
        ["^aks-general-[0-9]+-vmss$"],
        ["^aks-system-[0-9]+-vmss$"],
        ["^aks-t4-[0-9]+-vmss$"],
        ["^aks-t4od-[0-9]+-vmss$"],
        [".*"],
    ]


def test_a_second_up_changes_nothing(stack: Stack) -> None:
    done = stack.run("up")
    assert "nothing changed" in done.stdout
    assert "warning" not in done.stdout


def test_a_changed_bound_is_exactly_one_update(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    edited["pools"][1]["maxNodes"] = 9
    stack.write(edited)
    assert stack.steps() == [("update", f"{subject.cluster}-{subject.spot}", [subject.most])]


def test_the_order_of_pools_shows_nothing(stack: Stack, edited: dict[str, Any]) -> None:
    edited["pools"].reverse()
    stack.write(edited)
    assert stack.steps() == []


def test_a_new_pool_changes_the_layer_in_place(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    edited["pools"].append(subject.another)
    stack.write(edited)
    contract = ("configmap", "kubeflow-spot", "-n", "kube-public")
    there = stack.get(*contract)
    assert sorted((op, name) for op, name, _ in stack.steps()) == [
        ("create", f"{subject.cluster}-{subject.another['name']}"),
        *(("update", f"{subject.cluster}-{name}") for name in subject.changed_by_another),
    ]
    # A preview asks the API server what it would make of an object, and changes none.
    assert stack.get(*contract) == there


def test_wrong_settings_print_every_problem_without_a_traceback_and_declare_nothing(
    stack: Stack, subject: Subject, edited: dict[str, Any]
) -> None:
    subject.mistake(edited)
    edited["sistemPool"] = edited.pop("systemPool")
    stack.write(edited)
    done = stack.run("up", ok=False)
    printed = done.stdout + done.stderr
    for expected in (
        *subject.told,
        "sistemPool: is not a setting of this program",
        "did you mean `systemPool`?",
        "systemPool: is missing",
    ):
        assert expected in printed
    assert printed.count(subject.told[0]) == 1
    assert "Traceback" not in printed
    assert " created" not in printed
    preview = json.loads(stack.run("preview", "--json", ok=False).stdout)
    assert [step for step in preview["steps"] if step["op"] != "same"] == []
    assert len(preview["errors"]) == 1


def test_what_the_cloud_refuses_is_told_in_its_words(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    subject.refused(edited)
    stack.write(edited)
    done = stack.run("up", ok=False)
    assert subject.refusal in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_an_update_keeps_the_nodes_the_autoscaler_made(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    def running(pool: str) -> int:
        return len(stack.get("nodes", "-l", f"kubeflow-spot.dev/pool={pool}")["items"])

    def uids() -> set[str]:
        return {node["metadata"]["uid"] for node in stack.get("nodes")["items"]}

    stack.run("scale", subject.spot, "3")
    stack.run("scale", "system", "3")
    before = uids()
    assert stack.steps() == []
    pool = edited["pools"][1]
    name, twin, contract = (f"{subject.cluster}-{one}" for one in (subject.spot, subject.twin, "contract"))
    # The label is the twin's as well, and the contract tells of it.
    label = [subject.label.format(key="team")]
    told = ['data["pools.json"]', 'data["pools.yaml"]']
    changes: list[tuple[str, Callable[[], Any], list[tuple[str, list[str]]]]] = [
        ("maxNodes", lambda: pool.update(maxNodes=7), [(name, [subject.most])]),
        ("label", lambda: pool["labels"].update(team="vision"), [(contract, told), (name, label), (twin, label)]),
        ("minNodes", lambda: pool.update(minNodes=1), [(name, [subject.least])]),
    ]
    for changed, change, expected in changes:
        change()
        stack.write(edited)
        assert sorted(stack.steps()) == [("update", *step) for step in expected], changed
        stack.run("up")
        assert (running(subject.spot), running("system"), running("general")) == (3, 3, subject.at_first["general"]), (
            changed
        )
        assert uids() == before, changed
        assert stack.steps() == [], changed
    # The cluster's own update, which on AKS lists the system pool, leaves all counts alone.
    edited["cluster"]["tags"]["owner"] = "platform"
    stack.write(edited)
    assert subject.cluster in [name for _, name, _ in stack.steps()]
    stack.run("up")
    assert uids() == before
    assert stack.steps() == []
    edited["systemPool"]["minNodes"] = 4
    pool["maxNodes"] = 2
    stack.write(edited)
    stack.run("up")
    assert until(lambda: (running(subject.spot), running("system")) == subject.bounds_move)
    assert stack.steps() == []


def test_secrets_are_in_no_state_log_or_output(stack: Stack, subject: Subject) -> None:
    (token_file,) = stack.home.rglob("token")
    token = token_file.read_text()
    assert len(token) > 20
    kubeconfig = json.loads(stack.run("outputs", "--json", "--show-secrets").stdout)["kubeconfig"]
    assert (token in kubeconfig) == subject.token_in_kubeconfig
    secrets = [token.encode(), base64.b64encode(kubeconfig.encode())]
    ups = [stack.run("up"), stack.run("outputs"), stack.run("preview", "--json")]
    printed = "".join(done.stdout + done.stderr for done in ups).encode()
    assert [secret for secret in secrets if secret in printed] == []
    assert b"[secret]" in printed
    # The API server's own files must hold it; nobody else may read those.
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


def test_a_cluster_whose_processes_died_comes_back_with_the_next_up(stack: Stack, subject: Subject) -> None:
    running = processes_below(stack.home)
    assert len(running) == 6
    for process in running:
        process.kill()
    psutil.wait_procs(running, timeout=10)
    assert "nothing changed" in stack.run("up").stdout
    assert len(stack.get("nodes")["items"]) == sum(subject.at_first.values())


def test_down_leaves_no_process_and_no_state_and_up_works_again(stack: Stack, subject: Subject) -> None:
    told = stack.run("down").stdout
    # `down` does it itself.
    assert "pulumi stack rm" not in told
    assert told.endswith(f"stack {stack.name} is down\n")
    assert processes_below(stack.home) == []
    assert sorted(path.name for path in stack.home.iterdir()) == [
        f"{subject.name}+cloud.lock",
        f"{subject.name}+command.lock",
    ]
    assert "is not up" in stack.run("down").stdout
    assert re.search(r"is up after .*: \d+ create$", stack.run("up").stdout, re.MULTILINE)
    assert stack.steps() == []


def processes_below(home: Path) -> list[psutil.Process]:
    """Running processes that name a path below the sandbox's home."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(str(home) in part for part in process.info["cmdline"] or [])
    ]


@pytest.mark.slow
def test_a_protected_stack_refuses_down_and_loses_nothing_and_no_command_changes_a_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    prod = Stack.copy(tmp_path_factory.mktemp("prod"), "prod")
    prod.run("up")
    try:
        nodes = len(prod.get("nodes")["items"])
        done = prod.run("down", ok=False)
        assert "because it is protected" in done.stdout
        assert re.search(r"down --stack prod .*--force", done.stderr)
        assert len(prod.get("nodes")["items"]) == nodes == 5
        assert prod.steps() == []
        versions = {node["status"]["nodeInfo"]["kubeletVersion"] for node in prod.get("nodes")["items"]}
        assert [version.rpartition(".")[0] for version in versions] == ["v1.35"]
        for command in ("status", "outputs", "preview", "up"):
            prod.run(command)
        prod.run("scale", "t4", "1")
        assert prod.changed_files() == ""
    finally:
        prod.run("down", "--force")
    assert prod.changed_files() == ""
    assert processes_below(prod.home) == []
