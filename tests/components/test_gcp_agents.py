"""Google's service agents: their rights at keys and at a shared network."""

from __future__ import annotations

import copy

import pytest

from tests.components.google import KEY, L4, SHARED_VPC, stack
from tests.components.pools import GKE_CLUSTER, GKE_POOL
from tests.components.program import declare
from tests.components.test_gcp_cluster import waits_for

pytestmark = pytest.mark.program


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
    grants = declared.of(SUBNET_TYPE)
    assert [grant.inputs for grant in grants.values()] == [
        {**subnet, "member": KUBERNETES},
        {**subnet, "member": GOOGLE},
    ]
    for name in grants:
        assert f"{SUBNET_TYPE}::{name}" in waits_for(declared, GKE_CLUSTER, "lab")


def test_agents_get_the_keys_and_keep_them(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare(stack(L4, cloud={"encryption": {"secretsKey": KEY, "bootDiskKey": KEY}}), monkeypatch)
    role = {"cryptoKeyId": KEY, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter"}
    grants = declared.of(KEY_TYPE)
    assert {name: grant.inputs for name, grant in grants.items()} == {
        "lab-secrets-key": {**role, "member": KUBERNETES},
        "lab-disks-key": {**role, "member": COMPUTE},
    }
    for name, grant in grants.items():
        # Another cluster's disks may be encrypted with the same key.
        assert grant.options["retainOnDelete"] is True
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
