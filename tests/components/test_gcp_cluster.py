"""A new GKE cluster: its settings, its network, the identity of its nodes, Google's agents, the way to its API server."""

import copy
from typing import Any

import pulumi
import pytest
import yaml

from tests.components.google import GENERAL, KEY, L4, SHARED_VPC, SUBNET, WITH_TWIN, rows, stack
from tests.components.pools import GKE_CLUSTER, GKE_POOL, cluster
from tests.components.program import Answering, Declared, declare

pytestmark = pytest.mark.program

MINE = "lab-3f4f11-nodes@example-lab.iam.gserviceaccount.com"
GIVEN_ACCOUNT = "lab-nodes@example-lab.iam.gserviceaccount.com"
MEMBER = "gcp:projects/iAMMember:IAMMember"
READER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
ACCOUNT = "gcp:serviceaccount/account:Account"
KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
SUBNET_MEMBER = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"
KUBERNETES = "serviceAccount:service-123456789012@container-engine-robot.iam.gserviceaccount.com"


def inputs(declared: Declared) -> dict[str, Any]:
    values: dict[str, Any] = cluster(declared).inputs
    return values


def waits_for(declared: Declared, type: str, name: str) -> set[str]:
    """Return types and names of what a resource waits for."""
    (resource,) = (r for r in declared.resources if (r.type, r.name) == (type, name))
    return {urn.split("$")[-1] for urn in resource.options.get("dependencies", ())}


@pytest.mark.parametrize(("cloud", "sent"), rows("cluster"))
def test_what_the_stack_file_says_of_the_cluster_is_sent(cloud: dict[str, Any], sent: dict[str, Any]) -> None:
    values = inputs(declare(stack(L4, cloud=cloud)))
    assert {key: values.get(key) for key in sent} == sent


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
    name: str, protect: bool | None, guarded: bool
) -> None:
    options = {"name": "lab"} if protect is None else {"name": "lab", "protect": protect}
    declared = declare(stack(L4, cluster=options), stack=name)
    assert inputs(declared)["deletionProtection"] is guarded
    assert {r.type for r in declared.resources if r.options.get("protect")} == ({GKE_CLUSTER} if guarded else set())


def test_the_default_pool_is_removed_has_the_same_account_and_gives_no_change() -> None:
    declared = declare(stack(L4))
    values = inputs(declared)
    assert (values["removeDefaultNodePool"], values["initialNodeCount"]) == (True, 1)
    assert values["nodeConfig"]["serviceAccount"] == MINE
    assert not {"spot", "preemptible"} & values["nodeConfig"].keys()
    assert cluster(declared).options["ignoreChanges"] == ["nodeConfig", "initialNodeCount"]


def test_the_nodes_account_has_the_role_of_nodes_and_reads_the_named_repositories_before_any_node_comes() -> None:
    registries = [
        {"location": "europe", "repository": "images"},
        {"project": "example-hub", "location": "europe", "repository": "images"},
    ]
    declared = declare(stack(L4, cloud={"registries": registries}))
    (role,) = declared.of(MEMBER).values()
    assert role.inputs == {
        "project": "example-lab",
        "role": "roles/container.defaultNodeServiceAccount",
        "member": f"serviceAccount:{MINE}",
    }
    readers = [reader.inputs for reader in declared.of(READER).values()]
    assert [(grant["project"], grant["repository"]) for grant in readers] == [
        ("example-lab", "images"),
        ("example-hub", "images"),
    ]
    assert {(grant["role"], grant["member"]) for grant in readers} == {
        ("roles/artifactregistry.reader", f"serviceAccount:{MINE}")
    }
    rights = {f"{r.type}::{r.name}" for r in declared.resources if r.type in (MEMBER, READER)}
    assert len(rights) == 3
    assert rights <= waits_for(declared, GKE_CLUSTER, "lab")
    for pool in declared.of(GKE_POOL):
        assert rights <= waits_for(declared, GKE_POOL, pool)


def test_a_given_account_is_used_as_it_is_but_may_read_the_named_repositories() -> None:
    cloud = {"serviceAccount": GIVEN_ACCOUNT, "registries": [{"location": "europe", "repository": "images"}]}
    declared = declare(stack(L4, cloud=cloud))
    assert not declared.of(ACCOUNT)
    assert not declared.of(MEMBER)
    assert [reader.inputs["member"] for reader in declared.of(READER).values()] == [f"serviceAccount:{GIVEN_ACCOUNT}"]
    nodes = [inputs(declared), *(pool.inputs for pool in declared.of(GKE_POOL).values())]
    assert {reader["nodeConfig"]["serviceAccount"] for reader in nodes} == {GIVEN_ACCOUNT}


