"""Changes of a running stack through the real engine: kept, replaced, refused and completed later."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.tests.killing import stored
from sandbox.tests.stack import Stack
from sandbox.tests.subjects import Subject

pytestmark = pytest.mark.engine

POOL = "kubeflow-spot.dev/pool"
CLUSTERS = ("azure-native:containerservice:ManagedCluster", "gcp:container/cluster:Cluster")


@pytest.fixture
def applied(stack: Stack) -> dict[str, Any]:
    """The stack file's settings, to be changed, written and applied."""
    return stack.config


def nodes(stack: Stack, *pools: str) -> set[tuple[str, str]]:
    """Names and uids of the nodes of some pools, or of all: a new machine has another uid."""
    metadata = (node["metadata"] for node in stack.get("nodes")["items"])
    return {(node["name"], node["uid"]) for node in metadata if not pools or node["labels"][POOL] in pools}


def test_a_pool_deleted_out_of_band_is_detected_by_the_refresh_and_created_again(
    stack: Stack, subject: Subject
) -> None:
    stack.run("scale", subject.spot, "2")
    other_nodes = nodes(stack, "system", "general")
    stack.run("delete", subject.spot)
    assert nodes(stack) == other_nodes
    assert stack.steps() == [("create", f"{subject.cluster}-{subject.spot}", [])]
    stack.run("up")
    assert stack.steps() == []
    assert "there is no pool" not in stack.run("scale", subject.spot, "1").stderr
    assert other_nodes < nodes(stack)


@pytest.mark.repeats
def test_a_cluster_deleted_out_of_band_comes_back_when_unreachable_objects_may_leave_the_state(
    stack: Stack, subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state,) = stack.home.rglob(f"stacks/*/{stack.name}.json")
    resources = json.loads(state.read_text())["checkpoint"]["latest"]["resources"]
    (cluster,) = [each["id"] for each in resources if each["type"] in CLUSTERS]
    stack.run("delete", cluster)
    assert "PULUMI_K8S_DELETE_UNREACHABLE" in stack.run("up", ok=False).stdout
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    with (tmp_path / "output").open("w") as output:
        assert stack.start("up", output).wait() == 0
    monkeypatch.delenv("PULUMI_K8S_DELETE_UNREACHABLE")
    # Pulumi's SDK takes the variable for an input of its provider.
    assert stack.steps() == [("update", subject.cluster, ["deleteUnreachable"])]
    stack.run("up")
    assert stack.steps() == []
    assert nodes(stack, "system", "general")


def test_another_purchase_option_replaces_that_pool_and_no_other(
    stack: Stack, subject: Subject, applied: dict[str, Any]
) -> None:
    other_nodes = nodes(stack, "system", "general")
    subject.other_purchase(applied)
    stack.write(applied)
    steps = stack.steps()
    pool = f"{subject.cluster}-{subject.spot}"
    assert [name for op, name, _ in steps if op == "replace"] == [pool]
    updated = {f"{subject.cluster}-{name}" for name in subject.changed_by_purchase}
    assert {name for _, name, _ in steps} == {pool, *updated}
    assert " 1 replace" in stack.run("up").stdout
    assert nodes(stack, "system", "general") == other_nodes
    assert stack.steps() == []


def quota(folder: Path, quotas: dict[str, Any]) -> str:
    """A cloud file with these quotas."""
    path = folder / "quotas.yaml"
    path.write_text(yaml.safe_dump({"quotas": quotas}))
    return str(path)


def test_a_change_beyond_the_quota_leaves_the_rest_applied_and_the_next_up_completes_it(
    stack: Stack, subject: Subject, applied: dict[str, Any], tmp_path: Path
) -> None:
    used, short, enough = subject.cores
    general = applied["pools"][0]
    applied["pools"].append({"name": "more", "machine": general["machine"], "minNodes": 2, "maxNodes": 6})
    applied["pools"][1]["labels"]["team"] = "vision"
    stack.write(applied)
    before = nodes(stack, "system", "general")
    for options in ([], ["--continue-on-error"]):
        refused = stack.run("up", "--cloud", quota(tmp_path, subject.quota(short)), *options, ok=False)
        for words in subject.quota_messages:
            assert words in refused.stdout
        assert "Traceback" not in refused.stdout + refused.stderr
        assert nodes(stack) == before
    # Only the pool itself waits, nothing else of the same change.
    assert stack.steps() == [("create", f"{subject.cluster}-more", [])]
    stack.run("up", "--cloud", quota(tmp_path, subject.quota(enough)))
    assert len(nodes(stack, "more")) == (enough - used) // 8
    assert before < nodes(stack)
    assert stack.steps() == []


