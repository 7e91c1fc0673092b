"""Upgrades to the next release that end half-way, killed or refused: the next `up` continues them.

The order of an upgrade on AKS (control plane, system pool, on-demand pools, spot pools) is in the case `aks-release`; its two
steps are the releases here.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.tests.killing import killed, stored
from sandbox.tests.stack import Stack
from tests.upgrade.case import PROJECT, case, changed

pytestmark = pytest.mark.engine

OLDER, NEWER = (step.config for step in case("aks-release").steps)
"""The settings of the two releases."""

OLD, NEW = "1.35", "1.36"
CLUSTER = "ml-up"
POOLS = ("system", "general", "t4", "t4big", "t4huge")
"""All pools, in the order of the upgrade."""


def versions(stack: Stack) -> dict[str, str]:
    """Return the Kubernetes versions of the control plane, by the cluster's name, and of the pools."""
    versions = {}
    for resource in stored(stack, "azure.json"):
        *_, type, name = resource["id"].split("/")
        if type in ("managedClusters", "agentPools"):
            versions[name] = resource["body"]["orchestratorVersion" if type == "agentPools" else "kubernetesVersion"]
    return versions


def upgraded(stack: Stack, name: str) -> Callable[[Path], bool]:
    return lambda printed: versions(stack).get(name) == NEW


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """Yield a stack of the older release that is up."""
    stack = Stack(tmp_path, tmp_path / ".sandbox", "upgrade")
    for file in ("Pulumi.yaml", "__main__.py"):
        (tmp_path / file).write_text((PROJECT / file).read_text())
    stack.write(OLDER)
    stack.run("up")
    assert set(versions(stack).values()) == {OLD}
    yield stack
    stack.run("down", "--force")


def assert_upgraded(stack: Stack) -> None:
    """Check that the control plane and every pool are upgraded, and that no step is left."""
    assert versions(stack) == dict.fromkeys((CLUSTER, *POOLS), NEW)
    assert stack.steps() == []


def assert_in_order(stack: Stack) -> None:
    """Check that no pool is newer than one before it, nor than the control plane."""
    reached = [versions(stack)[name] for name in (CLUSTER, *POOLS)]
    assert reached == sorted(reached, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["engine", "sandbox"])
@pytest.mark.parametrize("last", [CLUSTER, *POOLS])
def test_an_upgrade_that_is_killed_after_any_pool_continues(
    last: str, victim: str, stack: Stack, tmp_path: Path
) -> None:
    stack.write(NEWER)
    killed(stack, "up", victim, upgraded(stack, last), tmp_path)
    assert_in_order(stack)
    stack.run("up")
    assert_upgraded(stack)


def test_an_upgrade_that_is_killed_and_then_refused_a_pool_stops_there_and_continues_each_time(
    stack: Stack, tmp_path: Path
) -> None:
    # Two system nodes of 4 vCPUs and three of 8 exceed the quota.
    stack.write(changed(NEWER, {"pools": {"general": {"minNodes": 3}}}))
    killed(stack, "up", "engine", upgraded(stack, CLUSTER), tmp_path)
    assert_in_order(stack)
    quotas = tmp_path / "quotas.yaml"
    quotas.write_text("quotas: {westeurope: {cores: 24}}")
    refused = json.loads(stack.run("up", "--json", "--cloud", str(quotas), ok=False).stdout)
    assert "ErrCode_InsufficientVCPUQuota" in "".join(refused["errors"])
    assert versions(stack) == {CLUSTER: NEW, "system": NEW} | dict.fromkeys(POOLS[1:], OLD)
    quotas.write_text("quotas: {}")
    stack.run("up", "--cloud", str(quotas))
    assert_upgraded(stack)
