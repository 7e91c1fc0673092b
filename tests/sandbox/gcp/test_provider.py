"""The provider's own part: check, diff, previews, imports and functions."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from sandbox.cloud.provider import UNKNOWN, InitFailed, Refused, Resource
from sandbox.gcp.provider import GcpProvider
from tests.sandbox.engine_side import CheckFailed, Props

from .conftest import (
    ACCOUNT,
    CLUSTER,
    CLUSTER_ID,
    CLUSTER_INPUTS,
    MEMBER,
    NAT,
    NETWORK,
    NETWORK_INPUTS,
    POOL,
    PROJECT,
    REGION,
    REGULAR,
    ROUTER,
    SPOT,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
    ZONES,
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
    with pytest.raises(Refused, match="does not emulate gcp:storage/bucket:Bucket"):
        project.check("gcp:storage/bucket:Bucket", {})


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
    # A block that is not there gets none, and defaults that are empty are not written down (bridge #2618).
    assert "management" not in project.check(POOL, SPOT)
    assert "preemptible" not in project.check(POOL, SPOT)["nodeConfig"]


def test_automatic_name_is_kept_and_creates_before_it_deletes(ready: Project) -> None:
    unnamed = {name: value for name, value in REGULAR.items() if name != "name"}
    made = ready.create(POOL, unnamed)
    assert re.fullmatch("nodepool-[0-9a-f]{7}", made.old_inputs["name"])
    assert made.old_inputs["__defaults"] == ["name"]
    assert ready.check(POOL, unnamed, made.old_inputs)["name"] == made.old_inputs["name"]
    # A refresh takes the marks away: then every old value serves again.
    refreshed = ready.refresh(made)
    assert "__defaults" not in refreshed.old_inputs
    assert ready.check(POOL, unnamed, refreshed.old_inputs)["name"] == made.old_inputs["name"]
    assert ready.diff(made, {**unnamed, "maxPodsPerNode": 32}).delete_before_replace is False
    # One that was given is given up for another.
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


# What changes (None where that is something, and it does not matter how it is shown), and whether that replaces: 4.1 and 4.2.
POOL_DIFFS: list[tuple[Props, dict[str, str] | None, bool]] = [
    (SPOT, {}, False),
    ({**SPOT, "name": "other"}, {"name": "update"}, True),
    ({**SPOT, "cluster": "other"}, {"cluster": "update"}, True),
    ({**SPOT, "location": f"{REGION}-a"}, {"location": "update"}, True),
    ({**SPOT, "initialNodeCount": 2}, {"initialNodeCount": "update"}, True),
    ({**SPOT, "maxPodsPerNode": 32}, {"maxPodsPerNode": "update"}, True),
    ({**SPOT, "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 9}}, None, False),
    ({**SPOT, "autoscaling": {"totalMaxNodeCount": 8, "locationPolicy": "BALANCED"}}, None, False),
    ({**SPOT, "nodeLocations": ZONES[::-1]}, {}, False),
    ({**SPOT, "nodeLocations": ZONES[:1]}, None, False),
    ({**SPOT, "upgradeSettings": {"maxSurge": 0, "maxUnavailable": 1}}, None, False),
    ({**SPOT, "management": {"autoRepair": True, "autoUpgrade": True}}, {}, False),
    ({**SPOT, "version": "1.35"}, {"version": "update"}, False),
    ({**SPOT, "networkConfig": {"enablePrivateNodes": True}}, {"networkConfig.enablePrivateNodes": "update"}, False),
    ({**SPOT, "networkConfig": {"podRange": "more"}}, {"networkConfig.podRange": "update"}, True),
    (with_config(SPOT, spot=None), {"nodeConfig.spot": "delete"}, True),
    (with_config(SPOT, spot=None, preemptible=True), None, True),
    (
        with_config(SPOT, guestAccelerators=[{"type": "nvidia-l4", "count": 2}]),
        {"nodeConfig.guestAccelerators[0].count": "update"},
        True,
    ),
    (
        with_config(
            SPOT,
            guestAccelerators=[
                {"type": "nvidia-l4", "count": 1, "gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"}}
            ],
        ),
        {"nodeConfig.guestAccelerators[0].gpuDriverInstallationConfig.gpuDriverVersion": "update"},
        True,
    ),
    (with_config(SPOT, serviceAccount="a@b.iam.gserviceaccount.com"), {"nodeConfig.serviceAccount": "update"}, True),
    (with_config(SPOT, oauthScopes=["https://www.googleapis.com/auth/monitoring"]), None, True),
    (with_config(SPOT, metadata={"a": "b"}), None, True),
    (with_config(SPOT, shieldedInstanceConfig={"enableSecureBoot": True}), None, True),
    (with_config(SPOT, minCpuPlatform="Intel Ice Lake"), {"nodeConfig.minCpuPlatform": "add"}, True),
    (with_config(SPOT, bootDiskKmsKey="k"), {"nodeConfig.bootDiskKmsKey": "add"}, True),
    (with_config(SPOT, machineType="g2-standard-12"), {"nodeConfig.machineType": "update"}, False),
    (with_config(SPOT, diskSizeGb=200), {"nodeConfig.diskSizeGb": "update"}, False),
    (with_config(SPOT, diskType="pd-ssd"), {"nodeConfig.diskType": "update"}, False),
    (with_config(SPOT, imageType="UBUNTU_CONTAINERD"), {"nodeConfig.imageType": "update"}, False),
    (with_config(SPOT, labels={"gpu": "false", "a.io/b": "c"}), None, False),
    # Labels that are not said any more stay, taints go: the one is Computed, the other not.
    (with_config(SPOT, labels=None), {}, False),
    (with_config(SPOT, taints=None), {"nodeConfig.taints": "delete"}, False),
    (with_config(SPOT, taints=[]), {"nodeConfig.taints[0]": "delete"}, False),
    (with_config(SPOT, resourceLabels={"a": "b"}), {"nodeConfig.resourceLabels": "add"}, False),
    (with_config(SPOT, workloadMetadataConfig={"mode": "GCE_METADATA"}), None, False),
    (with_config(SPOT, kubeletConfig={"shutdownGracePeriodSeconds": 60}), {"nodeConfig.kubeletConfig": "add"}, False),
]


@pytest.mark.parametrize(("inputs", "paths", "replaces"), POOL_DIFFS)
def test_diff_of_a_pool(ready: Project, inputs: Props, paths: dict[str, str] | None, replaces: bool) -> None:
    diff = ready.diff(ready.create(POOL, SPOT), inputs)
    found = {path: str(kind) for path, kind in diff.changes.items()}
    assert found == paths if paths is not None else found
    assert bool(diff.replaces) == replaces
    # A name that was given: the bridge deletes first (nameRequiresDeleteBeforeReplace).
    assert diff.delete_before_replace == replaces


CLUSTER_DIFFS: list[tuple[Props, set[str], bool]] = [
    ({}, set(), False),
    ({"network": f"projects/{PROJECT}/global/networks/net"}, set(), False),
    ({"network": "other"}, {"network"}, True),
    ({"subnetwork": "other"}, {"subnetwork"}, True),
    ({"location": "us-central1"}, {"location"}, True),
    ({"initialNodeCount": 2}, {"initialNodeCount"}, True),
    ({"datapathProvider": "ADVANCED_DATAPATH"}, {"datapathProvider"}, True),
    ({"defaultMaxPodsPerNode": 64}, {"defaultMaxPodsPerNode"}, True),
    ({"networkingMode": "ROUTES"}, {"networkingMode"}, True),
    ({"enableAutopilot": True}, {"enableAutopilot"}, True),
    (
        {"ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "more-services"}},
        {"ipAllocationPolicy.servicesSecondaryRangeName"},
        True,
    ),
    (
        {"privateClusterConfig": {"masterIpv4CidrBlock": "172.16.0.0/28"}},
        {"privateClusterConfig.masterIpv4CidrBlock"},
        True,
    ),
    ({"privateClusterConfig": {"enablePrivateNodes": True}}, {"privateClusterConfig.enablePrivateNodes"}, False),
    ({"workloadIdentityConfig": None}, set(), False),
    ({"releaseChannel": {"channel": "RAPID"}}, {"releaseChannel.channel"}, False),
    ({"minMasterVersion": "1.35"}, {"minMasterVersion"}, False),
    ({"deletionProtection": False}, {"deletionProtection"}, False),
    ({"resourceLabels": {"a": "b"}}, {"resourceLabels.a"}, False),
    (
        {"clusterAutoscaling": {"autoscalingProfile": "OPTIMIZE_UTILIZATION"}},
        {"clusterAutoscaling.autoscalingProfile"},
        False,
    ),
    (
        {"controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"allowExternalTraffic": True}}},
        {"controlPlaneEndpointsConfig.dnsEndpointConfig.allowExternalTraffic"},
        False,
    ),
    (
        {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]}},
        {"masterAuthorizedNetworksConfig"},
        False,
    ),
    ({"loggingConfig": {"enableComponents": ["WORKLOADS", "SYSTEM_COMPONENTS"]}}, set(), False),
    # Of the pool that was taken away: why a program ignores it (pulumi-gcp, docs of removeDefaultNodePool).
    ({"nodeConfig": {"serviceAccount": "a@b.iam.gserviceaccount.com"}}, {"nodeConfig.serviceAccount"}, True),
]


@pytest.mark.parametrize(("changes", "paths", "replaces"), CLUSTER_DIFFS)
def test_diff_of_a_cluster(ready: Project, changes: Props, paths: set[str], replaces: bool) -> None:
    made = cluster_of(ready)
    diff = ready.diff(made, {**CLUSTER_INPUTS, **changes})
    assert diff.changes.keys() == paths
    assert bool(diff.replaces) == replaces


def cluster_of(ready: Project) -> Resource:
    """The cluster `gke` as the engine has it."""
    inputs = ready.check(CLUSTER, CLUSTER_INPUTS)
    outputs = {**inputs, "clusterAutoscaling": None}
    made = Resource(CLUSTER, "it", "urn:it", CLUSTER_ID, old_inputs=inputs, old_outputs=outputs)
    return dataclasses.replace(ready.refresh(made), old_inputs=inputs)


@pytest.mark.parametrize(
    ("token", "inputs", "changes", "replaces", "first"),
    [
        (NETWORK, NETWORK_INPUTS, {"autoCreateSubnetworks": True}, True, True),
        (NETWORK, NETWORK_INPUTS, {"mtu": 8896}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"ipCidrRange": "10.8.0.0/19"}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"ipCidrRange": "10.8.0.0/21"}, True, True),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"privateIpGoogleAccess": True}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"secondaryIpRanges": []}, False, False),
        (ROUTER, {"name": "r", "region": REGION, "network": "net"}, {"network": "other"}, True, True),
        (ROUTER, {"name": "r", "region": REGION, "network": "net"}, {"description": "x"}, False, False),
        (ACCOUNT, {"accountId": "ml-nodes"}, {"displayName": "Nodes"}, False, False),
        (ACCOUNT, {"accountId": "ml-nodes"}, {"accountId": "ml-others"}, True, True),
        # DeleteBeforeReplace in pulumi-gcp provider/resources.go
        (MEMBER, {"project": PROJECT, "role": "roles/viewer", "member": "user:a@b.c"}, {"role": "roles/x"}, True, True),
    ],
)
def test_diff_of_the_others(
    project: Project, token: str, inputs: Props, changes: Props, replaces: bool, first: bool
) -> None:
    if token != NETWORK:
        project.network()
    diff = project.diff(project.create(token, inputs), {**inputs, **changes})
    assert diff.changes
    assert bool(diff.replaces) == replaces
    assert diff.delete_before_replace == first


def test_only_what_changed_is_sent(ready: Project) -> None:
    """What the autoscaler did meanwhile stays, though the engine's state is older."""
    made = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 6)
    updated = ready.update(made, with_config(SPOT, labels={"gpu": "false"}))
    assert updated.old_outputs["nodeCount"] == 2
    assert len(ready.runtime.names()) == 6


