"""The provider's checks: refused inputs, defaults and automatic names."""

from __future__ import annotations

import re

import pytest

from sandbox.cloud.provider import UNKNOWN, Refused, Resource
from sandbox.tests.engine_side import CheckFailed, Props

from .conftest import (
    ACCOUNT,
    CLUSTER,
    CLUSTER_INPUTS,
    NETWORK,
    POOL,
    REGULAR,
    SPOT,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
    Project,
    with_config,
)

EFFECT = [{"key": "a", "value": "b", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("token", "inputs", "reason"),
    [
        (POOL, {**SPOT, "nodecount": 1}, "Invalid or unknown key. Examine values at 'nodepool.nodecount'."),
        (
            POOL,
            with_config(SPOT, spotMaxPrice=1),
            "Invalid or unknown key. Examine values at 'nodepool.nodeConfig.spotMaxPrice'.",
        ),
        (POOL, {"name": "l4"}, "Missing required property 'cluster'"),
        (
            POOL,
            with_config(SPOT, guestAccelerators=[{"count": 1}]),
            "Missing required property 'nodeConfig.guestAccelerators[0].type'",
        ),
        (
            POOL,
            {**SPOT, "initialNodeCount": "1"},
            "'initialNodeCount' should be of type integer but is of type string. Examine values at "
            "'nodepool.initialNodeCount'.",
        ),
        # 4.1: "expected node_config.0.taint.0.effect to be one of [..], got NoExecute"
        (
            POOL,
            with_config(SPOT, taints=EFFECT),
            'expected node_config.0.taint.0.effect to be one of ["NO_SCHEDULE" "PREFER_NO_SCHEDULE" "NO_EXECUTE"], got '
            "NoExecute. Examine values at 'nodepool.nodeConfig.taints[0].effect'.",
        ),
        (
            POOL,
            {**SPOT, "autoscaling": {"totalMaxNodeCount": 3, "locationPolicy": "any"}},
            'expected autoscaling.0.location_policy to be one of ["BALANCED" "ANY"], got any. Examine values at '
            "'nodepool.autoscaling.locationPolicy'.",
        ),
        (
            POOL,
            {**SPOT, "autoscaling": {"totalMinNodeCount": -1}},
            "expected autoscaling.0.total_min_node_count to be at least (0), got -1. Examine values at "
            "'nodepool.autoscaling.totalMinNodeCount'.",
        ),
        (
            POOL,
            with_config(SPOT, diskSizeGb=9),
            "expected node_config.0.disk_size_gb to be at least (10), got 9. Examine values at "
            "'nodepool.nodeConfig.diskSizeGb'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "name": "a" * 41},
            "\"name\" cannot be longer than 40 characters. Examine values at 'cluster.name'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "name": "mlDev"},
            "\"name\" can only contain lowercase letters, numbers and hyphens. Examine values at 'cluster.name'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "name": "1ml"},
            "\"name\" must start with a letter. Examine values at 'cluster.name'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "name": "ml-"},
            "\"name\" must end with a number or a letter. Examine values at 'cluster.name'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "privateClusterConfig": {"masterIpv4CidrBlock": "172.16.0.0/27"}},
            'expected "private_cluster_config.0.master_ipv4_cidr_block" to contain a network Value with between 28 and 28 '
            "significant bits, got: 27. Examine values at 'cluster.privateClusterConfig.masterIpv4CidrBlock'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "10.0.0.1/8"}]}},
            'expected "master_authorized_networks_config.0.cidr_blocks.0.cidr_block" to contain a valid network Value, expected '
            "10.0.0.0/8, got 10.0.0.1/8. Examine values at 'cluster.masterAuthorizedNetworksConfig.cidrBlocks[0].cidrBlock'.",
        ),
        (
            CLUSTER,
            {**CLUSTER_INPUTS, "maintenancePolicy": {"dailyMaintenanceWindow": {"startTime": "2:00"}}},
            '"maintenance_policy.0.daily_maintenance_window.0.start_time" ("2:00") must be in the format HH:mm (RFC3399). '
            "Examine values at 'cluster.maintenancePolicy.dailyMaintenanceWindow.startTime'.",
        ),
        (
            NETWORK,
            {"name": "Net"},
            '"name" ("Net") doesn\'t match regexp "^(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)$". Examine values at '
            "'network.name'.",
        ),
        (
            ACCOUNT,
            {"accountId": "short"},
            '"account_id" ("short") doesn\'t match regexp "^(?:[a-z](?:[-a-z0-9]{4,28}[a-z0-9]))$". Examine values at '
            "'account.accountId'.",
        ),
        (
            SUBNETWORK,
            {**SUBNETWORK_INPUTS, "ipCidrRange": "10.0.0.0"},
            '"ip_cidr_range" is not a valid IP CIDR range: invalid CIDR address: 10.0.0.0. Examine values at '
            "'subnetwork.ipCidrRange'.",
        ),
    ],
)
def test_check_refuses(project: Project, token: str, inputs: Props, reason: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        project.check(token, inputs)
    assert str(failed.value) == reason


def test_check_refuses_a_type_that_is_not_emulated(project: Project) -> None:
    with pytest.raises(Refused, match="does not emulate gcp:storage/folder:Folder"):
        project.check("gcp:storage/folder:Folder", {})


def test_check_drops_nulls_and_lets_unknowns_pass(project: Project) -> None:
    checked = project.check(POOL, {**with_config(SPOT, serviceAccount=UNKNOWN), "cluster": UNKNOWN, "version": None})
    assert "version" not in checked
    assert checked["nodeConfig"]["serviceAccount"] == UNKNOWN


def test_check_adds_defaults_and_says_which(project: Project) -> None:
    checked = project.check(CLUSTER, {**CLUSTER_INPUTS, "network": None, "clusterAutoscaling": {"enabled": False}})
    assert checked["__defaults"] == ["deletionProtection", "enableShieldedNodes", "network"]
    assert (checked["deletionProtection"], checked["network"]) == (True, "default")
    assert checked["clusterAutoscaling"] == {
        "enabled": False,
        "autoscalingProfile": "BALANCED",
        "__defaults": ["autoscalingProfile"],
    }
    # A missing block gets no defaults, and empty defaults are not recorded (bridge #2618).
    assert "management" not in project.check(POOL, SPOT)
    assert "preemptible" not in project.check(POOL, SPOT)["nodeConfig"]


def test_automatic_name_is_kept_and_creates_before_it_deletes(ready: Project) -> None:
    unnamed = {name: value for name, value in REGULAR.items() if name != "name"}
    pool = ready.create(POOL, unnamed)
    assert re.fullmatch("nodepool-[0-9a-f]{7}", pool.old_inputs["name"])
    assert pool.old_inputs["__defaults"] == ["name"]
    assert ready.check(POOL, unnamed, pool.old_inputs)["name"] == pool.old_inputs["name"]
    # A refresh takes the marks away: then every old value serves again.
    refreshed = ready.refresh(pool)
    assert "__defaults" not in refreshed.old_inputs
    assert ready.check(POOL, unnamed, refreshed.old_inputs)["name"] == pool.old_inputs["name"]
    assert ready.diff(pool, {**unnamed, "maxPodsPerNode": 32}).delete_before_replace is False
    # A name from the program is replaced by a generated one.
    assert ready.check(POOL, unnamed, {**REGULAR, "__defaults": []})["name"] != "cpu"


def test_automatic_names_are_lower_case_but_of_clusters_and_pools(project: Project) -> None:
    def named(token: str) -> str:
        checked, failures = project.provider.check(
            Resource(token, "mlDev", "urn", inputs={"cluster": "c"} if token == POOL else {})
        )
        return str(checked.get("name")) + "".join(failure.reason for failure in failures)

    assert named(NETWORK).startswith("mldev-")
    assert named(POOL).startswith("mlDev-")
    assert "can only contain lowercase letters" in named(CLUSTER)


def test_an_automatic_account_name_may_be_too_long(project: Project) -> None:
    _, failures = project.provider.check(Resource(ACCOUNT, "a" * 23, "urn"))
    assert failures[0].reason == f"name '{'a' * 23}-' plus 7 random chars is longer than maximum length 30"