@pytest.mark.slow
def test_a_spot_pool_beyond_its_quota_is_created_by_the_next_up_within_it(
    stack: Stack, subject: Subject, applied: dict[str, Any], tmp_path: Path
) -> None:
    if subject.name != "dev":
        pytest.skip("AKS alone accepts a pool without machines for it")
    stack.run("delete", subject.spot)
    applied["pools"][1]["minNodes"] = 2
    stack.write(applied)

    def state() -> tuple[int, str]:
        found = stored(stack, "azure.json")
        (body,) = (each["body"] for each in found if each["id"].endswith(f"/agentPools/{subject.spot}"))
        return body["count"], body["provisioningState"]

    failed = stack.run("up", "--cloud", quota(tmp_path, {"westeurope": {"lowPriorityCores": 4}}), ok=False)
    assert "exceeding approved LowPriorityCores quota" in failed.stdout
    assert state() == (0, "Failed")
    # The stack file is unchanged, and the quota is still too small.
    assert stack.steps() == [("update", f"{subject.cluster}-{subject.spot}", ['tags["kubeflow-spot-retried"]'])]
    assert "LowPriorityCores quota" in stack.run("up", ok=False).stdout
    stack.run("up", "--cloud", quota(tmp_path, {"westeurope": {"lowPriorityCores": 8}}))
    assert state() == (2, "Succeeded")
    assert stack.steps() == []


UNREFUSED = """
import components.azure.azure_immutable_cluster, components.gcp.gcp_immutable_cluster

for module in (components.azure.azure_immutable_cluster, components.gcp.gcp_immutable_cluster):
    module.problems = lambda *_: ()
"""
"""Lines before the program that switch its checks off: a change that it refuses reaches the engine."""


@pytest.mark.repeats
@pytest.mark.restless
def test_an_edit_never_replaces_a_cluster_and_a_forced_replacement_takes_the_whole_layer_unless_protected(
    stack: Stack, subject: Subject, applied: dict[str, Any]
) -> None:
    def cluster() -> str:
        return str(stack.get("namespace", "kube-system")["metadata"]["uid"])

    first, program = cluster(), stack.project / "__main__.py"
    network = applied["cloud"].get("network", {})
    other = {**network, **subject.other_network}
    applied["cloud"]["network"] = other
    # Group and network are created before the cluster, so they could change first.
    applied["cluster"]["tags"]["team"] = "platform"
    stack.write(applied)
    assert "a new cluster would replace it" in stack.run("up", ok=False).stdout
    applied["cloud"]["network"] = network
    del applied["cluster"]["tags"]["team"]
    stack.write(applied)
    assert stack.steps() == []

    # As with `pulumi up --replace`, which does not ask the program.
    ordinary = program.read_text()
    program.write_text(UNREFUSED + ordinary)
    applied["cluster"]["protect"] = True
    stack.write(applied)
    stack.run("up")
    applied["cloud"]["network"] = other
    stack.write(applied)
    assert "protect" in stack.run("up", ok=False).stdout
    assert cluster() == first

    applied["cloud"]["network"] = network
    applied["cluster"]["protect"] = False
    stack.write(applied)
    stack.run("up")
    applied["cloud"]["network"] = other
    stack.write(applied)
    replaced = stack.run("up", ok=None)
    program.write_text(ordinary)
    if replaced.returncode:
        # The program does not know that existing pools will be created again, and AKS creates one at a time (docs/adr/0015).
        assert "SetVNetOwnershipFailed" in replaced.stdout
        stack.run("up")
    assert cluster() != first
    assert stack.get("service", "kubernetes")["spec"]["clusterIP"].startswith(subject.services)
    pools = Counter(node["metadata"]["labels"][POOL] for node in stack.get("nodes")["items"])
    assert pools == subject.at_first
    assert len(stack.get("daemonsets", "-A")["items"]) == 1
    order = stack.get("computeclass") if subject.class_name else stack.get("configmap", "-n", "kube-system")
    assert subject.twin in json.dumps(order)
    assert stack.steps() == []
