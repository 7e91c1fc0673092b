"""Translations of a pool of the stack file to GKE's words."""

from __future__ import annotations

from typing import Any

import pytest

from components.gcp import gcp_pools
from components.gcp.gcp_live import LiveCluster
from config.clouds.gcp.gcp_traits import Gke
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.stack_file import loader
from tests.components.google import GENERAL, KEY, L4, WITH_TWIN, stack

ACCOUNT = "lab-nodes@example-lab.iam.gserviceaccount.com"
V100 = {"name": "v100", "machine": "n1-standard-8", "maxNodes": 2, "gpus": 2, "gpuModel": "nvidia-tesla-v100"}


def spec(settings: dict[str, Any]) -> ClusterSpec:
    cluster_spec, problems = loader.read_stack(
        {key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()}
    )
    assert cluster_spec, problems
    return cluster_spec


def pool_inputs(*stack_pools: dict[str, Any], live: LiveCluster | None = None, **top: Any) -> dict[str, dict[str, Any]]:
    """The arguments of every NodePool but the system pool's, by name."""
    read = spec(stack(*stack_pools, **top))
    cloud = read.cloud
    return {
        pool.name: gcp_pools.planned(
            pool, cloud, ACCOUNT, read.cluster.tags, live or LiveCluster(), cluster="lab"
        ).request  # type: ignore[arg-type]
        for pool in node_pools.node_pools(read, Gke())
    }


def nodes(*stack_pools: dict[str, Any], **top: Any) -> dict[str, Any]:
    """The `nodeConfig` of the first of them."""
    config: dict[str, Any] = pool_inputs(*stack_pools, **top)[stack_pools[0]["name"]]["nodeConfig"]
    return config


@pytest.mark.parametrize(
    ("pool", "spot", "preemptible"),
    [
        (GENERAL, None, None),
        (L4, True, None),
        ({**L4, "capacity": "preemptible"}, None, True),
    ],
)
def test_a_machine_is_bought_in_one_way(pool: dict[str, Any], spot: bool | None, preemptible: bool | None) -> None:
    config = nodes(pool)
    assert (config.get("spot"), config.get("preemptible")) == (spot, preemptible)


FLEX = {**L4, "capacity": "flex-start"}


