"""The contract of a checked-in stack, as its cluster publishes it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from components.layer.scheduling import contract
from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, node_pools
from config.stack_file import loader
from tests.components.program import PROJECT, stack_config


@cache
def described(stack: str) -> tuple[NodePool, ...]:
    """Return the node pools of a stack."""
    spec = _spec(stack)
    return node_pools(spec, registry.cloud_of(spec.cloud))


@cache
def config_map(stack: str) -> dict[str, Any]:
    """Return the ConfigMap kube-public/kubeflow-spot of a stack."""
    data = contract.data(_spec(stack).release.name, described(stack))
    metadata = {"name": contract.NAME, "namespace": contract.NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _spec(stack: str) -> ClusterSpec:
    settings = stack_config(PROJECT / f"Pulumi.{stack}.yaml")
    spec, _ = loader.read_stack({key.removeprefix("kubeflow-spot:"): value for key, value in settings.items()}, stack)
    assert spec
    return spec


def written(folder: Path, stack: str = "dev") -> Path:
    """Write a file with the ConfigMap, as `kubectl get -o json` writes it."""
    path = folder / f"{stack}.json"
    path.write_text(json.dumps(config_map(stack)))
    return path
