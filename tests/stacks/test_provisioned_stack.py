"""The stack of the pages with node auto-provisioning from `up` to `down`: real engine, API server and Karpenter, emulated Azure.

Karpenter's hour without spot after a refusal passes sixty times faster.
"""

import copy
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from checks import stack as stacks
from checks.ready import judge, reader
from checks.ready.checks import declared
from sandbox.cluster.clusters import CLOCK_FACTOR
from sandbox.tests.pods import notebook
from sandbox.tests.stack import PROJECT, Stack, eventually, until
from tests.checks.ready.test_findings import bad
from tests.config.stack_files import CONFIGS, settings

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.tools]

SETTINGS = settings(CONFIGS / "node-provisioning.happy.yaml")
T4 = "Standard_NC4as_T4_v3"
FACTOR = 60
TEAM = "team-a"
POOL = "kubeflow-spot.dev/pool"


class Provisioned:
    """A stack with node auto-provisioning, and Jobs in it."""

    def __init__(self, folder: Path, name: str, cluster: str) -> None:
        self.stack = Stack(folder, folder / ".sandbox", name)
        self.settings: dict[str, Any] = copy.deepcopy(SETTINGS)
        self.settings["cluster"]["name"] = cluster
        self.stack.write(self.settings)

    def up(self, *arguments: str) -> float:
        """Bring the stack up, with the namespace of a team; return the seconds of the first."""
        began = time.monotonic()
        self.stack.run("up", *arguments)
        seconds = time.monotonic() - began
        labels = {"app.kubernetes.io/part-of": "kubeflow-profile"}
        self._apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": labels}})
        return seconds

    def run_job(self, name: str, pool: str, seconds: float) -> float:
        """Run a Job that asks for a GPU and names no node; return the seconds until its pod runs on a pool."""
        container = {"name": "train", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}
        metadata = {"annotations": {"kubeflow-spot.dev/run-for": "24h"}}
        template = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}
        lost = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
        spec = {"podFailurePolicy": lost, "template": template}
        began = time.monotonic()
        self._apply(
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": TEAM}, "spec": spec}
        )
        self.await_job(name, pool, seconds)
        return time.monotonic() - began

    def await_job(self, name: str, pool: str, seconds: float) -> None:
        eventually(lambda: self.pool_of(name) == pool, f"Job {name} runs on {pool}", seconds, 0.5)

    def pool_of(self, name: str) -> str:
        """Return the pool of the node on which a Job's pod runs; empty while none does."""
        pods = self.stack.get("pods", "-n", TEAM, "-l", f"job-name={name}")["items"]
        running = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        node = next((pod["spec"]["nodeName"] for pod in running if pod["status"]["phase"] == "Running"), "")
        nodes = {each["metadata"]["name"]: each["metadata"]["labels"] for each in self.stack.get("nodes")["items"]}
        return str(nodes.get(node, {}).get(POOL, ""))

    def nodes(self, pool: str) -> int:
        return len(self.stack.get("nodes", "-l", f"{POOL}={pool}")["items"])

    def node_pools(self) -> set[str]:
        names = self.stack.kubectl("get", "nodepools", "-o", "name").split()
        return {name.rpartition("/")[2] for name in names}

    @contextmanager
    def undeletable_pools(self) -> Iterator[None]:
        """Let the API server refuse to delete any NodePool for a while."""
        group, name = "admissionregistration.k8s.io/v1", "not-now"
        rule = {
            "apiGroups": ["karpenter.sh"],
            "apiVersions": ["*"],
            "operations": ["DELETE"],
            "resources": ["nodepools"],
        }
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "false", "message": "not now"}],
        }
        bound = {"policyName": name, "validationActions": ["Deny"]}
        kinds = {"ValidatingAdmissionPolicy": spec, "ValidatingAdmissionPolicyBinding": bound}
        for kind, body in kinds.items():
            self._apply({"apiVersion": group, "kind": kind, "metadata": {"name": name}, "spec": body})
        eventually(self._keeps_pools, "the API server keeps NodePools", 30, 0.5)
        yield
        for kind in kinds:
            self.stack.kubectl("delete", kind, name)
        eventually(lambda: not self._keeps_pools(), "the API server keeps no NodePools", 30, 0.5)

    def _keeps_pools(self) -> bool:
        try:
            self.stack.kubectl("delete", "nodepool", "t4", "--dry-run=server")
        except AssertionError:
            return True
        return False

    def _apply(self, body: dict[str, Any]) -> None:
        path = self.stack.project / "object.json"
        path.write_text(json.dumps(body))
        self.stack.kubectl("apply", "-f", str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("provisioned")
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOCK_FACTOR, str(FACTOR))
        yield folder


@pytest.fixture(scope="module")
def provisioned(folder: Path) -> Iterator[Provisioned]:
    own = Provisioned(folder, "nap", "ml-nap")
    try:
        print(f"up: {own.up():.1f} s")
        yield own
    finally:
        own.stack.run("down", "--force")


