"""Stacks on GKE for tests: one with every setting of Google, and one in an existing network."""

from __future__ import annotations

import copy
from typing import Any

KEY = "projects/example-lab/locations/europe-west4/keyRings/lab/cryptoKeys/lab"

PLAIN: dict[str, Any] = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cluster": {"name": "lab"},
    "kubeflow-spot:cloud": {"provider": "gcp", "project": "example-lab", "location": "europe-west4"},
    "kubeflow-spot:systemPool": {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4},
}
L4: dict[str, Any] = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}
WITH_TWIN = {**L4, "fallback": [{"onDemand": {"maxNodes": 2}}]}
GENERAL: dict[str, Any] = {"name": "general", "machine": "n2-standard-8", "minNodes": 1, "maxNodes": 6}

FULL: dict[str, Any] = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cluster": {"name": "lab", "tags": {"team": "ml"}},
    "kubeflow-spot:cloud": {
        "provider": "gcp",
        "project": "example-lab",
        "location": "europe-west4",
        "zones": ["europe-west4-a", "europe-west4-b"],
        "access": {
            "ipEndpoint": "private",
            "authorizedRanges": ["10.8.0.0/20"],
            "securityGroup": "gke-security-groups@example.com",
        },
        "registries": [{"location": "europe-west4", "repository": "images"}],
        "encryption": {"secretsKey": KEY, "bootDiskKey": KEY},
        "maintenance": {"startTime": "02:00"},
        "autoscaler": {"profile": "optimize-utilization"},
    },
    "kubeflow-spot:devicePlugin": {"install": "never"},
    "kubeflow-spot:systemPool": {
        "machine": "e2-standard-4",
        "minNodes": 2,
        "maxNodes": 4,
        "criticalAddonsOnly": True,
        "maxPods": 64,
        "osDisk": {"sizeGb": 100},
        "upgrade": {"maxSurge": "1"},
        "gcp": {"diskType": "pd-ssd", "secureBoot": True},
    },
    "kubeflow-spot:pools": [
        {"name": "general", "machine": "n2-standard-8", "minNodes": 1, "maxNodes": 6},
        {
            "name": "l4",
            "machine": "g2-standard-8",
            "capacity": "spot",
            "zones": ["europe-west4-b"],
            "gpuSharing": {"strategy": "time-slicing", "replicas": 4},
            "fallback": [{"pool": "a100"}, {"onDemand": {"maxNodes": 2}}],
            "gcp": {
                "minNodesPerZone": 0,
                "maxNodesPerZone": 4,
                "shutdownGraceSeconds": 120,
                "driverVersion": "latest",
            },
        },
        {"name": "a100", "machine": "a2-highgpu-1g", "capacity": "spot", "maxNodes": 2, "mig": "1g"},
        {
            "name": "own",
            "machine": "g2-standard-16",
            "maxNodes": 2,
            "gcp": {"devicePlugin": "nvidia", "computeClass": False},
        },
    ],
}

SHARED_VPC: dict[str, Any] = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cluster": {"name": "lab"},
    "kubeflow-spot:cloud": {
        "provider": "gcp",
        "project": "example-lab",
        "location": "europe-west4-a",
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
    "kubeflow-spot:systemPool": {"machine": "e2-standard-4", "minNodes": 1, "maxNodes": 2},
    "kubeflow-spot:pools": [
        {
            "name": "p4",
            "machine": "n1-standard-4",
            "capacity": "preemptible",
            "maxNodes": 2,
            "gpus": 1,
            "gpuModel": "nvidia-tesla-v100",
        }
    ],
}

SUBNET = {
    "network": "https://www.googleapis.com/compute/v1/projects/example-net/global/networks/corp",
    "secondaryIpRanges": [
        {"rangeName": "gke-pods", "ipCidrRange": "10.16.0.0/14"},
        {"rangeName": "gke-services", "ipCidrRange": "10.20.0.0/20"},
    ],
}
"""The answer of `getSubnetwork`."""


def stack(*pools: dict[str, Any], cloud: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """A plain stack with these pools; settings of `cloud` and other top keys on top of it."""
    settings = copy.deepcopy(PLAIN)
    settings["kubeflow-spot:cloud"] |= cloud or {}
    return {**settings, "kubeflow-spot:pools": list(pools), **{f"kubeflow-spot:{key}": top[key] for key in top}}
