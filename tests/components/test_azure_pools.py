"""Translations of a pool of the stack file to AKS' words."""

from __future__ import annotations

from typing import Any

import pytest

from components.azure import azure_pools
from components.azure.azure_live import LiveCluster, retries
from components.resources import wire
from config import releases
from config.clouds import registry
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_traits import Aks
from config.model.cluster import Cluster
from config.model.spec import ClusterSpec
from config.placement import node_pools
from tests.components.features import ID
from tests.components.google import rows

Pool, SystemPool = registry.pool_model(), registry.system_pool_model()
CORDONED = {"undrainableNodeBehavior": "Cordon"}
NOT_YET = LiveCluster({})
GPU = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "maxNodes": 4}
TWIN = {"capacity": "spot", "fallback": [{"onDemand": {"maxNodes": 1}}]}


def pool_inputs(live: LiveCluster = NOT_YET, **pool: Any) -> dict[str, dict[str, Any]]:
    """Return the properties of the pool and of its twin as they are sent, by name."""
    spec = ClusterSpec(
        release=releases.load(releases.names()[-1]),
        cluster=Cluster(name="lab"),
        cloud=Azure(provider="azure", location="westeurope"),
        systemPool=SystemPool(machine="Standard_D4ds_v5", maxNodes=3),
        pools=(Pool.model_validate(pool),),
    )
    return {p.name: wire(azure_pools.profile(p, "1.36", live)) for p in node_pools.node_pools(spec, Aks())}


def system_profile() -> dict[str, Any]:
    pool = SystemPool.model_validate({"machine": "Standard_D4ds_v5", "maxNodes": 3, "upgrade": {"maxSurge": "1"}})
    profile: dict[str, Any] = wire(azure_pools.profile(node_pools.system_pool(pool, Aks()), "1.36", NOT_YET))
    return profile


@pytest.mark.parametrize(("pool", "sent"), rows("options", "azure"))
def test_options_of_the_machine_reach_the_pool_and_its_twin(pool: dict[str, Any], sent: dict[str, Any]) -> None:
    inputs = pool_inputs(**GPU, **pool, **TWIN)
    assert set(inputs) == {"t4", "t4od"}
    for args in inputs.values():
        assert {key: args.get(key) for key in sent} == sent


def test_a_reserved_pool_names_its_group() -> None:
    group = f"{ID}/Microsoft.Compute/capacityReservationGroups/gpus"
    (args,) = pool_inputs(**GPU, reservation=group).values()
    assert args["capacityReservationGroupID"] == group
    assert "scaleSetPriority" not in args


@pytest.mark.parametrize(("pool", "settings"), rows("upgrades", "azure"))
def test_on_demand_nodes_are_exchanged_in_place_where_they_have_gpus_and_never_both_ways(
    pool: dict[str, Any], settings: tuple[str, str]
) -> None:
    (args,) = pool_inputs(**{**GPU, **pool}).values()
    assert args["upgradeSettings"] == {"maxSurge": settings[0], "maxUnavailable": settings[1], **CORDONED}


def test_a_spot_pool_has_no_upgrade_settings_and_its_twin_has() -> None:
    inputs = pool_inputs(**GPU, **TWIN, upgrade={"maxSurge": "1"})
    assert "upgradeSettings" not in inputs["t4"]
    assert inputs["t4od"]["upgradeSettings"] == {"maxSurge": "1", "maxUnavailable": "0", **CORDONED}


def test_a_system_pool_is_sent_a_surge_and_no_max_unavailable() -> None:
    assert system_profile()["upgradeSettings"] == {"maxSurge": "1", **CORDONED}


def test_a_live_pool_with_what_aks_added_is_as_the_profile_wants_it() -> None:
    profile, settings = system_profile(), {"maxSurge": "1", "maxUnavailable": "0", **CORDONED}
    live = {**profile, "nodeTaints": None, "upgradeSettings": settings, "maxPods": 250}
    assert LiveCluster({"system": live}).is_as(profile)
    settings["maxSurge"] = "10%"
    assert not LiveCluster({"system": live}).is_as(profile)


@pytest.mark.parametrize(("state", "before", "tags"), rows("retries", "azure"))
def test_a_pool_or_cluster_that_has_failed_is_asked_for_once_more(
    state: str, before: dict[str, str], tags: dict[str, str]
) -> None:
    assert retries({"provisioningState": state, "tags": before, "count": 0}) == tags


def test_access_by_ssh_that_somebody_closed_stays_closed() -> None:
    live = LiveCluster({"general": {"securityProfile": {"sshAccess": "Disabled", "enableVTPM": True}}})
    declared = pool_inputs(live, name="general", machine="Standard_D8ds_v5", maxNodes=2)["general"]
    assert declared["securityProfile"] == {"sshAccess": "Disabled", "enableSecureBoot": False, "enableVTPM": False}


@pytest.mark.parametrize(("wanted", "cluster", "pool", "expected"), rows("versions", "azure"))
def test_a_minor_version_is_any_of_its_patches(
    wanted: str, cluster: str | None, pool: str | None, expected: list[str]
) -> None:
    answer = {"kubernetesVersion": cluster} if cluster else None
    live = LiveCluster({"t4": {"orchestratorVersion": pool}} if pool else {}, answer)
    assert [live.version(wanted), live.version(wanted, "t4")] == expected
