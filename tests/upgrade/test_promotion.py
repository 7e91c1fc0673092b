"""A release goes up on AKS in the order the service wants: control plane, system pool, on-demand pools, spot pools.

The order is in `aks-release`. Here an `up` ends half-way, killed or refused, and the next one goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sandbox.killing import killed, stored
from tests.sandbox.stack import Stack
from tests.upgrade.case import FOLDER, PROJECT, changed

pytestmark = pytest.mark.engine

OLD, NEW = "1.35", "1.36"
CLUSTER = "ml-up"
POOLS = ("system", "general", "t4", "t4big", "t4huge")
"""In the order in which they are upgraded."""

MOMENTS = {pool: pytest.param(pool, id=f"{pool} was upgraded", marks=pytest.mark.slow) for pool in POOLS}
MOMENTS["system"] = pytest.param("system", id="system was upgraded")


def versions(stack: Stack) -> dict[str, str]:
    """The Kubernetes versions of the control plane, by the cluster's name, and of the pools."""
    found = {}
    for resource in stored(stack, "azure.json"):
        *_, type, name = resource["id"].split("/")
        if type in ("managedClusters", "agentPools"):
            found[name] = resource["body"]["orchestratorVersion" if type == "agentPools" else "kubernetesVersion"]
    return found


def upgraded(stack: Stack, name: str) -> Callable[[Path], bool]:
    return lambda printed: versions(stack).get(name) == NEW


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack of the older release that is up."""
    made = Stack(tmp_path, tmp_path / ".sandbox", "upgrade")
    for file in ("Pulumi.yaml", "__main__.py"):
        (tmp_path / file).write_text((PROJECT / file).read_text())
    release(made, "r2026-09")
    made.run("up")
    assert set(versions(made).values()) == {OLD}
    yield made
    made.run("down", "--force")


def release(stack: Stack, name: str, change: dict[str, Any] | None = None) -> None:
    config = yaml.safe_load((FOLDER / "aks.yaml").read_text())["config"]
    plain = {key.removeprefix("kubeflow-spot:"): value for key, value in config.items()}
    stack.write(changed(plain | {"release": name}, change or {}))


def done(stack: Stack) -> None:
    """Everything is upgraded, and nothing is left to do."""
    assert versions(stack) == dict.fromkeys((CLUSTER, *POOLS), NEW)
    assert stack.steps() == []


@pytest.mark.parametrize("victim", ["engine", pytest.param("sandbox", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "last", [pytest.param(CLUSTER, id="the control plane was upgraded", marks=pytest.mark.slow), *MOMENTS.values()]
)
def test_an_upgrade_that_was_killed_goes_on_with_the_next_up(
    last: str, victim: str, stack: Stack, tmp_path: Path
) -> None:
    release(stack, "r2026-11")
    killed(stack, "up", victim, upgraded(stack, last), tmp_path)
    # Nothing is upgraded before its turn, so that no pool is ever newer than the control plane.
    there = [versions(stack)[name] for name in (CLUSTER, *POOLS)]
    assert there == sorted(there, reverse=True)
    stack.run("up")
    done(stack)


def test_a_pool_that_is_refused_holds_up_those_after_it_and_the_next_up_goes_on(stack: Stack, tmp_path: Path) -> None:
    quotas = tmp_path / "quotas.yaml"
    quotas.write_text("quotas: {westeurope: {cores: 24}}")
    # Two system nodes of 4 vCPUs and three of 8 are more than that.
    release(stack, "r2026-11", {"pools": {"general": {"minNodes": 3}}})
    refused = json.loads(stack.run("up", "--json", "--cloud", str(quotas), ok=False).stdout)
    assert "ErrCode_InsufficientVCPUQuota" in "".join(refused["errors"])
    assert versions(stack) == {CLUSTER: NEW, "system": NEW} | dict.fromkeys(POOLS[1:], OLD)
    quotas.write_text("quotas: {}")
    stack.run("up", "--cloud", str(quotas))
    done(stack)
