"""Answers of the services: defaults, additions, and the clusters and nodes that follow."""

from typing import Any

import pytest

from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import InitFailed
from sandbox.gcp import gcp_catalogue
from sandbox.tests.engine_side import Props

from .conftest import (
    CLUSTER,
    CLUSTER_ID,
    FLEX,
    POOL,
    PROJECT,
    REGION,
    REGULAR,
    SPOT,
    TWO,
    ZONES,
    Project,
    with_config,
)

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


def created(project: Project, inputs: Props, token: str = POOL) -> Props:
    return project.create(token, inputs).old_outputs


def test_a_cluster_has_its_computed_outputs(ready: Project) -> None:
    cluster = created(ready, TWO, CLUSTER)
    assert cluster["endpoint"] == "127.0.0.1:6443"
    assert cluster["masterAuth"]["clusterCaCertificate"] == "Y2VydGlmaWNhdGU="
    assert cluster["masterVersion"] == "1.36.4-gke.1132000"
    assert (
        cluster["selfLink"] == f"https://container.googleapis.com/v1/projects/{PROJECT}/locations/{REGION}/clusters/two"
    )
    assert cluster["network"] == f"projects/{PROJECT}/global/networks/net"
    assert cluster["nodeLocations"] == ZONES
    assert cluster["networkingMode"] == "VPC_NATIVE"
    assert cluster["clusterAutoscaling"]["autoscalingProfile"] == "BALANCED"
    assert cluster["effectiveLabels"] == {"goog-pulumi-provisioned": "true"}
    assert cluster["deletionProtection"] is True
    assert "status" not in cluster
    assert ready.runtime.calls[-2] == (
        "start",
        CLUSTER_ID.replace("gke", "two"),
        "two",
        "1.36.4-gke.1132000",
        "34.118.224.0/20",
    )


@pytest.mark.parametrize(("version", "mode"), [("1.34", "ENABLED"), ("1.35", "LIMITED"), ("1.36", "LIMITED")])
def test_a_new_cluster_of_1_35_answers_strangers_health_checks_alone(version: str, mode: str, ready: Project) -> None:
    assert created(ready, {**TWO, "minMasterVersion": version}, CLUSTER)["anonymousAuthenticationConfig"] == {
        "mode": mode
    }


def test_ranges_by_name_are_shown_with_their_addresses(ready: Project) -> None:
    body = ready.cloud.get(CLUSTER_ID) or {}
    assert (body["clusterIpv4Cidr"], body["servicesIpv4Cidr"]) == ("10.16.0.0/14", "10.20.0.0/20")


@pytest.mark.parametrize(
    ("channel", "wanted", "version"),
    [
        ("RAPID", "", "1.36.4"),
        ("REGULAR", "", "1.35.7"),
        ("STABLE", "", "1.35.6"),
        ("RAPID", "1.37", "1.37.1"),
        ("REGULAR", "1.37", None),
        ("STABLE", "1.36", None),
        ("EXTENDED", "1.31", "1.31.14"),
        ("REGULAR", "1.36.3", "1.36.3"),
        ("REGULAR", "1.3", None),
        ("REGULAR", "latest", "1.36.4"),
        ("UNSPECIFIED", "1.36", "1.36.4"),
    ],
)
def test_a_channel_resolves_versions(channel: str, wanted: str, version: str | None) -> None:
    """GKE release notes"""
    resolved = gcp_catalogue.resolved(wanted, channel)
    assert (resolved and resolved.partition("-gke.")[0]) == version


def test_an_upgrade_follows_the_version_and_a_downgrade_is_passed_over(ready: Project) -> None:
    inputs = {**TWO, "minMasterVersion": "1.35"}
    cluster = ready.create(CLUSTER, inputs)
    assert cluster.old_outputs["masterVersion"].startswith("1.35.7")
    cluster = ready.update(cluster, {**inputs, "minMasterVersion": "1.36"})
    assert cluster.old_outputs["masterVersion"].startswith("1.36.4")
    assert ready.runtime.calls[-2][3].startswith("1.36.4")
    cluster = ready.update(cluster, {**inputs, "minMasterVersion": "1.35"})
    assert cluster.old_outputs["masterVersion"].startswith("1.36.4")


