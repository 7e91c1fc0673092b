"""The provider's plans: changes, replacements, and the properties that an update keeps."""

import pytest

from sandbox.tests.engine_side import Props

from .conftest import (
    ACCOUNT,
    CLUSTER,
    CLUSTER_INPUTS,
    MEMBER,
    NETWORK,
    NETWORK_INPUTS,
    POOL,
    PROJECT,
    REGION,
    ROUTER,
    ROUTER_INPUTS,
    SPOT,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
    ZONES,
    Project,
    with_config,
)

# The changed paths (None: some change, shown in any form), and whether the change replaces: 4.1 and 4.2.
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
    (with_config(SPOT, spot=None, flexStart=True), None, True),
    (with_config(SPOT, maxRunDuration="86400s"), {"nodeConfig.maxRunDuration": "add"}, True),
    (with_config(SPOT, reservationAffinity={"consumeReservationType": "NO_RESERVATION"}), None, True),
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
    # Labels that the program leaves out stay and taints go: labels are Computed, taints are not.
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
    kinds = {path: str(kind) for path, kind in diff.changes.items()}
    assert kinds == paths if paths is not None else kinds
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
    (
        {"rbacBindingConfig": {"enableInsecureBindingSystemUnauthenticated": False}},
        {"rbacBindingConfig.enableInsecureBindingSystemUnauthenticated"},
        False,
    ),
    ({"anonymousAuthenticationConfig": {"mode": "ENABLED"}}, {"anonymousAuthenticationConfig.mode"}, False),
    ({"anonymousAuthenticationConfig": {"mode": "LIMITED"}}, set(), False),
    ({"loggingConfig": {"enableComponents": ["WORKLOADS", "SYSTEM_COMPONENTS"]}}, set(), False),
    # The removed default pool's settings: a program ignores them (pulumi-gcp, docs of removeDefaultNodePool).
    ({"nodeConfig": {"serviceAccount": "a@b.iam.gserviceaccount.com"}}, {"nodeConfig.serviceAccount"}, True),
]


@pytest.mark.parametrize(("changes", "paths", "replaces"), CLUSTER_DIFFS)
def test_diff_of_a_cluster(ready: Project, changes: Props, paths: set[str], replaces: bool) -> None:
    cluster = ready.recorded_cluster()
    diff = ready.diff(cluster, {**CLUSTER_INPUTS, **changes})
    assert diff.changes.keys() == paths
    assert bool(diff.replaces) == replaces


@pytest.mark.parametrize(
    ("token", "inputs", "changes", "replaces", "first"),
    [
        (NETWORK, NETWORK_INPUTS, {"autoCreateSubnetworks": True}, True, True),
        (NETWORK, NETWORK_INPUTS, {"mtu": 8896}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"ipCidrRange": "10.8.0.0/19"}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"ipCidrRange": "10.8.0.0/21"}, True, True),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"privateIpGoogleAccess": True}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"secondaryIpRanges": []}, False, False),
        (SUBNETWORK, SUBNETWORK_INPUTS, {"logConfig": {"flowSampling": 0.1}}, False, False),
        (ROUTER, ROUTER_INPUTS, {"network": "other"}, True, True),
        (ROUTER, ROUTER_INPUTS, {"description": "x"}, False, False),
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


def test_a_list_of_networks_closes_to_google_clouds_own_addresses_in_place(ready: Project) -> None:
    """A cluster of before this program said so: nothing is replaced, and there is nothing more to do afterwards."""
    listed = {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]}
    ranges = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "more-services"}
    inputs = {**CLUSTER_INPUTS, "name": "two", "ipAllocationPolicy": ranges, "masterAuthorizedNetworksConfig": listed}
    before = ready.create(CLUSTER, inputs)
    assert before.old_outputs["masterAuthorizedNetworksConfig"]["gcpPublicCidrsAccessEnabled"] is True
    inputs["masterAuthorizedNetworksConfig"] = {**listed, "gcpPublicCidrsAccessEnabled": False}
    diff = ready.diff(before, inputs)
    assert diff.changes.keys() == {"masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled"}
    assert not diff.replaces
    assert not ready.diff(ready.update(before, inputs), inputs).changes


def test_only_what_changed_is_sent(ready: Project) -> None:
    """Changes by the autoscaler stay, though the engine's state is older."""
    pool = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 6)
    updated = ready.update(pool, with_config(SPOT, labels={"gpu": "false"}))
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
    pool = ready.create(POOL, SPOT)
    ready.cloud.scale("gke", "l4", 2)
    before = set(ready.runtime.names())
    ready.update(pool, with_config(SPOT, **change))
    after = set(ready.runtime.names())
    assert len(after) == 2
    assert before.isdisjoint(after) is anew


GPU = with_config(SPOT, machineType="n1-standard-8", guestAccelerators=[{"type": "nvidia-tesla-v100", "count": 1}])
BALANCED = {"totalMinNodeCount": 0, "totalMaxNodeCount": 8, "locationPolicy": "BALANCED"}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({**SPOT, "maxPodsPerNode": 64}, SPOT),
        ({**SPOT, "nodeLocations": ZONES[:1]}, SPOT),
        ({**SPOT, "autoscaling": BALANCED}, SPOT),
        ({**SPOT, "upgradeSettings": {"maxSurge": 2}}, SPOT),
        (with_config(SPOT, diskSizeGb=200), SPOT),
        (with_config(SPOT, kubeletConfig={"shutdownGracePeriodSeconds": 120}), SPOT),
        (GPU, with_config(GPU, guestAccelerators=None)),
        (GPU, with_config(GPU, guestAccelerators=[])),
    ],
)
def test_what_a_program_leaves_out_of_a_pool_is_kept(ready: Project, made: Props, said: Props) -> None:
    pool = ready.create(POOL, made)
    assert ready.diff(pool, said).changes == {}
    assert ready.update(pool, said).old_outputs == pool.old_outputs


def test_access_settings_of_a_cluster_are_kept_and_an_empty_group_is_none(project: Project) -> None:
    project.network()
    project.subnetwork()
    networks = {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]}}
    group = {"authenticatorGroupsConfig": {"securityGroup": "gke-security-groups@example.com"}}
    cluster = project.cluster(**networks, **group)
    assert project.diff(cluster, CLUSTER_INPUTS).changes == {}
    kept = project.update(cluster, CLUSTER_INPUTS).old_outputs
    assert (
        kept["masterAuthorizedNetworksConfig"]["cidrBlocks"] == networks["masterAuthorizedNetworksConfig"]["cidrBlocks"]
    )
    assert kept["authenticatorGroupsConfig"] == group["authenticatorGroupsConfig"]
    off = {**CLUSTER_INPUTS, "authenticatorGroupsConfig": {"securityGroup": ""}}
    assert project.diff(cluster, off).changes.keys() == {"authenticatorGroupsConfig.securityGroup"}
    assert "authenticatorGroupsConfig" not in project.update(cluster, off).old_outputs
