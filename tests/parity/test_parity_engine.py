"""A few drawn stacks on both clouds, through the real engine: the real scheduler puts the same pods on the same sort of node."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.admission.corpus import corpus
from tests.parity.drawn import Settings, neutral, on_aks, on_gke
from tests.parity.test_parity import Side, landings, portable
from tests.sandbox.stack import Stack, until

pytestmark = pytest.mark.slow

NAMES = ("job-gpu", "job-gpu-require-spot", "job-gpu-on-demand", "notebook-gpu", "kfp-executor-cpu", "kserve-raw-gpu")
"""Golden pods: training with GPUs of each placement, a notebook and a predictor with one, and a step without."""
POOL = "kubeflow-spot.dev/pool"
PROFILE = {"app.kubernetes.io/part-of": "kubeflow-profile"}


@given(neutral())
@settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
def test_what_both_clouds_make_of_a_stack(drawn: Settings) -> None:
    aks, gke = on_aks(drawn), on_gke(drawn)
    sides = {"aks": Side.of(aks), "gke": Side.of(gke)}
    assert [portable(p) for p in sides["aks"].pools] == [portable(p) for p in sides["gke"].pools]
    found = {}
    for name, raw in (("aks", aks), ("gke", gke)):
        with up(raw) as stack:
            found[name] = landed(stack, sides[name])
    assert found["aks"] == found["gke"]


@contextmanager
def up(raw: Settings) -> Iterator[Stack]:
    """The stack in a sandbox of its own, with a node in every pool that has room for one."""
    folder = Path(tempfile.mkdtemp())
    stack = Stack.copy(folder)
    stack.write(raw)
    try:
        stack.run("up")
        for pool in stack.outputs()["pools"]:
            if pool["minNodes"] == 0:
                stack.run("scale", pool["name"], "1")
        yield stack
    finally:
        stack.run("down")
        shutil.rmtree(folder)


def landed(stack: Stack, side: Side) -> dict[str, str]:
    """For each pod the capacity of its node, or that it waits; its pool is one that it may go to."""
    made: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", "labels": PROFILE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default-editor", "namespace": "team-a"}},
    ]
    result = {}
    apply(stack, made)
    for name in NAMES:
        golden = corpus()[name]
        apply(stack, [golden.object])
        kind, metadata = golden.object["kind"].lower(), golden.object["metadata"]
        assert until(lambda: bool(decided(stack))), name
        node, _ = decided(stack)[0]
        labels = stack.get("node", node)["metadata"]["labels"] if node else {}
        may = {*landings(golden, side), "system"} if not golden.gpu else set(landings(golden, side))
        assert not node or labels[POOL] in may, name
        result[name] = labels.get("kubeflow-spot.dev/capacity", "pending")
        stack.kubectl("delete", kind, metadata["name"], "-n", "team-a", "--grace-period=0", "--force")
        assert until(lambda: not stack.get("pods", "-n", "team-a")["items"]), name
    return result


def decided(stack: Stack) -> list[tuple[str, str]]:
    """Node and phase of each pod that the scheduler has decided on; no node for one that it found none for."""
    pods = stack.get("pods", "-n", "team-a")["items"]
    return [
        (pod["spec"].get("nodeName", ""), pod["status"].get("phase", ""))
        for pod in pods
        if pod["spec"].get("nodeName") or any(c["type"] == "PodScheduled" for c in pod["status"].get("conditions", ()))
    ]


def apply(stack: Stack, objects: list[dict[str, Any]]) -> None:
    path = stack.project.parent / "objects.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    stack.kubectl("create", "-f", str(path))