def test_gpu_pools_come_after_one_without_gpus() -> None:
    # GKE taints GPU nodes only in a cluster with a pool without GPUs: the order of creation must not decide that.
    declared = declare(stack(GENERAL, WITH_TWIN))
    system = f"{GKE_POOL}::lab-system"
    assert {name for name in declared.of(GKE_POOL) if system in waits_for(declared, GKE_POOL, name)} == {
        "lab-l4",
        "lab-l4od",
    }
    for name in declared.of(GKE_POOL):
        assert f"{GKE_CLUSTER}::lab" in waits_for(declared, GKE_POOL, name)


@pytest.mark.parametrize(
    ("components", "declared_exporter"), [(["SYSTEM_COMPONENTS", "DCGM"], False), (["SYSTEM_COMPONENTS"], True)]
)
def test_of_two_exporters_of_gpu_metrics_a_node_gets_gkes(
    components: list[str], declared_exporter: bool, warnings: list[str]
) -> None:
    settings = stack(L4, cloud={"monitoring": {"components": components}}, dcgmExporter={"enabled": True})
    declared = declare(settings)
    assert bool(declared.of("kubernetes:apps/v1:DaemonSet")) is declared_exporter
    dcgm_warnings = [text for text in warnings if "GKE's own DCGM exporter (cloud.monitoring.components: DCGM)" in text]
    assert len(dcgm_warnings) == (not declared_exporter)


def test_agents_get_what_a_shared_vpc_needs_before_the_cluster() -> None:
    declared = declare(SHARED_VPC)
    role = {"project": "example-net", "role": "roles/container.hostServiceAgentUser", "member": KUBERNETES}
    assert declared.of(MEMBER)["lab-host"].inputs == role
    subnet = {"project": "example-net", "region": "europe-west4", "subnetwork": "nodes"}
    subnet["role"] = "roles/compute.networkUser"
    grants, google = declared.of(SUBNET_MEMBER), "serviceAccount:123456789012@cloudservices.gserviceaccount.com"
    assert [grant.inputs for grant in grants.values()] == [{**subnet, "member": who} for who in (KUBERNETES, google)]
    assert {f"{SUBNET_MEMBER}::{name}" for name in grants} <= waits_for(declared, GKE_CLUSTER, "lab")


