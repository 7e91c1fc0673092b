"""What a GKE cluster of this stack consists of, feature by feature."""

from __future__ import annotations

import copy
from typing import Any

import pulumi
import pytest
import yaml

from tests.components.google import GENERAL, KEY, L4, SHARED_VPC, SUBNET, WITH_TWIN, stack
from tests.components.pools import GKE_CLUSTER, GKE_POOL, cluster
from tests.components.program import Cloud, CloudRefused, Declared, declare

pytestmark = pytest.mark.program

MINE = "lab-3f4f11-nodes@example-lab.iam.gserviceaccount.com"
THEIRS = "lab-nodes@example-lab.iam.gserviceaccount.com"
MEMBER = "gcp:projects/iAMMember:IAMMember"
READER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
ACCOUNT = "gcp:serviceaccount/account:Account"


def inputs(declared: Declared) -> dict[str, Any]:
    found: dict[str, Any] = cluster(declared).inputs
    return found


def waits_for(declared: Declared, type: str, name: str) -> set[str]:
    """Types and names of what a resource waits for."""
    (found,) = (r for r in declared.resources if (r.type, r.name) == (type, name))
    return {urn.split("$")[-1] for urn in found.options.get("dependencies", ())}


@pytest.mark.parametrize(
    ("cloud", "sent"),
    [
        ({}, {"releaseChannel": {"channel": "REGULAR"}, "minMasterVersion": "1.36", "nodeLocations": None}),
        ({"releaseChannel": "RAPID"}, {"releaseChannel": {"channel": "RAPID"}}),
        ({}, {"workloadIdentityConfig": {"workloadPool": "example-lab.svc.id.goog"}, "networkingMode": "VPC_NATIVE"}),
        ({"zones": ["europe-west4-b"]}, {"location": "europe-west4", "nodeLocations": ["europe-west4-b"]}),
        # Of a zonal cluster its own zone goes without saying.
        (
            {"location": "europe-west4-a", "zones": ["europe-west4-a", "europe-west4-b"]},
            {"location": "europe-west4-a", "nodeLocations": ["europe-west4-b"]},
        ),
        ({}, {"datapathProvider": "ADVANCED_DATAPATH"}),
        ({"network": {"dataplane": "legacy"}}, {"datapathProvider": "LEGACY_DATAPATH"}),
        (
            {},
            {
                "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
                "monitoringConfig": {
                    "enableComponents": ["SYSTEM_COMPONENTS", "DCGM"],
                    "managedPrometheus": {"enabled": True},
                },
            },
        ),
        (
            {"logging": {"components": []}, "monitoring": {"components": [], "managedPrometheus": False}},
            {
                "loggingConfig": {"enableComponents": []},
                "monitoringConfig": {"enableComponents": [], "managedPrometheus": {"enabled": False}},
            },
        ),
        ({}, {"clusterAutoscaling": {"enabled": False, "autoscalingProfile": "BALANCED"}}),
        (
            {"autoscaler": {"profile": "optimize-utilization"}},
            {"clusterAutoscaling": {"enabled": False, "autoscalingProfile": "OPTIMIZE_UTILIZATION"}},
        ),
        ({}, {"databaseEncryption": {"state": "DECRYPTED"}, "maintenancePolicy": None}),
        ({"encryption": {"secretsKey": KEY}}, {"databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY}}),
        (
            {"maintenance": {"startTime": "02:00"}},
            {"maintenancePolicy": {"dailyMaintenanceWindow": {"startTime": "02:00"}}},
        ),
        (
            {"access": {"securityGroup": "gke-security-groups@example.com"}},
            {"authenticatorGroupsConfig": {"securityGroup": "gke-security-groups@example.com"}},
        ),
        ({}, {"privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": False}}),
        (
            {"network": {"privateNodes": False}},
            {"privateClusterConfig": {"enablePrivateNodes": False, "enablePrivateEndpoint": False}},
        ),
        (
            {"network": {"controlPlaneCidr": "10.24.0.0/28"}},
            {
                "privateClusterConfig": {
                    "enablePrivateNodes": True,
                    "enablePrivateEndpoint": False,
                    "masterIpv4CidrBlock": "10.24.0.0/28",
                }
            },
        ),
    ],
)
def test_what_the_stack_file_says_of_the_cluster_is_sent(
    cloud: dict[str, Any], sent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = inputs(declare(stack(L4, cloud=cloud), monkeypatch))
    assert {key: found.get(key) for key in sent} == sent


def test_an_older_release_asks_for_its_own_version_and_tags_are_resource_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = stack(L4, release="r2026-09", cluster={"name": "lab", "tags": {"team": "ml"}})
    found = inputs(declare(settings, monkeypatch))
    assert (found["minMasterVersion"], found["resourceLabels"]) == ("1.35", {"team": "ml"})


@pytest.mark.parametrize(
    ("name", "protect", "guarded"),
    [
        ("test", None, False),
        ("prod", None, True),
        ("production", None, True),
        ("prod-eu", None, True),
        ("products", None, False),
        ("prod", False, False),
        ("test", True, True),
    ],
)
def test_the_cluster_of_a_stack_called_prod_is_protected_unless_the_file_says_otherwise(
    name: str, protect: bool | None, guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"name": "lab"} if protect is None else {"name": "lab", "protect": protect}
    declared = declare(stack(L4, cluster=said), monkeypatch, stack=name)
    assert inputs(declared)["deletionProtection"] is guarded
    assert {r.type for r in declared.resources if r.options.get("protect")} == ({GKE_CLUSTER} if guarded else set())


def test_the_pool_gke_begins_with_goes_has_no_more_rights_and_is_no_change_to_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = declare(stack(L4), monkeypatch)
    found = inputs(declared)
    assert (found["removeDefaultNodePool"], found["initialNodeCount"]) == (True, 1)
    assert found["nodeConfig"]["serviceAccount"] == MINE
    assert not {"spot", "preemptible"} & found["nodeConfig"].keys()
    assert cluster(declared).options["ignoreChanges"] == ["nodeConfig", "initialNodeCount"]


def test_the_nodes_account_has_the_role_of_nodes_and_reads_the_named_repositories_before_any_node_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registries = [
        {"location": "europe", "repository": "images"},
        {"project": "example-hub", "location": "europe", "repository": "images"},
    ]
    declared = declare(stack(L4, cloud={"registries": registries}), monkeypatch)
    (role,) = declared.of(MEMBER).values()
    assert role.inputs == {
        "project": "example-lab",
        "role": "roles/container.defaultNodeServiceAccount",
        "member": f"serviceAccount:{MINE}",
    }
    readers = [reader.inputs for reader in declared.of(READER).values()]
    assert [(one["project"], one["repository"]) for one in readers] == [
        ("example-lab", "images"),
        ("example-hub", "images"),
    ]
    assert {(one["role"], one["member"]) for one in readers} == {
        ("roles/artifactregistry.reader", f"serviceAccount:{MINE}")
    }
    rights = {f"{r.type}::{r.name}" for r in declared.resources if r.type in (MEMBER, READER)}
    assert len(rights) == 3
    assert rights <= waits_for(declared, GKE_CLUSTER, "lab")
    for pool in declared.of(GKE_POOL):
        assert rights <= waits_for(declared, GKE_POOL, pool)


def test_a_given_account_is_used_as_it_is_but_may_read_the_named_repositories(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = {"serviceAccount": THEIRS, "registries": [{"location": "europe", "repository": "images"}]}
    declared = declare(stack(L4, cloud=cloud), monkeypatch)
    assert not declared.of(ACCOUNT)
    assert not declared.of(MEMBER)
    assert [one.inputs["member"] for one in declared.of(READER).values()] == [f"serviceAccount:{THEIRS}"]
    nodes = [inputs(declared), *(pool.inputs for pool in declared.of(GKE_POOL).values())]
    assert {one["nodeConfig"]["serviceAccount"] for one in nodes} == {THEIRS}


def test_iam_alone_limits_what_nodes_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4), monkeypatch)
    for one in (inputs(declared), *(pool.inputs for pool in declared.of(GKE_POOL).values())):
        assert one["nodeConfig"]["oauthScopes"] == ["https://www.googleapis.com/auth/cloud-platform"]
        assert one["nodeConfig"]["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}


def test_a_network_made_here_has_both_ranges_and_private_nodes_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4), monkeypatch)
    (network,) = declared.of("gcp:compute/network:Network").values()
    (subnet,) = declared.of("gcp:compute/subnetwork:Subnetwork").values()
    (router,) = declared.of("gcp:compute/router:Router").values()
    (nat,) = declared.of("gcp:compute/routerNat:RouterNat").values()
    assert network.inputs["autoCreateSubnetworks"] is False
    assert subnet.inputs["privateIpGoogleAccess"] is True
    ranges = {one["rangeName"]: one["ipCidrRange"] for one in subnet.inputs["secondaryIpRanges"]}
    assert ranges == {"pods": "10.16.0.0/14", "services": "10.20.0.0/20"}
    assert (nat.inputs["router"], nat.inputs["region"]) == (router.inputs["name"], "europe-west4")
    found = inputs(declared)
    assert found["network"] == "projects/example-lab/global/networks/lab"
    assert found["subnetwork"] == "projects/example-lab/regions/europe-west4/subnetworks/lab"
    assert found["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "pods",
        "servicesSecondaryRangeName": "services",
    }
    for pool in declared.of(GKE_POOL):
        assert f"{nat.type}::{nat.name}" in waits_for(declared, GKE_POOL, pool)