def test_a_second_up_changes_nothing(provisioned: Provisioned) -> None:
    assert provisioned.node_pools() == {"system", "general", "t4", "t4od"}
    assert provisioned.stack.up() == []
    assert provisioned.stack.steps() == []


def test_a_job_that_asks_for_a_gpu_runs_on_spot(provisioned: Provisioned) -> None:
    print(f"on spot: {provisioned.run_job('first', 't4', 120):.1f} s")
    # Machines that Karpenter makes are no difference.
    assert provisioned.stack.steps() == []


def test_it_is_ready_and_as_its_file_says(provisioned: Provisioned) -> None:
    stack = provisioned.stack
    more = [declared.declared_check(stacks.read_spec(stack.project, stack.name), stack.name)]
    assert until(lambda: bad(judge.findings(reader.open_snapshot(stack._plane().admin_kubeconfig), more)) == [])
    found = judge.findings(reader.open_snapshot(stack._plane().admin_kubeconfig), more)
    assert {finding.says for finding in found if finding.check in ("order", "autoscaler")} == {
        "the weights of Karpenter's NodePools order general, t4, t4od",
        "4 NodePools are Ready",
    }


def test_a_refused_spot_machine_is_bought_on_demand_whose_pool_is_kept_while_it_is_used(
    provisioned: Provisioned,
) -> None:
    stack = provisioned.stack
    began = time.monotonic()
    stack.run("capacity", T4, "none")
    provisioned.await_job("first", "t4od", 120)
    print(f"on demand: {time.monotonic() - began:.1f} s")
    without = copy.deepcopy(provisioned.settings)
    del without["pools"][1]["fallback"]
    stack.write(without)
    shown = json.loads(stack.run("preview", "--json", ok=False).stdout)
    assert "the on-demand pool t4od would go with what runs there: pods team-a/first-" in "\n".join(shown["errors"])

    stack.run("capacity", T4, "any")
    began = time.monotonic()
    provisioned.await_job("first", "t4", 300)
    eventually(lambda: provisioned.nodes("t4od") == 0, "the on-demand machine is gone", 120, 0.5)
    print(f"back on spot, and its machine gone: {time.monotonic() - began:.1f} s")

    # An update that fails when the program has ended leaves the pool, and work may land there before the next one.
    stack.write(without)
    with provisioned.undeletable_pools():
        assert "not now" in stack.run("up", ok=False).stdout
    assert "t4od" in provisioned.node_pools()
    notebook(stack, "t4od")
    shown = json.loads(stack.run("preview", "--json", ok=False).stdout)
    assert "the on-demand pool t4od would go with what runs there: pods default/nb-t4od-0" in "\n".join(shown["errors"])
    stack.kubectl("delete", "statefulset", "nb-t4od")
    eventually(lambda: provisioned.nodes("t4od") == 0, "the on-demand machine is gone again", 180, 0.5)

    assert {name for operation, name, _ in stack.up() if operation == "delete"} == {
        "ml-nap-pools-t4od-nodepool",
        "ml-nap-pools-t4od-aksnodeclass",
    }
    assert provisioned.node_pools() == {"system", "general", "t4"}
    assert stack.up() == []
    assert provisioned.pool_of("first") == "t4"


def test_another_stack_in_the_subscription_has_machines_of_its_own(provisioned: Provisioned, folder: Path) -> None:
    guest = Stack(folder, folder / ".sandbox", "guest")
    place = {"provider": "azure", "existingCluster": {"resourceGroup": "ml-nap", "name": "ml-nap"}}
    pool = {"name": "guest", "machine": T4, "capacity": "spot", "maxNodes": 2}
    guest.write({"release": SETTINGS["release"], "cloud": place, "pools": [pool]})
    refused = guest.run("up", "--beside", "nap", ok=False)
    assert "cloud.existingCluster: the cluster 'ml-nap' has node auto-provisioning" in refused.stdout + refused.stderr
    guest.run("down", ok=None)

    other = Provisioned(folder, "other", "ml-other")
    try:
        print(f"up beside: {other.up('--beside', 'nap'):.1f} s")
        print(f"on spot beside: {other.run_job('first', 't4', 120):.1f} s")
        assert other.stack.steps() == []
        assert provisioned.stack.steps() == []
        assert provisioned.pool_of("first") == "t4"
    finally:
        other.stack.run("down", "--force")
    assert provisioned.stack.steps() == []
    assert provisioned.pool_of("first") == "t4"


def test_down_takes_the_machines_along_and_up_makes_the_stack_anew(provisioned: Provisioned) -> None:
    began = time.monotonic()
    provisioned.stack.run("down")
    print(f"down: {time.monotonic() - began:.1f} s")
    provisioned.stack.write(provisioned.settings)
    print(f"up again: {provisioned.up():.1f} s")
    assert provisioned.node_pools() == {"system", "general", "t4", "t4od"}
    print(f"on spot again: {provisioned.run_job('again', 't4', 120):.1f} s")
    assert provisioned.stack.steps() == []
