"""`sandbox evict` and `sandbox capacity` on a running stack: the cloud takes spot machines back and has no others."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.cluster import plugins
from sandbox.tests.stack import Stack, until
from sandbox.tests.subjects import Subject

pytestmark = pytest.mark.engine


def facts_of(subject: Subject) -> SpotFacts:
    return plugins.plugin("azure" if subject.name == "dev" else "gcp").spot


def nodes_of(stack: Stack, pool: str) -> dict[str, dict[str, Any]]:
    """Return the nodes of a pool by name."""
    found = stack.get("nodes", "-l", f"kubeflow-spot.dev/pool={pool}")["items"]
    return {node["metadata"]["name"]: node for node in found}


def pod_on(stack: Stack, node: str) -> None:
    """Create a pod that runs on a node until somebody ends it."""
    spec = {
        "nodeName": node,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "main", "image": "example.com/train:1"}],
    }
    path = stack.project.parent / "pod.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": spec}))
    stack.kubectl("create", "-f", str(path))
    assert until(lambda: phase(stack) == "Running")


def phase(stack: Stack) -> str:
    """Return the phase of the pod, and why; "gone" without one."""
    pods = [pod for pod in stack.get("pods")["items"] if pod["metadata"]["name"] == "train"]
    return " ".join(pods[0]["status"].get(key, "") for key in ("phase", "reason")).strip() if pods else "gone"


def test_the_cloud_takes_spot_nodes_back_and_refuses_others(
    stack: Stack, subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(subject)
    machine = next(pool["machine"] for pool in stack.config["pools"] if pool["name"] == subject.spot)
    stack.run("scale", subject.spot, "1")
    (taken,) = nodes_of(stack, subject.spot)
    stack.run("scale", subject.spot, "3")
    before = nodes_of(stack, subject.spot)
    pod_on(stack, taken)
    # Half a minute of notice takes six seconds: time enough to look.
    monkeypatch.setenv("SANDBOX_CLOCK_FACTOR", "5")

    with (tmp_path / "evict").open("w") as output:
        evicting = stack.start("evict", output, subject.spot, "--nodes", "1")
        ended = {"deleted": "gone", "failed": "Failed Terminated"}[facts.pods]
        assert until(lambda: phase(stack) == ended)
        noticed = nodes_of(stack, subject.spot)[taken]
        assert evicting.wait() == 0
    assert facts.taint.key in {taint["key"] for taint in noticed["spec"]["taints"]}
    (condition,) = [c for c in noticed["status"]["conditions"] if c["type"] == facts.condition.type]
    assert (condition["status"], condition["reason"]) == (facts.condition.status, facts.condition.reason)
    events = stack.kubectl("get", "events", "--field-selector", f"involvedObject.name={taken}", "-o", "name")
    assert all(f"{taken}.{reason.lower()}" in events for reason in facts.events)
    assert phase(stack) == "gone"
    after = nodes_of(stack, subject.spot)
    assert before[taken]["metadata"]["uid"] not in {node["metadata"]["uid"] for node in after.values()}
    assert len(after) == (3 if facts.replaced else 2)

    monkeypatch.setenv("SANDBOX_CLOCK_FACTOR", "60")
    try:
        shown = stack.run("capacity", machine, "1").stdout
        assert f"spot capacity of {machine}: 1" in shown
        assert f"pool {subject.spot}: {len(after) - 1} node" in shown
        assert len(nodes_of(stack, subject.spot)) == 1
        assert facts.refused.code in stack.run("scale", subject.spot, "2", ok=False).stderr
        assert f"spot capacity of {machine}: 1" in stack.run("status").stdout
    finally:
        stack.run("capacity", machine, "any")
    stack.run("scale", subject.spot, "2")


@pytest.mark.slow
def test_an_eviction_that_is_killed_is_finished_by_up(stack: Stack, subject: Subject, tmp_path: Path) -> None:
    facts = facts_of(subject)
    stack.run("scale", subject.spot, "2")
    with (tmp_path / "killed").open("w") as output:
        evicting = stack.start("evict", output, subject.spot, "--nodes", "1")
        assert until(lambda: facts.taint.key in json.dumps(list(nodes_of(stack, subject.spot).values())))
        evicting.kill()
        evicting.wait()
    stack.run("up")
    left = nodes_of(stack, subject.spot)
    assert len(left) == (2 if facts.replaced else 1)
    assert facts.taint.key not in json.dumps(list(left.values()))
    assert stack.steps() == []
