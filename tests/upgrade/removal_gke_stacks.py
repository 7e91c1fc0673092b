"""Stack files on GKE that set every optional key, for the cases of `removal_gke`."""

from __future__ import annotations

from typing import Any

from tests.components.google import KEY
from tests.upgrade import removal_queueing
from tests.upgrade.case import Config
from tests.upgrade.removal_workloads import GKE_STACKS

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
        "removedPools": ["old"],
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
            "flowLogSampling": 0.1,
        },
        "access": {
            "dnsEndpoint": False,
            "authorizedRanges": ["203.0.113.0/24"],
            "rolesForEverybody": "authenticated",
            "securityGroup": "gke-security-groups@example.com",
        },
        "serviceAccount": "lab-nodes@example-lab.iam.gserviceaccount.com",
        "registries": [{"project": "example-images", "location": "europe-west4", "repository": "images"}],
        "encryption": {"secretsKey": KEY, "bootDiskKey": KEY, "grantAccess": False},
        "maintenance": {"startTime": "02:00"},
        "autoscaler": {"profile": "optimize-utilization"},
        "fallback": {
            "mode": "compute-class",
            "className": "chain",
            "activeMigration": True,
            "whenUnsatisfiable": "ScaleUpAnyway",
            "consolidationDelayMinutes": 5,
        },
        "logging": {"components": ["SYSTEM_COMPONENTS"]},
        "monitoring": {"components": ["SYSTEM_COMPONENTS"], "managedPrometheus": False},
    },
    "systemPool": {
        **SYSTEM,
        **{k: v for k, v in POOL.items() if k not in ("labels", "taints")},
        "name": "base",
        "minNodes": 3,
    },
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
        {
            "name": "apart",
            "machine": "g2-standard-8",
            "maxNodes": 2,
            "reservation": "l4-prod",
            "gcp": {"computeClass": False},
            "generation": "b",
        },
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
    "devicePlugin": {"install": "never"},
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
        {
            "name": "later",
            "machine": "g2-standard-8",
            "capacity": "flex-start",
            "maxNodes": 2,
            "gcp": {"maxRunDuration": "24h"},
        },
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
                "grantAccess": False,
            },
            "outboundType": "none",
        },
    },
    "systemPool": SYSTEM,
}
CLOSED: Config = {**PRIVATE, "cloud": {**PLACE, "access": {"ipEndpoint": "private"}}}
OLD: Config = {
    "release": "r2026-11",
    "cluster": {"name": "lab", "kubernetesVersion": "1.35", "reason": "an add-on is not ready for 1.36"},
    "cloud": PLACE,
    "systemPool": SYSTEM,
    "pools": [
        {
            "name": "v100",
            "machine": "n1-standard-8",
            "capacity": "spot",
            "maxNodes": 2,
            "gpus": 1,
            "gpuModel": "nvidia-v100",
        }
    ],
}
EXISTING: Config = {
    "release": "r2026-11",
    "cloud": {
        "provider": "gcp",
        "project": "example-lab",
        "existingCluster": {"location": "europe-west4", "name": "theirs"},
    },
    "pools": [
        {"name": "general", "machine": "n2-standard-8", "maxNodes": 6, "zones": ["europe-west4-b"]},
        {"name": "spare", "machine": "n2-standard-8", "capacity": "spot", "maxNodes": 2, "maxPods": 64},
    ],
}
STACKS = {
    "full": FULL,
    "zonal": ZONAL,
    "private": PRIVATE,
    "closed": CLOSED,
    "shared": SHARED,
    "old": OLD,
    "theirs": EXISTING,
    **GKE_STACKS,
    **removal_queueing.GKE_STACKS,
}