@pytest.mark.parametrize(
    ("change", "anew"),
    [
        ({"machineType": "g2-standard-12"}, True),
        ({"diskSizeGb": 200}, True),
        ({"diskType": "pd-ssd"}, True),
        ({"imageType": "UBUNTU_CONTAINERD"}, True),
        ({"labels": {"gpu": "false"}}, False),
    ],
)
def test_another_machine_or_disk_makes_every_node_anew(ready: Project, change: Props, anew: bool) -> None:
    made = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 2)
    before = set(ready.runtime.names())
    ready.update(made, with_config(SPOT, **change))
    after = set(ready.runtime.names())
    assert len(after) == 2
    assert before.isdisjoint(after) is anew


KEPT = {
    "maxPodsPerNode": 64,
    "nodeLocations": ZONES[:1],
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 8, "locationPolicy": "BALANCED"},
    "upgradeSettings": {"maxSurge": 2},
}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_program_leaves_out_of_a_pool_is_kept(ready: Project, name: str) -> None:
    made = ready.create(POOL, {**SPOT, name: KEPT[name]})
    assert ready.diff(made, SPOT).changes == {}
    assert ready.update(made, SPOT).old_outputs[name] == made.old_outputs[name]


@pytest.mark.parametrize(
    "left_out",
    [{"diskSizeGb": 200}, {"kubeletConfig": {"shutdownGracePeriodSeconds": 120}}, {"guestAccelerators": None}],
)
def test_and_of_its_nodes(ready: Project, left_out: Props) -> None:
    gpu = with_config(SPOT, machineType="n1-standard-8", guestAccelerators=[{"type": "nvidia-tesla-v100", "count": 1}])
    if left_out == {"guestAccelerators": None}:
        made = ready.create(POOL, gpu)
        for without in ({"guestAccelerators": None}, {"guestAccelerators": []}):
            assert ready.diff(made, with_config(gpu, **without)).changes == {}
        return
    made = ready.create(POOL, with_config(SPOT, **left_out))
    assert ready.diff(made, SPOT).changes == {}


