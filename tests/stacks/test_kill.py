"""Commands killed at any moment: the next one completes them.

A moment is recognised by the effects of a command, not by seconds.
"""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.cluster.clusters import PROGRAMS
from sandbox.tests.killing import killed, stored
from sandbox.tests.stack import PROJECT, Stack
from sandbox.tests.subjects import SUBJECTS, Subject

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Words:
    """The names of one cloud for moments; resources by the end of their ids."""

    memory: str
    first: str
    """The resource that is created first."""
    cluster: str
    status: str
    """The cluster's status property, and its values during creation, afterwards, and during deletion."""
    making: str
    ready: str
    deleting: str
    pool: str
    subnet: str
    network: str
    object: str
    """The type of an object in the cluster."""
    kinds: dict[str, int]
    """All resources of a stack that is up."""


WORDS = {
    "dev": Words(
        memory="azure.json",
        first="resourceGroups/ml-dev",
        cluster="managedClusters/ml-dev",
        status="provisioningState",
        making="Creating",
        ready="Succeeded",
        deleting="Deleting",
        pool="agentPools/general",
        subnet="subnets/nodes",
        network="virtualNetworks/ml-dev",
        object="kubernetes:apps/v1:DaemonSet",
        kinds={
            "azure-native:resources:ResourceGroup": 1,
            "azure-native:network:VirtualNetwork": 1,
            "azure-native:network:Subnet": 1,
            "azure-native:managedidentity:UserAssignedIdentity": 1,
            "azure-native:authorization:RoleAssignment": 1,
            "azure-native:containerservice:ManagedCluster": 1,
            "azure-native:containerservice:AgentPool": 4,
            "azure-native:resources:Deployment": 1,
            "sandbox:ScaleSet": 4,
        },
    ),
    "staging": Words(
        memory="gcp.json",
        first="networks/ml-staging",
        cluster="clusters/ml-staging",
        status="status",
        making="PROVISIONING",
        ready="RUNNING",
        deleting="STOPPING",
        pool="nodePools/general",
        subnet="subnetworks/ml-staging",
        network="networks/ml-staging",
        object="kubernetes:cloud.google.com/v1:ComputeClass",
        kinds={
            "gcp:compute/network:Network": 1,
            "gcp:compute/subnetwork:Subnetwork": 1,
            "gcp:compute/router:Router": 1,
            "gcp:compute/routerNat:RouterNat": 1,
            "gcp:serviceaccount/account:Account": 1,
            "gcp:projects/iAMMember:IAMMember": 1,
            "gcp:container/cluster:Cluster": 1,
            "gcp:container/nodePool:NodePool": 5,
            "sandbox:InstanceGroup": 15,
        },
    ),
}
"""The clouds by stack."""


@dataclass(frozen=True)
class Seen:
    """The effects of a running command so far."""

    stack: Stack
    printed: Path

    @property
    def words(self) -> Words:
        return WORDS[self.stack.name]

    def says(self, text: str) -> bool:
        return text in self.printed.read_text()

    def cloud(self) -> dict[str, Any]:
        """Return the emulated cloud's resources by the end of their ids."""
        return {
            "/".join(resource["id"].split("/")[-2:]): resource["body"]
            for resource in stored(self.stack, self.words.memory)
        }

    def cluster(self, state: str) -> bool:
        return bool(self.cloud().get(self.words.cluster, {}).get(self.words.status) == state)

    def creation_requested(self, type: str) -> bool:
        """Return whether a provider got the request to create a resource of a type."""
        kept = (self.stack.home / self.stack.name / "creating").glob("[0-9]*.json")
        return any(f"{type}::" in path.read_text() for path in kept)


UP: dict[str, Callable[[Seen], bool]] = {
    "the first resource exists": lambda seen: seen.words.first in seen.cloud(),
    "the cluster is being made": lambda seen: seen.cluster(seen.words.making) and seen.says("starting etcd"),
    "the cluster exists": lambda seen: seen.cluster(seen.words.ready),
    "a pool gets its nodes": lambda seen: seen.words.pool in seen.cloud(),
    "an object is being made": lambda seen: seen.creation_requested(seen.words.object),
}

REPORTED_BY_NEXT_UP: dict[tuple[str, str], Callable[[Words], str]] = {
    ("the cluster is being made", "engine"): lambda words: words.cluster,
    ("a pool gets its nodes", "engine"): lambda words: words.pool,
    ("a pool gets its nodes", "sandbox"): lambda words: words.pool,
}
"""The resources that exist at that moment and that the engine cannot know of, where that is certain."""

DOWN: dict[str, Callable[[Seen], bool]] = {
    "the engine is asked": lambda seen: True,
    "the cluster is being deleted": lambda seen: seen.cluster(seen.words.deleting),
    "the cluster is gone": lambda seen: seen.words.cluster not in seen.cloud(),
    "the subnet is gone": lambda seen: seen.words.subnet not in seen.cloud(),
    "the network is gone": lambda seen: seen.words.network not in seen.cloud(),
}