def test_gpu_pools_come_after_one_without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    # GKE taints GPU nodes by itself only when there is such a pool: it is not to depend on which came first.
    declared = declare(stack(GENERAL, WITH_TWIN), monkeypatch)
    system = f"{GKE_POOL}::lab-system"
    assert {name for name in declared.of(GKE_POOL) if system in waits_for(declared, GKE_POOL, name)} == {
        "lab-l4",
        "lab-l4od",
    }
    for name in declared.of(GKE_POOL):
        assert f"{GKE_CLUSTER}::lab" in waits_for(declared, GKE_POOL, name)


@pytest.mark.parametrize("network", [{"outboundType": "none"}, {"privateNodes": False}])
def test_without_a_way_out_there_is_no_router(network: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4, cloud={"network": network}), monkeypatch)
    assert [r.type for r in declared.resources if "router" in r.type] == []


def test_of_a_shared_vpc_nothing_is_declared_and_its_ids_name_its_project(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(SHARED_VPC, monkeypatch)
    assert [r.type for r in declared.resources if r.type.startswith("gcp:compute/") and "Member" not in r.type] == []
    found = inputs(declared)
    assert found["network"] == "projects/example-net/global/networks/corp"
    # The region of a zonal cluster.
    assert found["subnetwork"] == "projects/example-net/regions/europe-west4/subnetworks/nodes"
    assert found["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "gke-pods",
        "servicesSecondaryRangeName": "gke-services",
    }


KUBERNETES = "serviceAccount:service-123456789012@container-engine-robot.iam.gserviceaccount.com"
COMPUTE = "serviceAccount:service-123456789012@compute-system.iam.gserviceaccount.com"
GOOGLE = "serviceAccount:123456789012@cloudservices.gserviceaccount.com"
KEY_TYPE = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
SUBNET_TYPE = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"


def test_agents_get_what_a_shared_vpc_needs_before_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(SHARED_VPC, monkeypatch)
    host = declared.of("gcp:projects/iAMMember:IAMMember")["lab-host"]
    assert host.inputs == {
        "project": "example-net",
        "role": "roles/container.hostServiceAgentUser",
        "member": KUBERNETES,
    }
    subnet = {
        "project": "example-net",
        "region": "europe-west4",
        "subnetwork": "nodes",
        "role": "roles/compute.networkUser",
    }
    found = declared.of(SUBNET_TYPE)
    assert [one.inputs for one in found.values()] == [{**subnet, "member": KUBERNETES}, {**subnet, "member": GOOGLE}]
    for name in found:
        assert f"{SUBNET_TYPE}::{name}" in waits_for(declared, GKE_CLUSTER, "lab")


def test_agents_get_the_keys_and_keep_them(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4, cloud={"encryption": {"secretsKey": KEY, "bootDiskKey": KEY}}), monkeypatch)
    role = {"cryptoKeyId": KEY, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
    found = declared.of(KEY_TYPE)
    assert {name: one.inputs for name, one in found.items()} == {
        "lab-secrets-key": {**role, "member": KUBERNETES},
        "lab-disks-key": {**role, "member": COMPUTE},
    }
    for name, one in found.items():
        # Another cluster's disks may be encrypted with the same key.
        assert one.options["retainOnDelete"] is True
        assert f"{KEY_TYPE}::{name}" in waits_for(declared, GKE_CLUSTER, "lab")
        assert f"{KEY_TYPE}::{name}" in waits_for(declared, GKE_POOL, "lab-l4")


def test_owners_of_keys_and_networks_may_grant_access_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = copy.deepcopy(SHARED_VPC)
    granted["kubeflow-spot:cloud"]["network"]["existing"]["grantAccess"] = False
    keys = {"encryption": {"secretsKey": KEY, "bootDiskKey": KEY, "grantAccess": False}}
    for settings in (granted, stack(L4, cloud=keys)):
        declared = declare(settings, monkeypatch)
        assert {**declared.of(KEY_TYPE), **declared.of(SUBNET_TYPE)} == {}
        assert "lab-host" not in declared.of("gcp:projects/iAMMember:IAMMember")


def test_a_network_of_the_clusters_own_project_needs_no_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = copy.deepcopy(SHARED_VPC)
    settings["kubeflow-spot:cloud"]["project"] = "example-net"
    assert declare(settings, monkeypatch).of(SUBNET_TYPE) == {}


class Subnet(Cloud):
    """A cloud with this answer to `getSubnetwork`, or this refusal."""

    def __init__(self, answer: dict[str, Any] | str) -> None:
        super().__init__(None)
        self._answer = answer

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        if not args.token.endswith(":getSubnetwork"):
            return super().call(args)
        assert args.args == {"project": "example-net", "region": "europe-west4", "name": "nodes"}
        if isinstance(self._answer, str):
            raise CloudRefused(self._answer)
        return self._answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            "projects/example-net/regions/europe-west4/subnetworks/nodes not found",
            [r"existing\.subnet: there is no subnet"],
        ),
        (
            {**SUBNET, "network": "https://www.googleapis.com/x/global/networks/other"},
            [r"existing\.name: .* of network 'other'"],
        ),
        (
            {**SUBNET, "secondaryIpRanges": [{"rangeName": "b", "ipCidrRange": "10.0.0.0/14"}]},
            [
                r"existing\.podRange: .* no secondary range 'gke-pods'\n +write one of those it has: b",
                r"existing\.serviceRange: ",
            ],
        ),
        ({**SUBNET, "secondaryIpRanges": []}, ["2 problems", "it has none"]),
    ],
)
def test_a_network_that_lacks_something_is_told_before_anything_is_declared(
    answer: dict[str, Any] | str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in told:
        with pytest.raises(pulumi.RunError, match=text):
            declare(SHARED_VPC, monkeypatch, cloud=Subnet(answer))


def test_a_network_that_may_not_be_read_is_not_taken_for_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)existing: .* cannot be read.*Required .* permission"):
        declare(SHARED_VPC, monkeypatch, cloud=Subnet("Required 'compute.subnetworks.get' permission"))