def test_who_may_reach_a_cluster_is_kept_and_an_empty_group_is_none(project: Project) -> None:
    project.network()
    project.subnetwork()
    networks = {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]}}
    group = {"authenticatorGroupsConfig": {"securityGroup": "gke-security-groups@example.com"}}
    made = project.cluster(**networks, **group)
    assert project.diff(made, CLUSTER_INPUTS).changes == {}
    kept = project.update(made, CLUSTER_INPUTS).old_outputs
    assert (
        kept["masterAuthorizedNetworksConfig"]["cidrBlocks"] == networks["masterAuthorizedNetworksConfig"]["cidrBlocks"]
    )
    assert kept["authenticatorGroupsConfig"] == group["authenticatorGroupsConfig"]
    off = {**CLUSTER_INPUTS, "authenticatorGroupsConfig": {"securityGroup": ""}}
    assert project.diff(made, off).changes.keys() == {"authenticatorGroupsConfig.securityGroup"}
    assert "authenticatorGroupsConfig" not in project.update(made, off).old_outputs


def test_refresh_follows_the_cloud_and_makes_no_difference(ready: Project) -> None:
    made = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 6)
    refreshed = ready.refresh(made)
    assert refreshed.old_outputs["nodeCount"] == 2
    assert "nodeCount" not in refreshed.old_inputs
    assert refreshed.old_inputs["initialNodeCount"] == 0
    assert refreshed.old_inputs["nodeConfig"]["labels"] == {"gpu": "true"}
    assert refreshed.old_inputs["nodeConfig"]["taints"] == SPOT["nodeConfig"]["taints"]
    assert ready.diff(refreshed, SPOT).changes == {}
    ready.cloud.delete(made.id)
    assert ready.provider.read(made) is None


