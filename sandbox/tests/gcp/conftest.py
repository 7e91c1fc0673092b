"""A small project to make requests to: a recording runtime, and requests in the engine's order (check, then create or update)."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.provider import Resource
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_provider import GcpProvider
from sandbox.gcp.gcp_quotas import UNLIMITED, Quotas
from sandbox.tests.engine_side import Caller, Props, RecordingRuntime, no_waiting_for_the_disk

__all__ = ["no_waiting_for_the_disk"]

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
ACCOUNT = "gcp:serviceaccount/account:Account"
MEMBER = "gcp:projects/iAMMember:IAMMember"
READER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"

PROJECT, REGION = "ml-project", "europe-west4"
ZONES = [f"{REGION}-{letter}" for letter in "abc"]

CLUSTER_ID = f"projects/{PROJECT}/locations/{REGION}/clusters/gke"
"""The id of the cluster that `Project.cluster` makes."""

NETWORK_INPUTS: Props = {"name": "net", "autoCreateSubnetworks": False}
SUBNETWORK_INPUTS: Props = {
    "name": "nodes",
    "region": REGION,
    "network": "net",
    "ipCidrRange": "10.8.0.0/20",
    "secondaryIpRanges": [
        {"rangeName": "pods", "ipCidrRange": "10.16.0.0/14"},
        {"rangeName": "services", "ipCidrRange": "10.20.0.0/20"},
        {"rangeName": "more-services", "ipCidrRange": "10.21.0.0/20"},
        {"rangeName": "services-3", "ipCidrRange": "10.22.0.0/20"},
    ],
}
CLUSTER_INPUTS: Props = {
    "name": "gke",
    "location": REGION,
    "network": "net",
    "subnetwork": "nodes",
    "initialNodeCount": 1,
    "removeDefaultNodePool": True,
    "releaseChannel": {"channel": "REGULAR"},
    "minMasterVersion": "1.36",
    "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
    "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
}
TWO: Props = {**CLUSTER_INPUTS, "name": "two", "ipAllocationPolicy": {}}
ROUTER_INPUTS: Props = {"name": "r", "region": REGION, "network": "net"}
NAT_INPUTS: Props = {
    "name": "nat",
    "router": "r",
    "region": REGION,
    "natIpAllocateOption": "AUTO_ONLY",
    "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
}
REGULAR: Props = {
    "name": "cpu",
    "cluster": "gke",
    "location": REGION,
    "initialNodeCount": 1,
    "autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 6},
    "nodeConfig": {"machineType": "n2-standard-8"},
}
SPOT: Props = {
    "name": "l4",
    "cluster": "gke",
    "location": REGION,
    "initialNodeCount": 0,
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 8},
    "nodeConfig": {
        "machineType": "g2-standard-8",
        "spot": True,
        "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
        "labels": {"gpu": "true"},
        "taints": [{"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}],
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
    },
}


def with_config(base: Props, **changes: Any) -> Props:
    """Return a pool's inputs with changes of its nodes; None takes a property away."""
    config = {**base["nodeConfig"], **changes}
    return {**base, "nodeConfig": {name: value for name, value in config.items() if value is not None}}


FLEX: Props = {
    **with_config(
        SPOT, spot=None, taints=None, flexStart=True, reservationAffinity={"consumeReservationType": "NO_RESERVATION"}
    ),
    "management": {"autoRepair": False},
}


class Project(Caller):
    """A project, and the engine's side of it."""

    def __init__(self, state_file: Path) -> None:
        self.state_file = state_file
        self.runtime = RecordingRuntime()
        self.limit(UNLIMITED)

    def limit(self, quotas: Quotas) -> None:
        """Go on as a process of its own would, with other quotas."""
        self.cloud = GcpCloud(self.state_file, self.runtime, quotas)
        self.provider: GcpProvider = GcpProvider(self.cloud)
        self.provider.configure({"project": PROJECT})

    def network(self, **changes: Any) -> Resource:
        return self.create(NETWORK, {**NETWORK_INPUTS, **changes})

    def subnetwork(self, **changes: Any) -> Resource:
        return self.create(SUBNETWORK, {**SUBNETWORK_INPUTS, **changes})

    def cluster(self, **changes: Any) -> Resource:
        return self.create(CLUSTER, {**CLUSTER_INPUTS, **changes})

    def recorded_cluster(self) -> Resource:
        """Return the cluster `gke` as the engine has it."""
        inputs = self.check(CLUSTER, CLUSTER_INPUTS)
        outputs = {**inputs, "clusterAutoscaling": None}
        created = Resource(CLUSTER, "it", "urn:it", CLUSTER_ID, old_inputs=inputs, old_outputs=outputs)
        return dataclasses.replace(self.refresh(created), old_inputs=inputs)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project."""
    return Project(tmp_path / "gcp.json")


@pytest.fixture(scope="session")
def _ready(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("ready") / "gcp.json")
    project.network()
    project.subnetwork()
    project.cluster()
    return project


@pytest.fixture
def ready(project: Project, _ready: Project) -> Project:
    """Return a project with a network `net`, a subnet `nodes` and a cluster `gke` without pools."""
    shutil.copy(_ready.state_file, project.state_file)
    project.runtime.calls = list(_ready.runtime.calls)
    return project
