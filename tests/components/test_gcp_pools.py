"""Translations of a pool of the stack file to GKE's words: bounds, nodes, GPUs, reservations."""

from typing import Any

import pytest

from components.gcp import gcp_immutable_pools, gcp_pools
from components.gcp.gcp_live import LiveCluster
from config.clouds.gcp.gcp_traits import Gke
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from tests.components.google import GENERAL, L4, WITH_TWIN, rows, stack
from tests.components.gpu_agents import spec_of

ACCOUNT = "lab-nodes@example-lab.iam.gserviceaccount.com"
OWN, BLOCK = "projects/example-lab/reservations/l4-prod", "/reservationBlocks/b1"


def request(read: ClusterSpec, pool: NodePool, live: LiveCluster | None = None) -> dict[str, Any]:
    tags, now = read.cluster.tags, live or LiveCluster()
    return gcp_pools.planned(pool, read.cloud, ACCOUNT, tags, now, cluster="lab").request  # type: ignore[arg-type]


def pool_inputs(*stack_pools: dict[str, Any], live: LiveCluster | None = None, **top: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of every NodePool but the system pool's, by name."""
    read = spec_of(stack(*stack_pools, **top))
    return {pool.name: request(read, pool, live) for pool in node_pools.node_pools(read, Gke())}


def system_inputs(settings: dict[str, Any]) -> dict[str, Any]:
    read = spec_of(settings)
    assert read.system_pool
    return request(read, node_pools.system_pool(read.system_pool, Gke()))


def nodes(*stack_pools: dict[str, Any], **top: Any) -> dict[str, Any]:
    """Return the `nodeConfig` of the first of them."""
    config: dict[str, Any] = pool_inputs(*stack_pools, **top)[stack_pools[0]["name"]]["nodeConfig"]
    return config


def test_a_flex_start_pool_has_an_end_and_no_repairs_and_leaves_upgrades_to_gke() -> None:
    flex = {**L4, "capacity": "flex-start"}
    inputs = pool_inputs(flex)["l4"]
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
    assert nodes({**flex, "gcp": {"maxRunDuration": "90m"}})["maxRunDuration"] == "5400s"


def test_a_twin_of_every_pool_is_on_demand() -> None:
    source = {key: value for key, value in WITH_TWIN.items() if key != "maxNodes"}
    inputs = pool_inputs({**source, "capacity": "preemptible", "gcp": {"maxNodesPerZone": 1}})
    assert inputs["l4"]["nodeConfig"]["preemptible"] is True
    assert not {"spot", "preemptible"} & inputs["l4od"]["nodeConfig"].keys()
    assert inputs["l4"]["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 1, "locationPolicy": "ANY"}
    twin = {"totalMinNodeCount": 0, "totalMaxNodeCount": 2, "locationPolicy": "BALANCED"}
    assert inputs["l4od"]["autoscaling"] == twin


@pytest.mark.parametrize(("pool", "cloud", "bounds", "initial"), rows("bounds"))
def test_bounds_are_of_the_pool_or_of_each_zone_and_the_first_number_of_nodes_is_always_of_each_zone(
    pool: dict[str, Any], cloud: dict[str, Any], bounds: dict[str, Any], initial: int
) -> None:
    (inputs,) = pool_inputs({"name": "cpu", "machine": "n2-standard-8", **pool}, cloud=cloud).values()
    assert (inputs["autoscaling"], inputs["initialNodeCount"]) == ({"locationPolicy": "BALANCED", **bounds}, initial)
    assert "nodeCount" not in inputs


def test_a_new_generation_begins_with_the_nodes_of_the_one_that_goes() -> None:
    for now in (2, 9):  # six in three zones are the most
        labels = {"kubeflow-spot.dev/pool": "general"}
        live = LiveCluster({"nodePools": [{"name": "general", "nodeCount": now, "nodeConfigs": [{"labels": labels}]}]})
        assert pool_inputs({**GENERAL, "generation": "b"}, live=live)["generalb"]["initialNodeCount"] == 2


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


@pytest.mark.parametrize(("pool", "cloud", "sent"), rows("nodes"))
def test_what_the_stack_file_says_of_machines_is_sent(
    pool: dict[str, Any], cloud: dict[str, Any], sent: dict[str, Any]
) -> None:
    config = nodes({**L4, **pool}, cloud=cloud)
    assert {key: config.get(key) for key in sent} == sent


def test_longer_notice_is_of_spot_nodes_alone() -> None:
    inputs = pool_inputs({**WITH_TWIN, "gcp": {"shutdownGraceSeconds": 120}})
    assert ["kubeletConfig" in inputs[pool]["nodeConfig"] for pool in ("l4", "l4od")] == [True, False]


@pytest.mark.parametrize(("pool", "settings"), rows("upgrades"))
def test_nodes_are_exchanged_in_place_where_no_other_one_can_be_had(pool: dict[str, Any], settings: list[int]) -> None:
    (inputs,) = pool_inputs({"name": "p", "maxNodes": 6, **pool}).values()
    surge, away = settings
    assert inputs["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": surge, "maxUnavailable": away}
    assert inputs["management"] == {"autoRepair": True, "autoUpgrade": True}


@pytest.mark.parametrize(
    ("critical", "taints"),
    [(False, []), (True, [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NO_SCHEDULE"}])],
)
def test_the_system_pool_is_an_on_demand_pool_like_any_other(critical: bool, taints: list[dict[str, str]]) -> None:
    system = {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4, "criticalAddonsOnly": critical}
    inputs = system_inputs(stack(GENERAL, systemPool=system))
    bounds = {"totalMinNodeCount": 2, "totalMaxNodeCount": 4, "locationPolicy": "BALANCED"}
    assert inputs["autoscaling"] == bounds
    # One node in each of three zones: GKE has no smaller initial count that keeps the minimum.
    assert inputs["initialNodeCount"] == 1
    labels = {"kubeflow-spot.dev/capacity": "on-demand", "kubeflow-spot.dev/pool": "system"}
    assert (inputs["nodeConfig"]["labels"], inputs["nodeConfig"]["taints"]) == (labels, taints)
    assert not {"spot", "preemptible", "guestAccelerators"} & inputs["nodeConfig"].keys()


def test_a_machine_is_asked_for_as_google_spells_it() -> None:
    general = {**GENERAL, "machine": "N2-Standard-8"}
    system = {"machine": "E2-Standard-4", "maxNodes": 4}
    assert system_inputs(stack(general, systemPool=system))["nodeConfig"]["machineType"] == "e2-standard-4"
    assert nodes(general)["machineType"] == "n2-standard-8"


def test_taints_have_googles_spelling() -> None:
    spelling = {None: "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}
    for effect, google in spelling.items():
        taint = {"key": "a", "value": "1", **({"effect": effect} if effect else {})}
        assert nodes({**GENERAL, "taints": [taint]})["taints"] == [{"key": "a", "value": "1", "effect": google}]


def test_labels_that_gke_puts_on_by_itself_are_not_sent() -> None:
    for pool in (L4, {**L4, "capacity": "preemptible"}):
        assert nodes({**pool, "labels": {"team": "a"}})["labels"] == {
            "kubeflow-spot.dev/accelerator": "nvidia-l4",
            "kubeflow-spot.dev/capacity": "spot",
            "kubeflow-spot.dev/pool": "l4",
            "team": "a",
        }


@pytest.mark.parametrize(("pool", "differs"), rows("gpus"))
def test_gpus_have_googles_name_number_driver_partition_and_sharing(
    pool: dict[str, Any], differs: dict[str, Any] | None
) -> None:
    usual = {"type": "nvidia-l4", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
    expected = None if differs is None else [usual | differs]
    assert nodes({**L4, **pool}).get("guestAccelerators") == expected


def test_gkes_plugin_is_kept_off_by_a_label() -> None:
    config = nodes({**L4, "gcp": {"devicePlugin": "nvidia"}}, devicePlugin={"install": "never"})
    assert config["labels"]["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert "gke-no-default-nvidia-gpu-device-plugin" not in nodes(L4)["labels"]


def held_by(name: str, reservation: str) -> dict[str, Any]:
    """Return a live pool with two nodes in each zone, on a reservation unless that is empty."""
    affinity = [{"values": [reservation]}] if reservation else []
    config = {"labels": {"kubeflow-spot.dev/pool": "l4"}, "reservationAffinities": affinity}
    return {"name": name, "nodeCount": 2, "nodeConfigs": [config]}


@pytest.mark.parametrize(
    ("name", "live", "sent"),
    [
        ("l4-prod", "", "l4-prod"),
        ("projects/example-shared/reservations/l4-prod", "", "projects/example-shared/reservations/l4-prod"),
        # GKE finds no block without its project.
        (f"l4-prod{BLOCK}", "", f"{OWN}{BLOCK}"),
        # What a pool has stays as it is spelled there: another value replaces the pool.
        (f"l4-prod{BLOCK}", f"l4-prod{BLOCK}", f"l4-prod{BLOCK}"),
        (OWN, "l4-prod", "l4-prod"),
        ("l4-prod", "l4-dev", "l4-prod"),
    ],
)
def test_a_reserved_pool_takes_machines_of_its_reservation_alone(name: str, live: str, sent: str) -> None:
    cluster = LiveCluster({"nodePools": [held_by("l4", live)]})
    inputs = pool_inputs({**L4, "capacity": "on-demand", "reservation": name}, live=cluster)["l4"]
    key = "compute.googleapis.com/reservation-name"
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": key, "values": [sent]}
    assert inputs["nodeConfig"]["reservationAffinity"] == affinity
    assert not {"spot", "flexStart", "maxRunDuration"} & inputs["nodeConfig"].keys()
    changed = [key for key, _, _ in gcp_immutable_pools._changes(inputs, cluster.pools["l4"])]
    assert ("reservation" in changed) is (live != sent)


@pytest.mark.parametrize(
    ("live", "first"),
    [
        (held_by("l4", ""), 2),
        (held_by("l4", "l4-dev"), 2),
        (held_by("l4", "l4-prod"), 0),
        # One of another name, on a block of the same reservation.
        (held_by("old", f"{OWN}{BLOCK}"), 0),
    ],
)
def test_a_pool_begins_empty_while_another_one_holds_its_reservation(live: dict[str, Any], first: int) -> None:
    """The machines are free when the other pool is gone; before that GKE would refuse the new one."""
    pool = {**L4, "capacity": "on-demand", "reservation": "l4-prod", "generation": "b", "zones": ["europe-west4-b"]}
    inputs = pool_inputs({**pool, "minNodes": 1}, live=LiveCluster({"nodePools": [live]}))["l4b"]
    assert (inputs["initialNodeCount"], inputs["autoscaling"]["totalMinNodeCount"]) == (first, 1)
