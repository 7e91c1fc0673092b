"""A new GKE cluster, feature by feature."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.google import GENERAL, KEY, L4, WITH_TWIN, stack
from tests.components.pools import GKE_CLUSTER, GKE_POOL, cluster
from tests.components.program import Declared, declare

pytestmark = pytest.mark.program

MINE = "lab-3f4f11-nodes@example-lab.iam.gserviceaccount.com"
GIVEN_ACCOUNT = "lab-nodes@example-lab.iam.gserviceaccount.com"
MEMBER = "gcp:projects/iAMMember:IAMMember"
READER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
ACCOUNT = "gcp:serviceaccount/account:Account"


def inputs(declared: Declared) -> dict[str, Any]:
    values: dict[str, Any] = cluster(declared).inputs
    return values


def waits_for(declared: Declared, type: str, name: str) -> set[str]:
    """Types and names of what a resource waits for."""
    (resource,) = (r for r in declared.resources if (r.type, r.name) == (type, name))
    return {urn.split("$")[-1] for urn in resource.options.get("dependencies", ())}


@pytest.mark.parametrize(
    ("cloud", "sent"),
    [
        ({}, {"releaseChannel": {"channel": "REGULAR"}, "minMasterVersion": "1.36", "nodeLocations": None}),
        ({"releaseChannel": "RAPID"}, {"releaseChannel": {"channel": "RAPID"}}),
        ({}, {"workloadIdentityConfig": {"workloadPool": "example-lab.svc.id.goog"}, "networkingMode": "VPC_NATIVE"}),
        ({"zones": ["europe-west4-b"]}, {"location": "europe-west4", "nodeLocations": ["europe-west4-b"]}),
        # A zonal cluster's own zone is left out of nodeLocations.
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
        ({}, {"rbacBindingConfig": None}),
        (
            {"access": {"rolesForEverybody": "authenticated"}},
            {
                "rbacBindingConfig": {
                    "enableInsecureBindingSystemUnauthenticated": False,
                    "enableInsecureBindingSystemAuthenticated": True,
                }
            },
        ),
        (
            {"access": {"rolesForEverybody": "refused"}},
            {
                "rbacBindingConfig": {
                    "enableInsecureBindingSystemUnauthenticated": False,
                    "enableInsecureBindingSystemAuthenticated": False,
                }
            },
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
    values = inputs(declare(stack(L4, cloud=cloud), monkeypatch))
    assert {key: values.get(key) for key in sent} == sent


def test_an_older_release_asks_for_its_own_version_and_tags_are_resource_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = stack(L4, release="r2026-09", cluster={"name": "lab", "tags": {"team": "ml"}})
    values = inputs(declare(settings, monkeypatch))
    assert (values["minMasterVersion"], values["resourceLabels"]) == ("1.35", {"team": "ml"})


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
    options = {"name": "lab"} if protect is None else {"name": "lab", "protect": protect}
    declared = declare(stack(L4, cluster=options), monkeypatch, stack=name)
    assert inputs(declared)["deletionProtection"] is guarded
    assert {r.type for r in declared.resources if r.options.get("protect")} == ({GKE_CLUSTER} if guarded else set())


def test_the_default_pool_is_removed_has_the_same_account_and_gives_no_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = declare(stack(L4), monkeypatch)
    values = inputs(declared)
    assert (values["removeDefaultNodePool"], values["initialNodeCount"]) == (True, 1)
    assert values["nodeConfig"]["serviceAccount"] == MINE
    assert not {"spot", "preemptible"} & values["nodeConfig"].keys()
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


def test_a_given_account_is_used_as_it_is_but_may_read_the_named_repositories(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud = {"serviceAccount": GIVEN_ACCOUNT, "registries": [{"location": "europe", "repository": "images"}]}
    declared = declare(stack(L4, cloud=cloud), monkeypatch)
    assert not declared.of(ACCOUNT)
    assert not declared.of(MEMBER)
    assert [reader.inputs["member"] for reader in declared.of(READER).values()] == [f"serviceAccount:{GIVEN_ACCOUNT}"]
    nodes = [inputs(declared), *(pool.inputs for pool in declared.of(GKE_POOL).values())]
    assert {reader["nodeConfig"]["serviceAccount"] for reader in nodes} == {GIVEN_ACCOUNT}


def test_iam_alone_limits_what_nodes_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4), monkeypatch)
    for values in (inputs(declared), *(pool.inputs for pool in declared.of(GKE_POOL).values())):
        assert values["nodeConfig"]["oauthScopes"] == ["https://www.googleapis.com/auth/cloud-platform"]
        assert values["nodeConfig"]["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}


def test_gpu_pools_come_after_one_without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    # GKE taints GPU nodes only in a cluster with a pool without GPUs: the order of creation must not decide that.
    declared = declare(stack(GENERAL, WITH_TWIN), monkeypatch)
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
    components: list[str], declared_exporter: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    settings = stack(L4, cloud={"monitoring": {"components": components}}, dcgmExporter={"enabled": True})
    declared = declare(settings, monkeypatch)
    assert bool(declared.of("kubernetes:apps/v1:DaemonSet")) is declared_exporter
    dcgm_warnings = [text for text in warnings if "GKE's own DCGM exporter (cloud.monitoring.components: DCGM)" in text]
    assert len(dcgm_warnings) == (not declared_exporter)
