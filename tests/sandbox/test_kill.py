"""A command killed at any moment leaves nothing that the next one does not set right.

The moments are seen in what a command has done, not counted in seconds.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.sandbox.stack import Stack

pytestmark = pytest.mark.slow

PATIENCE = 120
"""Seconds after which a moment that was never seen fails the test."""


@dataclass(frozen=True)
class Seen:
    """What a running command has done so far."""

    stack: Stack
    printed: Path

    def says(self, text: str) -> bool:
        return text in self.printed.read_text()

    def cloud(self) -> dict[str, Any]:
        """The emulated cloud's resources by the end of their ids."""
        path = self.stack.home / self.stack.name / "cloud" / "azure.json"
        stored = json.loads(path.read_text())["resources"] if path.exists() else []
        return {"/".join(resource["id"].split("/")[-2:]): resource["body"] for resource in stored}

    def cluster(self, state: str) -> bool:
        return bool(self.cloud().get("managedClusters/ml-dev", {}).get("provisioningState") == state)

    def asked(self, type: str) -> bool:
        """Whether a provider was asked to make a resource of a type."""
        kept = (self.stack.home / self.stack.name / "creating").glob("[0-9]*.json")
        return any(f"{type}::" in path.read_text() for path in kept)


def engine_of(process: psutil.Process) -> psutil.Process | None:
    found = [child for child in process.children() if "pulumi" in child.name()]
    return found[0] if found else None


def killed(stack: Stack, command: str, victim: str, moment: Callable[[Seen], bool], folder: Path) -> None:
    """Run a command and kill it, or its engine, at a moment; everything else it started runs on."""
    printed = folder / "printed.txt"
    with printed.open("w") as output:
        running = stack.start(command, output)
    seen = Seen(stack, printed)
    process = psutil.Process(running.pid)
    deadline = time.monotonic() + PATIENCE
    while not (moment(seen) and engine_of(process)):
        assert running.poll() is None, f"it ended before that: {printed.read_text()}"
        assert time.monotonic() < deadline, f"that was never seen: {printed.read_text()}"
        time.sleep(0.002)
    target = process if victim == "sandbox" else engine_of(process)
    assert target is not None
    target.kill()
    assert running.wait() != 0


UP: dict[str, Callable[[Seen], bool]] = {
    "the group exists": lambda seen: "resourceGroups/ml-dev" in seen.cloud(),
    "the cluster is being made": lambda seen: seen.cluster("Creating") and seen.says("starting etcd"),
    "the cluster exists": lambda seen: seen.cluster("Succeeded"),
    "a pool gets its nodes": lambda seen: "agentPools/general" in seen.cloud(),
    "an object is being made": lambda seen: seen.asked("kubernetes:apps/v1:DaemonSet"),
}

FOUND = {
    ("the cluster is being made", "engine"): "managedClusters/ml-dev",
    ("a pool gets its nodes", "engine"): "agentPools/general",
    ("a pool gets its nodes", "sandbox"): "agentPools/general",
}
"""What the cloud has made by then and the engine cannot know of, where that is certain."""

DOWN: dict[str, Callable[[Seen], bool]] = {
    "the engine is asked": lambda seen: True,
    "the cluster is being deleted": lambda seen: seen.cluster("Deleting"),
    "the cluster is gone": lambda seen: "managedClusters/ml-dev" not in seen.cloud(),
    "the subnet is gone": lambda seen: "subnets/nodes" not in seen.cloud(),
    "the network is gone": lambda seen: "virtualNetworks/ml-dev" not in seen.cloud(),
}

KINDS = {
    "azure-native:resources:ResourceGroup": 1,
    "azure-native:network:VirtualNetwork": 1,
    "azure-native:network:Subnet": 1,
    "azure-native:managedidentity:UserAssignedIdentity": 1,
    "azure-native:authorization:RoleAssignment": 1,
    "azure-native:containerservice:ManagedCluster": 1,
    "azure-native:containerservice:AgentPool": 4,
}


def processes(stack: Stack) -> list[str]:
    """The running programs that name a path below the sandbox's home."""
    named = psutil.process_iter(["cmdline", "exe"])
    return sorted(
        Path(process.info["cmdline"][0]).name
        for process in named
        if any(str(stack.home) in part for part in process.info["cmdline"] or [])
    )


def check_up(stack: Stack) -> None:
    """Everything is there, once."""
    stored = json.loads((stack.home / "dev" / "cloud" / "azure.json").read_text())["resources"]
    assert Counter(resource["type"] for resource in stored) == KINDS
    assert processes(stack) == ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
    nodes = [node["metadata"]["labels"]["agentpool"] for node in stack.get("nodes")["items"]]
    assert sorted(nodes) == ["general", "system", "system"]
    assert len(stack.get("daemonsets", "-A")["items"]) == 1
    (state,) = (stack.home / "dev" / "backend" / ".pulumi" / "stacks").glob("*/dev.json")
    latest = json.loads(state.read_text())["checkpoint"]["latest"]
    assert "pending_operations" not in latest
    assert max(Counter(resource["urn"] for resource in latest["resources"]).values()) == 1
    assert stack.steps() == []


@pytest.mark.parametrize("victim", ["engine", "sandbox"])
@pytest.mark.parametrize("moment", UP)
def test_an_up_that_was_killed_is_completed_by_the_next_one(moment: str, victim: str, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    try:
        killed(stack, "up", victim, UP[moment], tmp_path)
        done = stack.run("up")
        assert FOUND.get((moment, victim), "") in done.stderr
        check_up(stack)
    finally:
        stack.run("down", "--force")


@pytest.mark.parametrize("victim", ["engine", "sandbox"])
@pytest.mark.parametrize("moment", DOWN)
def test_a_down_that_was_killed_is_completed_by_the_next_one(moment: str, victim: str, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    try:
        stack.run("up")
        killed(stack, "down", victim, DOWN[moment], tmp_path)
        stack.run("down")
        assert processes(stack) == []
        assert sorted(path.name for path in stack.home.iterdir()) == ["dev+cloud.lock", "dev.lock"]
    finally:
        stack.run("down", "--force")
