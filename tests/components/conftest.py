"""Clouds and pools that several of these tests use."""

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.layer import discovery
from components.layer.discovery import Contents
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool
from sandbox.tests.azure.conftest import GROUP, POOL
from tests.components import features, gpu_agents
from tests.components.emulated import EmulatedAzure
from tests.components.features import Azure, Run
from tests.components.program import Declared, declare, stack_config


@pytest.fixture
def azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Azure:
    return features.Azure(tmp_path, monkeypatch)


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the objects in an existing cluster, as fields of `Contents`; to be changed before the run."""
    contents: dict[str, Any] = {"version": "1.36.2"}
    monkeypatch.setattr(discovery, "read_contents", lambda kubeconfig, what, compute_class=None: Contents(**contents))
    return contents


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the program warns of."""
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    return warned


@pytest.fixture
def emulated(tmp_path: Path) -> EmulatedAzure:
    return EmulatedAzure(tmp_path / "azure.json", "westeurope")


@pytest.fixture
def run(contents: dict[str, Any], emulated: EmulatedAzure) -> Run:
    """Run the program on the cluster charmed-kubeflow, made now with these inputs beside the least ones."""

    def run(settings: dict[str, Any], *pools: dict[str, Any], **cluster: Any) -> Declared:
        emulated.make(GROUP, {"resourceGroupName": "charmed", "location": "westeurope"})
        features.make_cluster(emulated, **cluster)
        for pool in pools:
            emulated.make(POOL, {"resourceGroupName": "charmed", "resourceName": "charmed-kubeflow", **pool})
        return declare(settings, cloud=emulated)

    return run


@pytest.fixture
def spec() -> ClusterSpec:
    """Return a stack whose pools share GPUs in every way."""
    return gpu_agents.spec_of(stack_config(gpu_agents.SHARING))


@pytest.fixture
def pools(spec: ClusterSpec) -> dict[str, NodePool]:
    """Return the stack's GPU pools by name."""
    return gpu_agents.gpu_pools(spec)
