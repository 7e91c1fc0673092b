"""Stacks for tests: those of `stacks.yaml`, and plain ones on GKE."""

import copy
from pathlib import Path
from typing import Any

import yaml

KEY = "projects/example-lab/locations/europe-west4/keyRings/lab/cryptoKeys/lab"


def written_stack(name: str, prefix: str = "kubeflow-spot:") -> dict[str, Any]:
    """Return a stack of `stacks.yaml`."""
    stacks = yaml.safe_load((Path(__file__).parent / "stacks.yaml").read_text())
    return {prefix + key: value for key, value in stacks[name].items()}


def rows(table: str, cloud: str = "gcp") -> list[list[Any]]:
    """Return the rows of a table of `gcp_rows.yaml` or `azure_rows.yaml`."""
    tables: dict[str, list[list[Any]]] = yaml.safe_load((Path(__file__).parent / f"{cloud}_rows.yaml").read_text())
    return tables[table]


PLAIN: dict[str, Any] = {
    "kubeflow-spot:release": "r2026-11",
    "kubeflow-spot:cluster": {"name": "lab"},
    "kubeflow-spot:cloud": {"provider": "gcp", "project": "example-lab", "location": "europe-west4"},
    "kubeflow-spot:systemPool": {"machine": "e2-standard-4", "minNodes": 2, "maxNodes": 4},
}
L4: dict[str, Any] = {"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}
WITH_TWIN = {**L4, "fallback": [{"onDemand": {"maxNodes": 2}}]}
GENERAL: dict[str, Any] = {"name": "general", "machine": "n2-standard-8", "minNodes": 1, "maxNodes": 6}

FULL, SHARED_VPC = written_stack("gcp-full"), written_stack("gcp-shared-vpc")

SUBNET = {
    "network": "https://www.googleapis.com/compute/v1/projects/example-net/global/networks/corp",
    "secondaryIpRanges": [
        {"rangeName": "gke-pods", "ipCidrRange": "10.16.0.0/14"},
        {"rangeName": "gke-services", "ipCidrRange": "10.20.0.0/20"},
    ],
}
"""The answer of `getSubnetwork`."""


def stack(*pools: dict[str, Any], cloud: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """Return a plain stack with these pools; settings of `cloud` and other top keys on top of it."""
    settings = copy.deepcopy(PLAIN)
    settings["kubeflow-spot:cloud"] |= cloud or {}
    return {**settings, "kubeflow-spot:pools": list(pools), **{f"kubeflow-spot:{key}": top[key] for key in top}}


def in_existing(*pools: dict[str, Any], **cloud: Any) -> dict[str, Any]:
    """Return a stack with these pools in an existing cluster, with settings of `cloud`."""
    place = {"location": "europe-west4", "name": "shared"}
    existing = {"provider": "gcp", "project": "example-lab", "existingCluster": place, **cloud}
    return {"kubeflow-spot:release": "r2026-11", "kubeflow-spot:cloud": existing, "kubeflow-spot:pools": list(pools)}