def test_what_is_in_no_program_is_imported_without_what_the_service_chose(ready: Project) -> None:
    made = ready.create(POOL, SPOT)
    found = ready.provider.read(Resource(POOL, "it", "urn:it", made.id))
    assert found is not None
    inputs, outputs = found
    assert (inputs["cluster"], inputs["name"], inputs["location"]) == ("gke", "l4", REGION)
    assert "instanceGroupUrls" not in inputs
    assert "preemptible" not in inputs["nodeConfig"]
    again = Resource(POOL, "it", "urn:it", made.id, old_inputs=inputs, old_outputs=outputs)
    assert ready.diff(again, inputs).changes == {}
    cluster = ready.provider.read(Resource(CLUSTER, "it", "urn:it", CLUSTER_ID))
    assert cluster is not None
    assert cluster[0]["deletionProtection"] is True
    with pytest.raises(Refused, match="is not the id of a gcp:container/nodePool:NodePool"):
        ready.provider.read(Resource(POOL, "it", "urn:it", CLUSTER_ID))


def test_preview_knows_what_is_said_and_an_update_what_there_is(ready: Project) -> None:
    inputs = ready.check(CLUSTER, {**CLUSTER_INPUTS, "name": "two"})
    id, outputs = ready.provider.create(Resource(CLUSTER, "two", "urn", inputs=inputs, preview=True))
    assert id == ""
    assert outputs["name"] == "two"
    assert outputs["endpoint"] == outputs["masterAuth"] == UNKNOWN
    made = ready.create(POOL, SPOT)
    wanted = ready.check(POOL, with_config(SPOT, machineType="g2-standard-12"), made.old_inputs)
    after = ready.provider.update(dataclasses.replace(made, inputs=wanted, preview=True))
    assert after["nodeConfig"]["machineType"] == "g2-standard-12"
    assert after["instanceGroupUrls"] == made.old_outputs["instanceGroupUrls"]
    assert ready.cloud.get(made.id) == ready.cloud.get(made.id) | {"nodeCount": 0}  # type: ignore[operator]