of_every_stack = pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)


def processes(stack: Stack) -> list[str]:
    """Return the running programs with a path below the sandbox's home in their command."""
    lines = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    return sorted(
        "autoscaler" if "sandbox.autoscaler" in line else Path(line[0]).name
        for line in lines
        if any(str(stack.home) in part for part in line)
    )


def check_up(stack: Stack, subject: Subject) -> None:
    """Check that every resource exists exactly once."""
    assert (
        Counter(resource["type"] for resource in stored(stack, WORDS[subject.name].memory)) == WORDS[subject.name].kinds
    )
    assert processes(stack) == sorted([*PROGRAMS, "autoscaler"])
    nodes = Counter(node["metadata"]["labels"]["kubeflow-spot.dev/pool"] for node in stack.get("nodes")["items"])
    assert nodes == subject.at_first
    assert len(stack.get("daemonsets", "-A")["items"]) == 1
    (state,) = (stack.home / subject.name / "backend" / ".pulumi" / "stacks").glob(f"*/{subject.name}.json")
    latest = json.loads(state.read_text())["checkpoint"]["latest"]
    assert "pending_operations" not in latest
    assert max(Counter(resource["urn"] for resource in latest["resources"]).values()) == 1
    assert stack.steps() == []


@of_every_stack
@pytest.mark.parametrize("victim", ["engine", "sandbox"])
@pytest.mark.parametrize("moment", UP)
def test_a_killed_up_is_completed_by_the_next_one(moment: str, victim: str, subject: Subject, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path, subject.name)
    try:
        killed(stack, "up", victim, lambda printed: UP[moment](Seen(stack, printed)), tmp_path)
        done = stack.run("up")
        if (moment, victim) in REPORTED_BY_NEXT_UP:
            assert REPORTED_BY_NEXT_UP[moment, victim](WORDS[subject.name]) in done.stderr
        check_up(stack, subject)
    finally:
        stack.run("down", "--force")


@of_every_stack
def test_one_up_and_one_down_that_are_killed_ten_times_each_get_to_their_end(subject: Subject, tmp_path: Path) -> None:
    """Each command goes on where the one before was killed, so that ten points cost little more than one."""
    stack = Stack.copy(tmp_path, subject.name)

    def kill(command: str, point: int, reached: Callable[[int], bool]) -> None:
        """Kill the engine or, at every second point, the sandbox."""

        def moment(printed: Path) -> bool:
            with suppress(SandboxError):
                return reached(len(Checkpoint(Home.of(stack.name, stack.project)).resources()))
            return False

        killed(stack, command, "sandbox" if point % 2 else "engine", moment, tmp_path)
        ids = Counter(resource["id"].lower() for resource in stored(stack, WORDS[subject.name].memory))
        assert max(ids.values(), default=1) == 1

    try:
        for point in range(10):
            kill("up", point, lambda resources, least=3 + 4 * point: resources >= least)
        stack.run("up")
        check_up(stack, subject)
        all_of_them = len(Checkpoint(Home.of(stack.name, stack.project)).resources())
        for point in range(10):
            kill("down", point, lambda resources, most=all_of_them * (10 - point) // 11: resources <= most)
        stack.run("down")
        assert processes(stack) == []
    finally:
        stack.run("down", "--force")


IN_A_GROUP = PROJECT / "tests" / "configs" / "network-existing.happy.yaml"
"""A stack in a resource group that outlives it."""
THEIRS = ("--cloud", str(PROJECT / "tests" / "configs" / "existing.cloud.yaml"))


@pytest.mark.parametrize("resources", [1 + 3 * point // 2 for point in range(20)])
def test_an_up_that_is_killed_in_a_kept_resource_group_is_completed(resources: int, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    stack.file.write_text(IN_A_GROUP.read_text())

    def reached(printed: Path) -> bool:
        """Return whether the engine's state has so many resources."""
        with suppress(SandboxError):
            return len(Checkpoint(Home.of(stack.name, stack.project)).resources()) >= resources
        return False

    try:
        killed(stack, "up", "engine", reached, tmp_path, *THEIRS)
        stack.run("up", *THEIRS)
        assert stack.steps() == []
        stack.run("down")
    finally:
        stack.run("down", "--force")


@of_every_stack
@pytest.mark.parametrize("victim", ["engine", "sandbox"])
@pytest.mark.parametrize("moment", DOWN)
def test_a_killed_down_is_completed_by_the_next_one(moment: str, victim: str, subject: Subject, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path, subject.name)
    try:
        stack.run("up")
        killed(stack, "down", victim, lambda printed: DOWN[moment](Seen(stack, printed)), tmp_path)
        stack.run("down")
        assert processes(stack) == []
        lock_files = [f"{subject.name}+cloud.lock", f"{subject.name}+command.lock"]
        assert sorted(path.name for path in stack.home.iterdir()) == lock_files
    finally:
        stack.run("down", "--force")