def test_agents_get_the_keys_and_keep_them() -> None:
    declared = declare(stack(L4, cloud={"encryption": {"secretsKey": KEY, "bootDiskKey": KEY}}))
    role = {"cryptoKeyId": KEY, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
    compute = "serviceAccount:service-123456789012@compute-system.iam.gserviceaccount.com"
    grants = declared.of(KEY_MEMBER)
    assert {name: grant.inputs for name, grant in grants.items()} == {
        "lab-secrets-key": {**role, "member": KUBERNETES},
        "lab-disks-key": {**role, "member": compute},
    }
    # Another cluster's disks may be encrypted with the same key.
    assert all(grant.options["retainOnDelete"] is True for grant in grants.values())
    for type, name in ((GKE_CLUSTER, "lab"), (GKE_POOL, "lab-l4")):
        assert {f"{KEY_MEMBER}::{grant}" for grant in grants} <= waits_for(declared, type, name)


def test_owners_of_keys_and_networks_may_grant_access_themselves() -> None:
    granted, own = copy.deepcopy(SHARED_VPC), copy.deepcopy(SHARED_VPC)
    granted["kubeflow-spot:cloud"]["network"]["existing"]["grantAccess"] = False
    # A network of the cluster's own project needs no grants.
    own["kubeflow-spot:cloud"]["project"] = "example-net"
    keys = stack(L4, cloud={"encryption": {"secretsKey": KEY, "bootDiskKey": KEY, "grantAccess": False}})
    for settings in (granted, own, keys):
        declared = declare(settings)
        assert {**declared.of(KEY_MEMBER), **declared.of(SUBNET_MEMBER)} == {}
        assert "lab-host" not in declared.of(MEMBER)


@pytest.mark.parametrize(("access", "ways"), rows("access"))
def test_the_way_to_the_api_server_is_the_one_that_is_open(
    access: dict[str, Any], ways: tuple[bool, bool, list[str] | None, bool]
) -> None:
    dns, ip, authorized, by_name = ways
    declared = declare(stack(L4, cloud={"access": access}))
    values = inputs(declared)
    sent = values["controlPlaneEndpointsConfig"]
    assert (sent["dnsEndpointConfig"]["allowExternalTraffic"], sent["ipEndpointsConfig"]["enabled"]) == (dns, ip)
    assert values["privateClusterConfig"]["enablePrivateEndpoint"] is (access.get("ipEndpoint") == "private")
    # The list alone counts: no other address of Google Cloud gets in beside it.
    blocks = {"cidrBlocks": [{"cidrBlock": block} for block in authorized or ()], "gcpPublicCidrsAccessEnabled": False}
    assert values.get("masterAuthorizedNetworksConfig") == (None if authorized is None else blocks)
    (entry,) = yaml.safe_load(declared.outputs["kubeconfig"])["clusters"]
    # The certificate of the DNS name is not of the cluster's authority.
    by_address = {"server": "https://203.0.113.10", "certificate-authority-data": "Y2E="}
    assert entry["cluster"] == ({"server": "https://gke-1.europe-west4.gke.goog"} if by_name else by_address)
    assert declared.outputs["kubeconfigCommand"] == (
        "gcloud container clusters get-credentials lab --location europe-west4 --project example-lab"
        + (" --dns-endpoint" if by_name else "")
    )


def test_the_kubeconfig_holds_no_credentials_but_googles_program_and_is_secret() -> None:
    declared = declare(stack(L4))
    assert declared.secret == {"kubeconfig"}
    content = yaml.safe_load(declared.outputs["kubeconfig"])
    ((_, user),) = (entry.values() for entry in content["users"])
    assert user.keys() == {"exec"}
    assert (user["exec"]["command"], user["exec"]["provideClusterInfo"]) == ("gke-gcloud-auth-plugin", True)
    assert user["exec"]["installHint"]
    assert content["current-context"] == content["contexts"][0]["name"]
    assert (declared.outputs["project"], declared.outputs["location"]) == ("example-lab", "europe-west4")


NAT = "gcp:compute/routerNat:RouterNat"


def test_pools_wait_for_the_way_out_of_a_network_made_here() -> None:
    declared = declare(stack(L4))
    (nat,) = declared.of(NAT)
    for pool in declared.of(GKE_POOL):
        assert f"{NAT}::{nat}" in waits_for(declared, GKE_POOL, pool)


@pytest.mark.parametrize(
    ("network", "logged"),
    [({}, None), ({"flowLogSampling": 0.1}, {"flowSampling": 0.1}), ({"flowLogSampling": None}, None)],
)
def test_flows_are_logged_where_the_stack_file_says_which_share(
    network: dict[str, Any], logged: dict[str, float] | None
) -> None:
    declared = declare(stack(L4, cloud={"network": network}))
    (subnet,) = declared.of("gcp:compute/subnetwork:Subnetwork").values()
    assert subnet.inputs.get("logConfig") == logged


@pytest.mark.parametrize("network", [{"outboundType": "none"}, {"privateNodes": False}])
def test_without_a_way_out_there_is_no_router(network: dict[str, Any]) -> None:
    declared = declare(stack(L4, cloud={"network": network}))
    assert [r.type for r in declared.resources if "router" in r.type] == []


def test_of_a_shared_vpc_nothing_is_declared_and_its_ids_name_its_project() -> None:
    declared = declare(SHARED_VPC)
    assert [r.type for r in declared.resources if r.type.startswith("gcp:compute/") and "Member" not in r.type] == []
    values = inputs(declared)
    assert values["network"] == "projects/example-net/global/networks/corp"
    # The region of a zonal cluster.
    assert values["subnetwork"] == "projects/example-net/regions/europe-west4/subnetworks/nodes"
    assert values["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "gke-pods",
        "servicesSecondaryRangeName": "gke-services",
    }


@pytest.mark.parametrize(
    ("answer", "messages"),
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
def test_an_incomplete_network_is_reported_before_anything_is_declared(
    answer: dict[str, Any] | str, messages: list[str]
) -> None:
    request = {"project": "example-net", "region": "europe-west4", "name": "nodes"}
    for text in messages:
        cloud = Answering(getSubnetwork=answer)
        with pytest.raises(pulumi.RunError, match=text):
            declare(SHARED_VPC, cloud=cloud)
        assert ("getSubnetwork", request) in [asked[:2] for asked in cloud.asked]


def test_a_network_that_may_not_be_read_is_not_taken_for_a_missing_one() -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)existing: .* cannot be read.*Required .* permission"):
        declare(SHARED_VPC, cloud=Answering(getSubnetwork="Required 'compute.subnetworks.get' permission"))
