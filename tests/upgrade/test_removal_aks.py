"""Every optional key of a stack on AKS, taken out again: the preview shows it, or an error says what to do.

A preview alone proves little here: azure-native shows a missing property as removed, and AKS may keep it (the emulated AKS does,
`sandbox.azure.resources.azure_resource_type.merged`). Therefore the cloud's state after the update is compared with that of a stack
that never had the key.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from components.layer import discovery
from config.clouds import registry
from config.clouds.azure.azure_settings import Azure
from config.model.cluster import Cluster, Queueing
from config.model.workloads import Workloads
from sandbox.cloud.state import Store
from tests.components.emulated import EmulatedAzure
from tests.upgrade.case import changed
from tests.upgrade.removal import Removal, Standing, Ups, check_removal, optional, rows, uncounted, without

pytestmark = pytest.mark.program

CASES, STACKS = rows("aks")
SMALL = STACKS["small"]

REFUSED_ELSEWHERE = {"cloud.encryption.kms.private", "systemPool.upgrade.maxUnavailable", "pools.gcp", "systemPool.gcp"}
"""Keys that no stack on AKS can have, because rules of settings refuse them (tests/configs)."""


def test_every_optional_key_has_a_case() -> None:
    models = (
        (Azure, "cloud"),
        (registry.pool_model(), "pools"),
        (registry.system_pool_model(), "systemPool"),
        (Cluster, "cluster"),
        (Workloads, "workloads"),
        (Queueing, "queueing"),
    )
    keys = {key for model, path in models for key in optional(model, path) if ".gcp." not in key}
    assert len(keys) > 80
    assert uncounted(keys - REFUSED_ELSEWHERE, CASES) == set()


@pytest.fixture(scope="module")
def ups(tmp_path_factory: pytest.TempPathFactory) -> Ups:
    return Ups(tmp_path_factory.mktemp("ups"), lambda state: EmulatedAzure(state, "westeurope"), STACKS)


KEPT = ("cloud.autoscaler.scanInterval", "cloud.access.tenantId", "cloud.access.adminGroups", "systemPool.upgrade")
KEPT += ("pools.upgrade", "pools.osDisk.sizeGb", "pools.maxPods", "systemPool.maxPods", "cloud.network.nodeSubnet")
KEPT += ("workloads.checkpoints.softDeleteDays",)
"""Keys whose value AKS keeps when they are missing: `make test` runs their cases, `make test-slow` the others."""


def _marked(removal: Removal) -> Any:
    marks = [] if removal.field in KEPT else pytest.mark.slow
    return pytest.param(removal, id=f"{removal.key}-{removal.stack}", marks=marks)


@pytest.mark.parametrize("removal", [*map(_marked, CASES)])
def test_a_removed_key_is_shown_and_applied_or_refused(
    removal: Removal, ups: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    config = STACKS[removal.stack]
    standing = ups.at(removal.stack, tmp_path / "cloud.json", monkeypatch)
    check_removal(removal, standing, config, monkeypatch)
    if removal.shows and all(step.startswith("update") for step in removal.shows):
        removed = without(config, removal)
        fresh = EmulatedAzure(tmp_path / "fresh.json", "westeurope")
        fresh.seed({f"kubeflow-spot:{key}": value for key, value in removed.items()})
        Standing(fresh).up(removed, monkeypatch)
        assert in_force(tmp_path / "cloud.json") == in_force(tmp_path / "fresh.json")


def in_force(state: Path) -> dict[str, Any]:
    """Return the resources of an emulated Azure by id, without deployments, records of requests and node counts.

    A pool keeps the image of Trusted Launch when both parts of it are off.
    """
    bodies = {}
    for record in Store(state).read().records.values():
        if "/deployments/" not in record.id and not record.token.startswith("sandbox:"):
            bodies[record.id] = {
                name: value for name, value in record.body.items() if name not in ("count", "nodeImageVersion")
            }
    return bodies


@pytest.mark.parametrize("listed", [True, False], ids=["this program's", "an earlier program's"])
def test_a_state_with_only_the_system_pool_listed_is_upgraded_and_repaired(
    listed: bool, ups: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state as after an `up` without a refresh: the request has the pools of the state, and a refresh adds none."""
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    standing = ups.at("small", tmp_path / "cloud.json", monkeypatch)
    standing.refresh()
    (at,) = (at for at in standing.state if at[0].endswith(":ManagedCluster"))
    stuck = copy.deepcopy(standing.state[at])
    stuck.old_inputs["agentPoolProfiles"] = stuck.old_inputs["agentPoolProfiles"][:1]
    standing.state[at] = stuck
    if not listed:
        standing.outputs = {}
        # Every update lists all existing pools.
        (update,) = (s for s in standing.steps(SMALL, monkeypatch, apply=True) if s["type"].endswith(":ManagedCluster"))
        assert update["op"] == "update"
        assert [name for name in update["diff"] if not name.startswith("agentPoolProfiles")] == []
        standing.outputs = {"remembered": {"poolsListed": True}}
        assert standing.steps(SMALL, monkeypatch) == []
    upgraded = changed(SMALL, {"cluster": {"kubernetesVersion": None, "reason": None}})
    standing.steps(upgraded, monkeypatch, apply=True)
    profiles = standing.state[at].old_outputs["agentPoolProfiles"]
    assert (standing.state[at].old_outputs["kubernetesVersion"], len(profiles)) == ("1.36", 2)