def test_errors_have_the_layout_of_the_bridge(ready: Project) -> None:
    """4.5"""
    with pytest.raises(Refused) as created:
        ready.create(POOL, {**REGULAR, "cluster": "no"})
    assert str(created.value) == (
        "1 error occurred:\n\t* error creating NodePool: googleapi: Error 404: Not found: "
        f"projects/{PROJECT}/locations/{REGION}/clusters/no., notFound\n\n"
    )
    made = ready.create(POOL, REGULAR)
    with pytest.raises(InitFailed) as updated:
        ready.update(made, with_config(REGULAR, machineType="x"))
    assert updated.value.reasons == [
        'updating urn:it: 1 error occurred:\n\t* googleapi: Error 400: Invalid machine type "x" in zone '
        '"europe-west4-a": GCE_NOT_FOUND, badRequest\n\n'
    ]
    assert updated.value.outputs == made.old_outputs
    subnet = Resource(SUBNETWORK, "it", "urn:it", f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes")
    with pytest.raises(Refused) as deleted:
        ready.provider.delete(subnet)
    assert str(deleted.value).startswith(
        "deleting urn:it: 1 error occurred:\n\t* Error when reading or editing Subnetwork: googleapi: Error 400: The "
        "subnetwork resource"
    )


def test_a_protected_cluster_is_not_deleted(ready: Project) -> None:
    """7.20"""
    cluster = cluster_of(ready)
    with pytest.raises(Refused) as refused:
        ready.provider.delete(cluster)
    assert str(refused.value) == (
        "deleting urn:it: 1 error occurred:\n\t* Cannot destroy cluster because deletion_protection is set to true. Set it "
        "to false to proceed with cluster deletion.\n\n"
    )
    ready.provider.delete(ready.update(cluster, {**CLUSTER_INPUTS, "deletionProtection": False}))
    assert ready.cloud.get(CLUSTER_ID) is None
    assert ready.runtime.calls[-1] == ("stop", CLUSTER_ID)


def test_both_counts_are_refused(ready: Project) -> None:
    """4.1; UNCONFIRMED whether with zeros too"""
    with pytest.raises(Refused, match="Cannot set both initial_node_count and node_count on node pool cpu"):
        ready.create(POOL, {**REGULAR, "nodeCount": 2})


def test_project_and_place_come_from_the_resource_then_the_provider(project: Project) -> None:
    project.provider.configure({})
    with pytest.raises(Refused, match="project: required field is not set"):
        project.create(NETWORK, NETWORK_INPUTS)
    assert project.create(NETWORK, {**NETWORK_INPUTS, "project": "other"}).id == "projects/other/global/networks/net"
    project.provider.configure({"project": PROJECT})
    project.network()
    with pytest.raises(Refused, match="Cannot determine region"):
        project.create(ROUTER, {"name": "r", "network": "net"})
    project.provider.configure({"project": PROJECT, "zone": f"{REGION}-a"})
    assert (
        project.create(ROUTER, {"name": "r", "network": "net"}).id == f"projects/{PROJECT}/regions/{REGION}/routers/r"
    )


def invoked(provider: GcpProvider, function: str, **args: Any) -> Props:
    return provider.invoke(f"gcp:{function}", args)


def test_get_cluster_shows_blocks_as_lists(ready: Project) -> None:
    ready.create(POOL, SPOT)
    found = invoked(ready.provider, "container/getCluster:getCluster", name="gke", location=REGION)
    assert found["id"] == CLUSTER_ID
    assert found["endpoint"] == "127.0.0.1:6443"
    assert found["masterAuths"][0]["clusterCaCertificate"] == "Y2VydGlmaWNhdGU="
    assert found["masterVersion"].startswith("1.36.")
    assert found["controlPlaneEndpointsConfigs"][0]["dnsEndpointConfigs"][0]["endpoint"] == "127.0.0.1:6443"
    assert found["workloadIdentityConfigs"] == [{"workloadPool": f"{PROJECT}.svc.id.goog"}]
    assert found["ipAllocationPolicies"][0]["clusterSecondaryRangeName"] == "pods"
    (pool,) = found["nodePools"]
    assert (pool["name"], pool["autoscalings"][0]["totalMaxNodeCount"]) == ("l4", 8)
    assert pool["nodeConfigs"][0]["guestAccelerators"][0]["type"] == "nvidia-l4"


def test_functions_say_in_their_own_words_that_there_is_nothing(ready: Project) -> None:
    for function, args, text in (
        ("container/getCluster:getCluster", {"name": "no", "location": REGION}, f"locations/{REGION}/clusters/no"),
        ("compute/getNetwork:getNetwork", {"name": "no"}, "global/networks/no"),
        ("compute/getSubnetwork:getSubnetwork", {"name": "no", "region": REGION}, f"regions/{REGION}/subnetworks/no"),
    ):
        with pytest.raises(Refused) as refused:
            invoked(ready.provider, function, **args)
        assert str(refused.value) == (
            f"invoking gcp:{function}: 1 error occurred:\n\t* projects/{PROJECT}/{text} not found\n\n"
        )
    with pytest.raises(Refused, match="Invalid or unknown key: nam"):
        invoked(ready.provider, "compute/getNetwork:getNetwork", nam="net")
    with pytest.raises(Refused, match="unknown function gcp:compute/getZones:getZones"):
        invoked(ready.provider, "compute/getZones:getZones")


def test_networks_and_projects_can_be_read(ready: Project) -> None:
    network = invoked(ready.provider, "compute/getNetwork:getNetwork", name="net")
    (link,) = network["subnetworksSelfLinks"]
    subnet = invoked(ready.provider, "compute/getSubnetwork:getSubnetwork", selfLink=link)
    assert subnet["network"] == network["selfLink"]
    assert subnet["secondaryIpRanges"][0] == {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"}
    project = invoked(ready.provider, "organizations/getProject:getProject")
    assert project["projectId"] == PROJECT
    assert re.fullmatch(r"\d{12}", project["number"])


def test_a_grant_that_is_there_is_no_error(project: Project) -> None:
    said = {"project": PROJECT, "role": "roles/viewer", "member": "user:a@example.com"}
    made = project.create(MEMBER, said)
    assert made.id == f"{PROJECT}/roles/viewer/user:a@example.com"
    assert project.create(MEMBER, said).id == made.id
    assert project.refresh(made).old_outputs == made.old_outputs


def test_a_nat_goes_with_its_router(project: Project) -> None:
    project.network()
    router = project.create(ROUTER, {"name": "r", "region": REGION, "network": "net"})
    nat = {"name": "nat", "router": "r", "region": REGION, "natIpAllocateOption": "AUTO_ONLY"}
    made = project.create(NAT, {**nat, "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"})
    assert made.id == f"{PROJECT}/{REGION}/r/nat"
    assert project.refresh(made).old_outputs["type"] == "PUBLIC"
    project.provider.delete(router)
    assert project.provider.read(made) is None
