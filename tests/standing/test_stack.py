"""The checked-in stacks through the real engine on the emulated clouds, as a newcomer sees them after `make up`."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from sandbox.tests.pods import node_of, run_pod, unschedulable
from sandbox.tests.stack import Stack, Standing, until
from sandbox.tests.subjects import GKE_CLASS, Subject

pytestmark = pytest.mark.engine


@pytest.fixture
def edited(stack: Standing) -> dict[str, Any]:
    """Return the stack file's settings, to be changed and written."""
    return stack.config


@pytest.fixture
def gpu_node(stack: Standing, subject: Subject) -> Iterator[str]:
    """Yield the name of a spot node with a GPU that the cloud adds, as its autoscaler would."""
    with stack.scaled(subject.spot, 1):
        selector = f"kubeflow-spot.dev/pool={subject.spot}"
        (node,) = (n["metadata"]["name"] for n in stack.get("nodes", "-l", selector)["items"])
        yield node


def device_plugins(stack: Stack) -> tuple[int, int]:
    """Desired and ready pods of the device plugin."""
    (plugin,) = stack.get("daemonsets", "-A")["items"]
    return plugin["status"]["desiredNumberScheduled"], plugin["status"]["numberReady"]


def taints_of(stack: Stack, node: str) -> set[str]:
    return {f"{t['key']}={t.get('value', '')}:{t['effect']}" for t in stack.get("node", node)["spec"]["taints"]}


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
    # Kubernetes takes its own taint of a node that is not ready away a moment later.
    assert until(lambda: taints_of(stack, gpu_node) == taints)
    assert until(lambda: device_plugins(stack) == (1, 1))
    assert until(lambda: stack.get("node", gpu_node)["status"]["allocatable"].get("nvidia.com/gpu") == "1")
    (pod,) = (pod for pod in stack.get("pods", "-n", "kube-system")["items"] if pod["spec"]["nodeName"] == gpu_node)
    assert pod["status"]["phase"] == "Running"