@pytest.mark.parametrize(
    ("access", "endpoints", "authorized", "server"),
    [
        ({}, (True, True), None, "https://203.0.113.10"),
        ({"dnsEndpoint": False}, (False, True), None, "https://203.0.113.10"),
        (
            {"authorizedRanges": ["198.51.100.0/24"]},
            (True, True),
            ["198.51.100.0/24"],
            "https://gke-1.europe-west4.gke.goog",
        ),
        (
            {"authorizedRanges": ["198.51.100.0/24"], "dnsEndpoint": False},
            (False, True),
            ["198.51.100.0/24"],
            "https://203.0.113.10",
        ),
        ({"ipEndpoint": "private"}, (True, True), [], "https://gke-1.europe-west4.gke.goog"),
        ({"ipEndpoint": "private", "dnsEndpoint": False}, (False, True), [], "https://203.0.113.10"),
        ({"ipEndpoint": "none"}, (True, False), None, "https://gke-1.europe-west4.gke.goog"),
    ],
)
def test_the_way_to_the_api_server_is_the_one_that_is_open(
    access: dict[str, Any],
    endpoints: tuple[bool, bool],
    authorized: list[str] | None,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = declare(stack(L4, cloud={"access": access}), monkeypatch)
    found = inputs(declared)
    ways = found["controlPlaneEndpointsConfig"]
    assert (ways["dnsEndpointConfig"]["allowExternalTraffic"], ways["ipEndpointsConfig"]["enabled"]) == endpoints
    assert found["privateClusterConfig"]["enablePrivateEndpoint"] is (access.get("ipEndpoint") == "private")
    blocks = None if authorized is None else {"cidrBlocks": [{"cidrBlock": one} for one in authorized]}
    assert found.get("masterAuthorizedNetworksConfig") == blocks
    (entry,) = yaml.safe_load(declared.outputs["kubeconfig"])["clusters"]
    by_name = "goog" in server
    # The certificate of the DNS name is not of the cluster's authority.
    assert entry["cluster"] == {"server": server} | ({} if by_name else {"certificate-authority-data": "Y2E="})
    assert declared.outputs["kubeconfigCommand"] == (
        "gcloud container clusters get-credentials lab --location europe-west4 --project example-lab"
        + (" --dns-endpoint" if by_name else "")
    )


def test_the_kubeconfig_holds_no_credentials_but_googles_program_and_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4), monkeypatch)
    assert declared.secret == {"kubeconfig"}
    content = yaml.safe_load(declared.outputs["kubeconfig"])
    (user,) = content["users"]
    assert set(user["user"]) == {"exec"}
    login = user["user"]["exec"]
    assert (login["command"], login["provideClusterInfo"]) == ("gke-gcloud-auth-plugin", True)
    assert login["installHint"]
    assert content["current-context"] == content["contexts"][0]["name"]
    assert (declared.outputs["project"], declared.outputs["location"]) == ("example-lab", "europe-west4")


@pytest.mark.parametrize(
    ("components", "ours"), [(["SYSTEM_COMPONENTS", "DCGM"], False), (["SYSTEM_COMPONENTS"], True)]
)
def test_of_two_exporters_of_gpu_metrics_a_node_gets_gkes(
    components: list[str], ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    settings = stack(L4, cloud={"monitoring": {"components": components}}, dcgmExporter={"enabled": True})
    declared = declare(settings, monkeypatch)
    assert bool(declared.of("kubernetes:apps/v1:DaemonSet")) is ours
    told = [text for text in warnings if "GKE's own DCGM exporter (cloud.monitoring.components: DCGM)" in text]
    assert len(told) == (not ours)
