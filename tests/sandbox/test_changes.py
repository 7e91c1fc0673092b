"""Changes of a running stack through the real engine: what is kept, what is replaced, what is refused and comes later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sandbox.stack import Stack

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.copy(tmp_path_factory.mktemp("stack"))
    stack.run("up")
    yield stack
    # A test that failed may have left it protected.
    stack.run("down", "--force")


@pytest.fixture
def applied(stack: Stack) -> Iterator[dict[str, Any]]:
    """The stack file's settings, to be changed, written and applied. The next `up`, whosoever, takes that back."""
    before = stack.file.read_text()
    yield stack.config
    stack.file.write_text(before)


def nodes(stack: Stack, *pools: str) -> set[tuple[str, str]]:
    """Names and uids of the nodes of some pools, or of all: a machine made anew has another uid."""
    found = (node["metadata"] for node in stack.get("nodes")["items"])
    return {(node["name"], node["uid"]) for node in found if not pools or node["labels"]["agentpool"] in pools}


def test_a_pool_deleted_behind_pulumi_s_back_is_found_by_the_refresh_and_made_again(stack: Stack) -> None:
    stack.run("scale", "t4", "2")
    others = nodes(stack, "system", "general")
    stack.run("delete", "t4")
    assert nodes(stack) == others
    assert stack.steps() == [("create", "ml-dev-t4", [])]
    stack.run("up")
    assert stack.steps() == []
    assert "there is no pool" not in stack.run("scale", "t4", "1").stderr
    assert others < nodes(stack)
    stack.run("scale", "t4", "0")


def test_a_changed_price_replaces_that_pool_and_nothing_else(stack: Stack, applied: dict[str, Any]) -> None:
    others = nodes(stack, "system", "general")
    applied["pools"][1]["spot"] = {"maxPrice": 0.5}
    stack.write(applied)
    steps = stack.steps()
    assert {name for _, name, _ in steps} == {"ml-dev-t4"}
    assert [op for op, _, _ in steps].count("replace") == 1
    assert " 1 replace" in stack.run("up").stdout
    assert nodes(stack, "system", "general") == others
    assert stack.steps() == []


def quota(folder: Path, cores: int) -> str:
    """A cloud file that leaves so many vCPUs for the general machines."""
    path = folder / f"{cores}.yaml"
    path.write_text(yaml.safe_dump({"quotas": {"westeurope": {"standardDDSv5Family": cores}}}))
    return str(path)


def test_a_change_beyond_the_quota_leaves_the_rest_applied_and_the_next_up_completes_it(
    stack: Stack, applied: dict[str, Any], tmp_path: Path
) -> None:
    # Two system nodes of 4 vCPUs and a general one of 8 are there.
    applied["pools"].append({"name": "more", "machine": "Standard_D8ds_v5", "minNodes": 2, "maxNodes": 4})
    applied["pools"][1]["labels"]["team"] = "vision"
    stack.write(applied)
    before = nodes(stack, "system", "general")
    for options in ([], ["--continue-on-error"]):
        refused = stack.run("up", "--cloud", quota(tmp_path, 24), *options, ok=False)
        assert 'Code="ErrCode_InsufficientVCPUQuota"' in refused.stdout
        assert "standardDDSv5Family" in refused.stdout
        assert "Traceback" not in refused.stdout + refused.stderr
        assert nodes(stack) == before
    # Nothing of the same change waits but the pool itself.
    assert stack.steps() == [("create", "ml-dev-more", [])]
    stack.run("up", "--cloud", quota(tmp_path, 32))
    assert len(nodes(stack, "more")) == 2
    assert before < nodes(stack)
    assert stack.steps() == []


def test_a_cluster_that_must_be_replaced_comes_with_its_whole_layer_in_the_same_up_and_a_protected_one_refuses(
    stack: Stack, applied: dict[str, Any]
) -> None:
    def cluster() -> str:
        return str(stack.get("namespace", "kube-system")["metadata"]["uid"])

    first = cluster()
    applied["cluster"]["protect"] = True
    stack.write(applied)
    stack.run("up")
    applied["cloud"]["network"] = {"serviceCidr": "172.20.0.0/16"}
    # The group and the network come before the cluster and could have it.
    applied["cluster"]["tags"]["owner"] = "platform"
    stack.write(applied)
    refused = stack.run("up", ok=False)
    assert "protect" in refused.stdout
    assert cluster() == first
    del applied["cloud"]["network"], applied["cluster"]["tags"]["owner"]
    stack.write(applied)
    assert stack.steps() == []

    applied["cluster"]["protect"] = False
    stack.write(applied)
    stack.run("up")
    applied["cloud"]["network"] = {"serviceCidr": "172.20.0.0/16"}
    stack.write(applied)
    stack.run("up")
    assert cluster() != first
    assert stack.get("service", "kubernetes")["spec"]["clusterIP"].startswith("172.20.")
    assert sorted(node["metadata"]["labels"]["agentpool"] for node in stack.get("nodes")["items"]) == [
        "general", "system", "system",
    ]  # fmt: skip
    assert len(stack.get("daemonsets", "-A")["items"]) == 1
    assert (
        "t4"
        in stack.get("configmap", "cluster-autoscaler-priority-expander", "-n", "kube-system")["data"]["priorities"]
    )
    assert stack.steps() == []
