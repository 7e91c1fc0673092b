"""Every optional key of a stack on GKE, taken out again (`tests.upgrade.removal`): the preview shows it, or an error tells the way.

pulumi-gcp keeps the old value of whatever a program leaves out and the provider's schema marks Computed (sandbox/gcp/plan.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.addons import discovery
from tests.components.emulated_google import EmulatedGoogle
from tests.components.google import KEY
from tests.upgrade.case import Config
from tests.upgrade.removal import Removal, Ups, check

pytestmark = pytest.mark.program

PLACE = {"provider": "gcp", "project": "example-lab", "location": "europe-west4"}
SYSTEM: dict[str, Any] = {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4}
NODES = {"diskType": "pd-ssd", "imageType": "UBUNTU_CONTAINERD", "secureBoot": True, "integrityMonitoring": False}
POOL: dict[str, Any] = {
    "minNodes": 2,
    "maxNodes": 6,
    "labels": {"tier": "batch"},
    "taints": [{"key": "team", "value": "vision", "effect": "NoExecute"}],
    "zones": ["europe-west4-b"],
    "osDisk": {"sizeGb": 200},
    "maxPods": 64,
    "upgrade": {"maxSurge": "2", "maxUnavailable": "1"},
    "gcp": NODES,
}

FULL: Config = {
    "release": "r2026-11",
    "cluster": {
        "name": "lab",
        "tags": {"team": "ml"},
        "protect": True,
        "kubernetesVersion": "1.35",
        "reason": "an add-on is not ready for 1.36",
    },
    "cloud": {
        **PLACE,
        "zones": ["europe-west4-a", "europe-west4-b"],
        "releaseChannel": "RAPID",
        "network": {
            "nodeSubnet": "10.40.0.0/20",
            "podCidr": "10.48.0.0/14",
            "serviceCidr": "10.52.0.0/20",
            "controlPlaneCidr": "172.16.0.0/28",
            "outboundType": "none",
            "dataplane": "legacy",
        },
        "access": {
            "dnsEndpoint": False,
            "authorizedRanges": ["203.0.113.0/24"],
            "securityGroup": "gke-security-groups@example.com",
        },
        "serviceAccount": "lab-nodes@example-lab.iam.gserviceaccount.com",
        "registries": [{"project": "example-lab", "location": "europe-west4", "repository": "images"}],
        "encryption": {"secretsKey": KEY, "bootDiskKey": KEY},
        "maintenance": {"startTime": "02:00"},
        "autoscaler": {"profile": "optimize-utilization"},
        "fallback": {
            "mode": "compute-class",
            "className": "chain",
            "activeMigration": True,
            "whenUnsatisfiable": "ScaleUpAnyway",
        },
        "logging": {"components": ["SYSTEM_COMPONENTS"]},
        "monitoring": {"components": ["SYSTEM_COMPONENTS"], "managedPrometheus": False},
    },
    "systemPool": {**SYSTEM, **{k: v for k, v in POOL.items() if k not in ("labels", "taints")}, "name": "base"},
    "pools": [
        {**POOL, "name": "general", "machine": "n2-standard-8"},
        {**POOL, "name": "spare", "machine": "n2-standard-8", "capacity": "spot"},
        {
            "name": "l4",
            "machine": "g2-standard-8",
            "capacity": "spot",
            "minNodes": 1,
            "maxNodes": 8,
            "fallback": [{"pool": "t4"}, {"onDemand": {"maxNodes": 2, "name": "l4more"}}],
            "gpuSharing": {"strategy": "time-slicing", "replicas": 4},
            "gcp": {"locationPolicy": "balanced", "driverVersion": "latest", "shutdownGraceSeconds": 120},
        },
        {"name": "a100", "machine": "a2-highgpu-1g", "capacity": "spot", "maxNodes": 2, "mig": "1g"},
        {
            "name": "t4",
            "machine": "n1-standard-8",
            "capacity": "spot",
            "maxNodes": 2,
            "gpus": 1,
            "gpuModel": "nvidia-tesla-v100",
            "installDriver": False,
        },
        {"name": "apart", "machine": "g2-standard-8", "maxNodes": 2, "gcp": {"computeClass": False}, "generation": "b"},
        {
            "name": "even",
            "machine": "n2-standard-8",
            "capacity": "spot",
            "gcp": {"minNodesPerZone": 1, "maxNodesPerZone": 2},
        },
    ],
}

ZONAL: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {
        **PLACE,
        "location": "europe-west4-a",
        "zones": ["europe-west4-b"],
        "network": {"privateNodes": False},
        "encryption": {"bootDiskKey": KEY},
    },
    "systemPool": {**SYSTEM, "criticalAddonsOnly": True},
    "pools": [
        {"name": "general", "machine": "n2-standard-8", "maxNodes": 6},
        {
            "name": "own",
            "machine": "g2-standard-8",
            "capacity": "spot",
            "maxNodes": 2,
            "gcp": {"devicePlugin": "nvidia"},
        },
        {"name": "spare", "machine": "n2-standard-8", "capacity": "spot", "maxNodes": 2, "maxPods": 64},
    ],
}
PRIVATE: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {
        **PLACE,
        "access": {"ipEndpoint": "private", "authorizedRanges": ["10.8.0.0/20"]},
        "serviceAccount": "lab-nodes@example-lab.iam.gserviceaccount.com",
    },
    "systemPool": SYSTEM,
}
SHARED: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab"},
    "cloud": {
        **PLACE,
        "network": {
            "existing": {
                "project": "example-net",
                "name": "corp",
                "subnet": "nodes",
                "podRange": "gke-pods",
                "serviceRange": "gke-services",
            },
            "outboundType": "none",
        },
    },
    "systemPool": SYSTEM,
}
THEIRS: Config = {
    "release": "r2026-11",
    "cloud": {
        "provider": "gcp",
        "project": "example-lab",
        "existingCluster": {"location": "europe-west4", "name": "theirs"},
        "zones": ["europe-west4-b"],
    },
    "pools": [{"name": "general", "machine": "n2-standard-8", "maxNodes": 6}],
}
STACKS = {"full": FULL, "zonal": ZONAL, "private": PRIVATE, "shared": SHARED, "theirs": THEIRS}

CASES = [
    Removal("cluster.protect", shows=["update Cluster lab [deletionProtection]"]),
    Removal("cloud.location", refused=["cloud.location: is missing"]),
    Removal("cloud.fallback.activeMigration", inside=True),
    Removal("pools.general.minNodes", shows=["update NodePool lab-general [autoscaling.totalMinNodeCount]"]),
    Removal("cloud.network.outboundType", "shared", nothing="of an existing network it changes nothing"),
]


@pytest.fixture(scope="module")
def ups(tmp_path_factory: pytest.TempPathFactory) -> Ups:
    return Ups(tmp_path_factory.mktemp("ups"), EmulatedGoogle, STACKS)


@pytest.mark.parametrize("removal", CASES, ids=lambda removal: removal.key)
def test_a_key_that_goes_is_shown_or_refused(
    removal: Removal, ups: Ups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "read", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2"))
    standing = ups.at(removal.stack, tmp_path / "cloud.json", monkeypatch)
    check(removal, standing, STACKS[removal.stack], monkeypatch)
