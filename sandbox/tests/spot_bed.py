"""A cluster with a spot pool and an on-demand pool of the same machine, on each emulated cloud."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import ScaleRefused
from sandbox.tests.azure import conftest as azure
from sandbox.tests.engine_side import RecordingRuntime
from sandbox.tests.gcp import conftest as gcp


@dataclass
class Bed:
    """A cluster with a spot pool `spot` and an on-demand pool `twin` of the same machine, both from zero on."""

    cloud: EmulatedCloud
    runtime: RecordingRuntime
    cluster: str
    machine: str
    zones: list[str]

    def id(self, pool: str = "spot") -> str:
        return f"{self.cluster}/{self.cloud.folder}/{pool}"

    def nodes(self, pool: str = "spot") -> dict[str, dict[str, Any]]:
        """Return the Node objects of a pool, by name."""
        group = next(group for group in self.cloud.node_groups(self.cluster).groups if group.pool == pool)
        applied = next(iter(self.runtime.nodes.values()))
        return {node["metadata"]["name"]: node for node in applied if node["metadata"]["name"] in group.nodes}

    def size(self, pool: str = "spot") -> int:
        return next(status.count for status in self.cloud.pools() if status.pool == pool)

    def refused(self, by: int, pool: str = "spot") -> str:
        with pytest.raises(ScaleRefused) as refused:
            self.cloud.grow(self.id(pool), by)
        return str(refused.value)


def on_azure(folder: Path, **changes: Any) -> Bed:
    account = azure.Account(folder / "azure.json")
    account.cluster()
    zones = ["1", "2", "3"]
    account.create(azure.POOL, {**azure.SPOT, "agentPoolName": "spot", "availabilityZones": zones, **changes})
    regular = {key: value for key, value in azure.SPOT.items() if key != "scaleSetPriority"}
    account.create(azure.POOL, {**regular, "agentPoolName": "twin"})
    return Bed(account.cloud, account.runtime, azure.CLUSTER_ID, azure.SPOT["vmSize"], zones)


def on_gcp(folder: Path, **config: Any) -> Bed:
    project = gcp.Project(folder / "gcp.json")
    project.network()
    project.subnetwork()
    project.cluster()
    project.create(gcp.POOL, {**gcp.with_config(gcp.SPOT, **config), "name": "spot", "nodeLocations": gcp.ZONES})
    project.create(gcp.POOL, {**gcp.with_config(gcp.SPOT, spot=None), "name": "twin"})
    return Bed(project.cloud, project.runtime, gcp.CLUSTER_ID, gcp.SPOT["nodeConfig"]["machineType"], gcp.ZONES)