def test_only_pods_that_tolerate_spot_land_on_the_gpu_node(stack: Stack, subject: Subject, gpu_node: str) -> None:
    gpu = {
        "containers": [{"name": "main", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
    }
    pinned = {"nodeSelector": {"kubeflow-spot.dev/pool": subject.spot}}
    run_pod(stack, "plain")
    run_pod(stack, "plain-pinned", **pinned)
    run_pod(stack, "gpu-only", **gpu, **pinned)
    run_pod(stack, "spot-only", tolerations=[subject.toleration], **pinned)
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
    second = stack.run("up")
    assert "nothing changed" in second.stdout
    # staging's project is nobody's, which a real cloud's stack is refused for.
    warned = [line for line in second.stdout.splitlines() if "warning: " in line]
    assert all("which examples show and nobody has" in line for line in warned)


@pytest.mark.repeats
def test_an_output_that_changes_without_a_resource_is_named(stack: Stack, edited: dict[str, Any]) -> None:
    stack.write({**edited, "queueing": {"enabled": True, "namespaces": ["team-a"]}})
    said = stack.run("up").stdout
    assert ": changed outputs: queueing\n" in said
    assert "nothing changed" not in said


@pytest.mark.repeats
def test_a_changed_bound_is_exactly_one_update(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    edited["pools"][1]["maxNodes"] = 9
    stack.write(edited)
    assert stack.steps() == [("update", f"{subject.cluster}-{subject.spot}", [subject.most])]


@pytest.mark.repeats
def test_another_order_of_pools_changes_nothing(stack: Stack, edited: dict[str, Any]) -> None:
    edited["pools"].reverse()
    stack.write(edited)
    assert stack.steps() == []


def test_a_new_pool_changes_the_layer_in_place(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    edited["pools"].append(subject.another)
    stack.write(edited)
    contract = ("configmap", "kubeflow-spot", "-n", "kube-public")
    before = stack.get(*contract)
    assert sorted((op, name) for op, name, _ in stack.steps()) == [
        ("create", f"{subject.cluster}-{subject.another['name']}"),
        *(("update", f"{subject.cluster}-{name}") for name in subject.changed_by_further_pool),
    ]
    # A preview sends dry runs to the API server, which change no object.
    assert stack.get(*contract) == before


@pytest.mark.repeats
def test_wrong_settings_print_every_problem_without_a_traceback_and_declare_nothing(
    stack: Stack, subject: Subject, edited: dict[str, Any]
) -> None:
    subject.mistake(edited)
    edited["sistemPool"] = edited.pop("systemPool")
    pool = edited["pools"][0]
    machine = pool.pop("machine")
    pool |= {"vmSize": machine, "maxCount": pool.pop("maxNodes"), "minCount": 0}
    stack.write(edited)
    refused = stack.run("up", ok=False)
    printed = refused.stdout + refused.stderr
    for expected in (
        *subject.mistake_messages,
        "sistemPool: is not a setting of this program",
        "did you mean `systemPool`?",
        'mended, pool "general" reads:',
        f"machine: {machine}",
    ):
        assert expected in printed
    assert printed.count(subject.mistake_messages[0]) == 1
    assert "Traceback" not in printed
    assert " created" not in printed
    preview = json.loads(stack.run("preview", "--json", ok=False).stdout)
    assert preview["steps"] == []
    assert len(preview["errors"]) == 1

    # A preview reads on behind a line that is no YAML.
    stack.file.write_text(stack.file.read_text().replace("kubeflow-spot:release: ", "kubeflow-spot:release ", 1))
    told = json.loads(stack.run("preview", "--json", ok=False).stdout)["errors"]
    assert "is not YAML: a colon is missing after `kubeflow-spot:release`" in told[0]
    assert told[1:] == preview["errors"]


def test_a_refusal_by_the_cloud_is_printed_as_it_is(stack: Stack, subject: Subject, edited: dict[str, Any]) -> None:
    subject.refused(edited)
    stack.write(edited)
    refused = stack.run("up", ok=False)
    assert subject.refusal in refused.stdout
    assert "Traceback" not in refused.stdout + refused.stderr


def test_an_update_keeps_the_nodes_that_the_autoscaler_added(
    stack: Stack, subject: Subject, edited: dict[str, Any]
) -> None:
    def running(pool: str) -> int:
        return len(stack.get("nodes", "-l", f"kubeflow-spot.dev/pool={pool}")["items"])

    def uids() -> set[str]:
        return {node["metadata"]["uid"] for node in stack.get("nodes")["items"]}

    stack.run("scale", subject.spot, "3")
    stack.run("scale", "system", "3")
    before = uids()
    pool = edited["pools"][1]
    name, twin, contract = (f"{subject.cluster}-{part}" for part in (subject.spot, subject.twin, "contract"))
    # The on-demand twin has the label as well, and the contract lists it.
    label = [subject.label.format(key="team")]
    listed = ['data["pools.json"]', 'data["pools.yaml"]']
    changes: list[tuple[str, Callable[[], Any], list[tuple[str, list[str]]]]] = [
        ("maxNodes", lambda: pool.update(maxNodes=7), [(name, [subject.most])]),
        ("label", lambda: pool["labels"].update(team="vision"), [(contract, listed), (name, label), (twin, label)]),
        ("minNodes", lambda: pool.update(minNodes=1), [(name, [subject.least])]),
    ]
    if subject.name == "dev":
        # By the fewest GPU nodes, of which all may be unready at once.
        changes[2][2].append((subject.cluster, ["autoScalerProfile.maxTotalUnreadyPercentage"]))
    for changed, change, expected in changes:
        change()
        stack.write(edited)
        # The steps of each further change show that nothing was left of the change before.
        assert sorted(stack.up()) == sorted(("update", *step) for step in expected), changed
        assert (running(subject.spot), running("system"), running("general")) == (3, 3, subject.at_first["general"]), (
            changed
        )
        assert uids() == before, changed
    assert stack.steps() == []
    # An update of the cluster, which on AKS lists the system pool, keeps all counts.
    edited["cluster"]["tags"]["owner"] = "platform"
    stack.write(edited)
    assert subject.cluster in [name for _, name, _ in stack.up()]
    assert uids() == before
    assert stack.steps() == []
    edited["systemPool"]["minNodes"] = 4
    pool["maxNodes"] = 2
    stack.write(edited)
    stack.run("up")
    assert until(lambda: (running(subject.spot), running("system")) == subject.bounds_move)
    assert stack.steps() == []
