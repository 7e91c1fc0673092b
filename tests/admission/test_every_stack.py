"""Policies of stacks with any pools on an API server, which checks expressions when they are written."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from components.layer.scheduling import defaults, guard
from components.resources import wire
from config.clouds import registry
from config.clouds.azure.azure_traits import Aks
from config.clouds.existing.existing_traits import ExistingCluster
from config.clouds.traits import Cloud
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.placement.node_pools import NodePool
from config.stack_file import loader
from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed
from tests.config.stack import good
from tests.config.stack import spec as checked
from tests.config.stack_files import HAPPY, settings

# The API server is the same in both clouds.
pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

CPU = {"machine": "Standard_D8ds_v5", "maxNodes": 2}
T4 = {"machine": "Standard_NC4as_T4_v3", "maxNodes": 2}
POOLS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "cpu": [{"name": "general", **CPU}],
    "cpu-spot": [{"name": "cheap", **CPU, "capacity": "spot"}],
    "gpu-on-demand": [{"name": "t4", **T4}],
    "gpu-spot": [{"name": "t4", **T4, "capacity": "spot"}],
    "all": [{"name": "cheap", **CPU, "capacity": "spot"}, {"name": "t4", **T4, "capacity": "spot"}],
}


@pytest.mark.parametrize("pools", POOLS.values(), ids=POOLS)
def test_policies_of_any_pools_are_accepted(bed: Bed, pools: list[dict[str, Any]]) -> None:
    spec = checked(good(pools=pools))
    for cloud in (Aks(), ExistingCluster()):
        assert_accepted(bed, spec, cloud, node_pools.node_pools(spec, cloud))


@pytest.mark.parametrize("path", HAPPY, ids=lambda path: path.name.removesuffix(".happy.yaml"))
def test_policies_of_every_stack_file_are_accepted(bed: Bed, path: Path) -> None:
    spec, _ = loader.read_stack(settings(path))
    assert spec
    cloud = registry.cloud_of(spec.cloud)
    assert_accepted(bed, spec, cloud, node_pools.node_pools(spec, cloud))


def assert_accepted(bed: Bed, spec: ClusterSpec, cloud: Cloud, pools: Sequence[NodePool]) -> None:
    placement = defaults.policy(spec.scheduling, pools, node_pools.spot_grace(spec.pools, cloud), "any")
    kept = [pair for _, pair in guard.policies(spec.scheduling, pools, cloud, "any")]
    for kind, (policy, binding) in (("Mutating", placement), *(("Validating", pair) for pair in kept)):
        base = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}AdmissionPolicy"}
        bed.api.create({**base, **wire(policy)}, dry_run=True)
        bed.api.create({**base, "kind": f"{base['kind']}Binding", **wire(binding)}, dry_run=True)