def test_a_flex_start_pool_has_an_end_and_no_repairs_and_leaves_upgrades_to_gke() -> None:
    inputs = pool_inputs(FLEX)["l4"]
    config = inputs["nodeConfig"]
    assert (config["flexStart"], config["maxRunDuration"]) == (True, "604800s")
    assert config["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert not {"spot", "preemptible", "kubeletConfig"} & config.keys()
    assert {taint["key"] for taint in config["taints"]} >= {"cloud.google.com/gke-flex-start", "nvidia.com/gpu"}
    # GKE's own labels; the program's are the same on both clouds.
    assert {key: value for key, value in config["labels"].items() if "google" in key} == {}
    assert config["labels"]["kubeflow-spot.dev/capacity"] == "flex-start"
    assert inputs["management"] == {"autoRepair": False, "autoUpgrade": True}
    assert inputs["autoscaling"]["locationPolicy"] == "ANY"
    assert "upgradeSettings" not in inputs
    assert nodes({**FLEX, "gcp": {"maxRunDuration": "90m"}})["maxRunDuration"] == "5400s"


def test_a_twin_of_every_pool_is_on_demand() -> None:
    source = {key: value for key, value in WITH_TWIN.items() if key != "maxNodes"}
    inputs = pool_inputs({**source, "capacity": "preemptible", "gcp": {"maxNodesPerZone": 1}})
    assert inputs["l4"]["nodeConfig"]["preemptible"] is True
    assert not {"spot", "preemptible"} & inputs["l4od"]["nodeConfig"].keys()
    assert inputs["l4"]["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 1, "locationPolicy": "ANY"}
    assert inputs["l4od"]["autoscaling"] == {**total(0, 2), "locationPolicy": "BALANCED"}


def total(least: int, most: int) -> dict[str, Any]:
    return {"totalMinNodeCount": least, "totalMaxNodeCount": most}


@pytest.mark.parametrize(
    ("pool", "cloud", "bounds", "initial"),
    [
        # Bounds of the whole pool, in three zones.
        ({"minNodes": 0, "maxNodes": 8}, {}, total(0, 8), 0),
        ({"minNodes": 1, "maxNodes": 8}, {}, total(1, 8), 1),
        ({"minNodes": 4, "maxNodes": 8}, {}, total(4, 8), 2),
        # One node in each zone would exceed the maximum.
        ({"minNodes": 1, "maxNodes": 2}, {}, total(1, 2), 0),
        ({"minNodes": 2, "maxNodes": 2}, {"location": "europe-west4-a"}, total(2, 2), 2),
        ({"minNodes": 2, "maxNodes": 4, "zones": ["europe-west4-a", "europe-west4-b"]}, {}, total(2, 4), 1),
        # Bounds of each zone.
        ({"gcp": {"minNodesPerZone": 1, "maxNodesPerZone": 3}}, {}, {"minNodeCount": 1, "maxNodeCount": 3}, 1),
        ({"gcp": {"maxNodesPerZone": 3}}, {}, {"minNodeCount": 1, "maxNodeCount": 3}, 1),
        ({"gcp": {"minNodesPerZone": 0, "maxNodesPerZone": 3}}, {}, {"minNodeCount": 0, "maxNodeCount": 3}, 0),
        # The location policy is always sent, GKE's default too.
        ({"maxNodes": 3, "capacity": "spot"}, {}, total(0, 3) | {"locationPolicy": "ANY"}, 0),
        ({"maxNodes": 3, "gcp": {"locationPolicy": "any"}}, {}, total(1, 3) | {"locationPolicy": "ANY"}, 1),
        ({"maxNodes": 3, "gcp": {"locationPolicy": "balanced"}}, {}, total(1, 3) | {"locationPolicy": "BALANCED"}, 1),
    ],
)
def test_bounds_are_of_the_pool_or_of_each_zone_and_the_first_number_of_nodes_is_always_of_each_zone(
    pool: dict[str, Any], cloud: dict[str, Any], bounds: dict[str, Any], initial: int
) -> None:
    (inputs,) = pool_inputs({"name": "cpu", "machine": "n2-standard-8", **pool}, cloud=cloud).values()
    assert (inputs["autoscaling"], inputs["initialNodeCount"]) == ({"locationPolicy": "BALANCED", **bounds}, initial)
    assert "nodeCount" not in inputs


def test_a_new_generation_begins_with_the_nodes_of_the_one_that_goes() -> None:
    existing = {"name": "general", "nodeCount": 2, "nodeConfigs": [{"labels": {"kubeflow-spot.dev/pool": "general"}}]}
    live = LiveCluster({"nodePools": [existing]})
    inputs = pool_inputs({**GENERAL, "generation": "b"}, live=live)["generalb"]
    assert inputs["initialNodeCount"] == 2
    existing["nodeCount"] = 9
    assert (
        pool_inputs({**GENERAL, "generation": "b"}, live=live)["generalb"]["initialNodeCount"] == 2
    )  # six in three zones


@pytest.mark.parametrize(
    ("location", "zones", "first"),
    [
        ("europe-west4", ["europe-west4-a", "europe-west4-b"], 2),
        ("europe-west4-a", [], 4),
        ("europe-west4-a", ["europe-west4-b"], 2),  # its own zone is not among them
    ],
)
def test_a_pool_begins_in_the_zones_that_the_cluster_has(location: str, zones: list[str], first: int) -> None:
    live = LiveCluster({"location": location, "nodeLocations": zones})
    assert pool_inputs({**GENERAL, "minNodes": 4}, live=live)["general"]["initialNodeCount"] == first


@pytest.mark.parametrize(
    ("pool", "cloud", "zones"),
    [
        ({}, {}, None),
        ({}, {"zones": ["europe-west4-c", "europe-west4-a"]}, ["europe-west4-a", "europe-west4-c"]),
        ({"zones": ["europe-west4-b"]}, {"zones": ["europe-west4-a", "europe-west4-b"]}, ["europe-west4-b"]),
    ],
)
def test_a_pool_is_in_its_own_zones_or_in_the_clusters(
    pool: dict[str, Any], cloud: dict[str, Any], zones: list[str] | None
) -> None:
    assert pool_inputs({**L4, **pool}, cloud=cloud)["l4"].get("nodeLocations") == zones


@pytest.mark.parametrize(
    ("pool", "cloud", "sent"),
    [
        ({}, {}, {"imageType": "COS_CONTAINERD", "diskSizeGb": 100, "diskType": "pd-balanced", "bootDiskKmsKey": None}),
        ({"gcp": {"diskType": "pd-ssd"}, "osDisk": {"sizeGb": 200}}, {}, {"diskType": "pd-ssd", "diskSizeGb": 200}),
        # Boots from nothing else.
        ({"machine": "g4-standard-48"}, {}, {"diskType": "hyperdisk-balanced"}),
        ({"gcp": {"imageType": "UBUNTU_CONTAINERD"}}, {}, {"imageType": "UBUNTU_CONTAINERD"}),
        ({}, {"encryption": {"bootDiskKey": KEY}}, {"bootDiskKmsKey": KEY}),
        ({}, {}, {"shieldedInstanceConfig": {"enableSecureBoot": False, "enableIntegrityMonitoring": True}}),
        (
            {"gcp": {"secureBoot": True, "integrityMonitoring": False}},
            {},
            {"shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": False}},
        ),
        ({}, {}, {"kubeletConfig": None}),
        (
            {"gcp": {"shutdownGraceSeconds": 120}},
            {},
            {"kubeletConfig": {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 15}},
        ),
    ],
)
def test_what_the_stack_file_says_of_machines_is_sent(
    pool: dict[str, Any], cloud: dict[str, Any], sent: dict[str, Any]
) -> None:
    config = nodes({**L4, **pool}, cloud=cloud)
    assert {key: config.get(key) for key in sent} == sent


def test_longer_notice_is_of_spot_nodes_alone() -> None:
    inputs = pool_inputs({**WITH_TWIN, "gcp": {"shutdownGraceSeconds": 120}})
    assert "kubeletConfig" in inputs["l4"]["nodeConfig"]
    assert "kubeletConfig" not in inputs["l4od"]["nodeConfig"]


def test_pods_a_node_and_tags_are_sent() -> None:
    pool = pool_inputs({**L4, "maxPods": 32}, cluster={"name": "lab", "tags": {"team": "ml"}})["l4"]
    assert (pool["maxPodsPerNode"], pool["nodeConfig"]["resourceLabels"]) == (32, {"team": "ml"})
    assert pool_inputs(L4)["l4"]["maxPodsPerNode"] == 110


@pytest.mark.parametrize(
    ("pool", "settings"),
    [
        (GENERAL, (1, 0)),
        (L4, (0, 1)),
        (V100, (0, 1)),
        ({**V100, "upgrade": {"maxSurge": "1"}}, (1, 0)),
        # All machines of a reservation may be in use, so there is no other one to begin with.
        ({**GENERAL, "reservation": "n2-prod"}, (0, 1)),
        ({**GENERAL, "reservation": "n2-prod", "upgrade": {"maxSurge": "2"}}, (2, 0)),
        ({**GENERAL, "upgrade": {"maxSurge": "2", "maxUnavailable": "1"}}, (2, 1)),
    ],
)
def test_nodes_are_exchanged_in_place_where_no_other_one_can_be_had(
    pool: dict[str, Any], settings: tuple[int, int]
) -> None:
    (inputs,) = pool_inputs(pool).values()
    wanted = {"strategy": "SURGE", "maxSurge": settings[0], "maxUnavailable": settings[1]}
    assert inputs.get("upgradeSettings") == wanted
    assert inputs["management"] == {"autoRepair": True, "autoUpgrade": True}


@pytest.mark.parametrize(
    ("critical", "taints"),
    [(False, []), (True, [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"}])],
)
def test_the_system_pool_is_an_on_demand_pool_like_any_other(critical: bool, taints: list[dict[str, str]]) -> None:
    system = {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4, "criticalAddonsOnly": critical}
    read = spec(stack(GENERAL, systemPool=system))
    assert read.system_pool
    inputs = gcp_pools.planned(
        node_pools.system_pool(read.system_pool, Gke()), read.cloud, ACCOUNT, {}, LiveCluster(), cluster="lab"
    ).request  # type: ignore[arg-type]
    assert inputs["autoscaling"] == {**total(2, 4), "locationPolicy": "BALANCED"}
    # One node in each of three zones: GKE has no smaller initial count that keeps the minimum.
    assert inputs["initialNodeCount"] == 1
    labels = {"kubeflow-spot.dev/capacity": "on-demand", "kubeflow-spot.dev/pool": "system"}
    assert (inputs["nodeConfig"]["labels"], inputs["nodeConfig"]["taints"]) == (labels, taints)
    assert not {"spot", "preemptible", "guestAccelerators"} & inputs["nodeConfig"].keys()


def test_a_machine_is_asked_for_as_google_spells_it() -> None:
    settings = stack({**GENERAL, "machine": "N2-Standard-8"})
    settings["kubeflow-spot:systemPool"] = {"machine": "E2-Standard-4", "maxNodes": 4}
    read = spec(settings)
    assert read.system_pool
    system = gcp_pools.planned(
        node_pools.system_pool(read.system_pool, Gke()), read.cloud, ACCOUNT, {}, LiveCluster(), cluster="lab"
    ).request  # type: ignore[arg-type]
    (general,) = node_pools.node_pools(read, Gke())
    general_pool = gcp_pools.planned(general, read.cloud, ACCOUNT, {}, LiveCluster(), cluster="lab").request  # type: ignore[arg-type]
    assert [inputs["nodeConfig"]["machineType"] for inputs in (system, general_pool)] == [
        "e2-standard-4",
        "n2-standard-8",
    ]