def test_the_default_pool_stays_unless_it_is_removed(ready: Project) -> None:
    cluster = created(ready, {**TWO, "removeDefaultNodePool": False}, CLUSTER)
    (pool,) = cluster["nodePools"]
    assert (pool["name"], pool["nodeConfig"]["machineType"]) == ("default-pool", "e2-medium")
    assert len(ready.runtime.names()) == 3
    assert (ready.cloud.get(CLUSTER_ID) or {})["nodePools"] == []


def test_a_zonal_cluster_has_its_zone_besides_the_others(ready: Project) -> None:
    zonal = {**TWO, "location": ZONES[0], "nodeLocations": ZONES[1:2]}
    assert created(ready, zonal, CLUSTER)["nodeLocations"] == ZONES[1:2]
    pool = created(ready, {**REGULAR, "cluster": "two", "location": ZONES[0]})
    assert pool["nodeLocations"] == ZONES[:2]


def test_a_pool_has_its_defaults(ready: Project) -> None:
    """4.1"""
    pool = created(ready, {"name": "cpu", "cluster": "gke", "location": REGION})
    config = pool["nodeConfig"]
    assert config["machineType"] == "e2-medium"
    assert (config["diskType"], config["diskSizeGb"]) == ("pd-balanced", 100)
    assert config["serviceAccount"] == "default"
    assert len(config["oauthScopes"]) == 6
    assert config["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
    assert (config["spot"], config["preemptible"], config["effectiveTaints"]) == (False, False, [])
    assert pool["management"] == {"autoRepair": True, "autoUpgrade": True}
    assert pool["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 1, "maxUnavailable": 0}
    assert pool["maxPodsPerNode"] == 110
    assert pool["version"] == "1.36.4-gke.1132000"
    assert pool["nodeLocations"] == ZONES
    assert "autoscaling" not in pool
    assert len(pool["instanceGroupUrls"]) == len(pool["managedInstanceGroupUrls"]) == 3
    assert "/instanceGroupManagers/" in pool["instanceGroupUrls"][0]


@pytest.mark.parametrize(
    ("changes", "policy"), [({}, "ANY"), ({"spot": None, "preemptible": True}, "ANY"), ({"spot": None}, "BALANCED")]
)
def test_pools_that_vanish_take_any_zone(ready: Project, changes: Props, policy: str) -> None:
    """page cluster-autoscaler"""
    assert created(ready, with_config(SPOT, **changes))["autoscaling"] == {
        "minNodeCount": 0,
        "maxNodeCount": 0,
        "totalMinNodeCount": 0,
        "totalMaxNodeCount": 8,
        "locationPolicy": policy,
    }


@pytest.mark.parametrize(("zones", "kept"), [([], ZONES), ([ZONES[1], ZONES[1]], [ZONES[1]])])
def test_zones_are_a_set_and_an_empty_one_says_nothing(ready: Project, zones: list[str], kept: list[str]) -> None:
    pool = created(ready, {**REGULAR, "nodeLocations": zones})
    assert pool["nodeLocations"] == kept
    assert len(pool["instanceGroupUrls"]) == len(kept)


def test_a_flex_start_pool_has_an_upgrade_strategy_of_its_own(ready: Project) -> None:
    """crossplane-contrib/provider-upjet-gcp #1028"""
    short = {"strategy": "SHORT_LIVED", "maxSurge": 0, "maxUnavailable": 0}
    pool = ready.create(POOL, FLEX)
    assert pool.old_outputs["upgradeSettings"] == short
    assert pool.old_outputs["management"] == {"autoRepair": False, "autoUpgrade": True}
    assert ready.update(pool, with_config(FLEX, labels={"a": "b"})).old_outputs["upgradeSettings"] == short
    assert ready.diff(pool, FLEX).changes == {}


def test_gpus_are_tainted_only_where_there_are_other_nodes_and_not_twice(ready: Project) -> None:
    """page spot-vms"""
    bare = with_config(SPOT, taints=None)
    first = created(ready, {**bare, "name": "first"})
    assert first["nodeConfig"]["effectiveTaints"] == []
    ready.create(POOL, REGULAR)
    # Not in retrospect.
    assert (ready.cloud.get(f"{CLUSTER_ID}/nodePools/first") or {})["nodeConfig"]["effectiveTaints"] == []
    second = created(ready, {**bare, "name": "second"})["nodeConfig"]
    assert second["effectiveTaints"] == [GPU_TAINT]
    assert "taints" not in second
    third = created(ready, {**with_config(SPOT, taints=[GPU_TAINT]), "name": "third"})["nodeConfig"]
    assert third["effectiveTaints"] == third["taints"] == [GPU_TAINT]


def test_the_services_taint_outlives_a_change_of_the_users(ready: Project) -> None:
    ready.create(POOL, REGULAR)
    pool = ready.create(POOL, SPOT)
    user_taint = {"key": "a", "value": "b", "effect": "NO_EXECUTE"}
    changed = ready.update(pool, with_config(SPOT, taints=[user_taint])).old_outputs["nodeConfig"]
    assert changed["taints"] == [user_taint]
    assert changed["effectiveTaints"] == [user_taint, GPU_TAINT]


def test_a_gpu_gets_the_default_driver(ready: Project) -> None:
    (gpu,) = created(ready, SPOT)["nodeConfig"]["guestAccelerators"]
    assert gpu["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "DEFAULT"}


@pytest.mark.parametrize(
    ("machine", "gpus", "disk"),
    [
        ("g2-standard-8", ("nvidia-l4", 1), "pd-balanced"),
        ("g4-standard-48", ("nvidia-rtx-pro-6000", 1), "hyperdisk-balanced"),
        ("n2-standard-8", None, "pd-balanced"),
    ],
)
def test_boot_disks_are_those_of_the_family(
    ready: Project, machine: str, gpus: tuple[str, int] | None, disk: str
) -> None:
    accelerators = [{"type": gpus[0], "count": gpus[1]}] if gpus else None
    pool = created(ready, with_config(SPOT, machineType=machine, guestAccelerators=accelerators))
    assert pool["nodeConfig"]["diskType"] == disk


def test_a_pool_without_autoscaling_has_the_declared_size(ready: Project) -> None:
    inputs: dict[str, Any] = {**REGULAR, "initialNodeCount": None, "autoscaling": None, "nodeCount": 2}
    pool = ready.create(POOL, inputs)
    assert (pool.old_outputs["initialNodeCount"], len(ready.runtime.names())) == (2, 6)
    pool = ready.update(pool, {**inputs, "nodeCount": 1})
    assert (pool.old_outputs["nodeCount"], len(ready.runtime.names())) == (1, 3)
    with pytest.raises(ScaleRefused, match="pool cpu is not autoscaled: its size is 3"):
        ready.cloud.scale("gke", "cpu", 1)


def test_status_has_every_pool(ready: Project) -> None:
    ready.create(POOL, REGULAR)
    ready.create(POOL, SPOT)
    ready.create(POOL, {**with_config(SPOT, spot=None, preemptible=True), "name": "old", "autoscaling": None})
    rows = [(p.cluster, p.pool, p.count, p.least, p.most, p.size, p.priority) for p in ready.cloud.pools()]
    assert rows == [
        ("gke", "cpu", 3, 1, 6, "n2-standard-8", "Regular"),
        ("gke", "l4", 0, 0, 8, "g2-standard-8", "Spot"),
        ("gke", "old", 0, None, None, "g2-standard-8", "Preemptible"),
    ]


def test_nodes_that_do_not_come_leave_a_pool_in_state_with_its_error(ready: Project) -> None:
    """4.3, 7.23"""

    ready.runtime.fails(RuntimeError("GCE_STOCKOUT"))
    with pytest.raises(InitFailed) as failed:
        ready.create(POOL, REGULAR)
    assert failed.value.reasons[0].startswith(
        'creating urn:it: 1 error occurred:\n\t* NodePool cpu was created in the error state "RUNNING_WITH_ERROR"'
    )
    assert failed.value.outputs["name"] == "cpu"
    assert (ready.cloud.get(failed.value.id) or {})["status"] == "RUNNING_WITH_ERROR"
