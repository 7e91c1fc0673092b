"""Every stack that is said to be right is declared, and taken by the emulated Azure, which knows nothing of our rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.addons import discovery
from tests.components.emulated import EmulatedAzure
from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

POOL = "azure-native:containerservice:AgentPool"

STACKS = sorted(
    path
    for pattern in ("tests/configs/*.happy.yaml", "examples/stacks/*.yaml")
    for path in PROJECT.glob(pattern)
    # Beside a stack of a cluster that is there already: what the sandbox is told of it.
    if not path.name.endswith(".cloud.yaml")
)
ON_AZURE = [path for path in STACKS if stack_config(path)["kubeflow-spot:cloud"]["provider"] == "azure"]


@pytest.mark.parametrize("path", ON_AZURE, ids=lambda path: path.name.removesuffix(".yaml"))
def test_a_right_stack_is_taken_by_azure(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = stack_config(path)
    # Of a cluster that is there already: an API server with nothing that concerns us.
    monkeypatch.setattr(discovery, "read", lambda kubeconfig, what: discovery.Contents("1.36.2"))
    azure = EmulatedAzure(tmp_path / "azure.json", settings["kubeflow-spot:cloud"].get("location", "westeurope"))
    azure.seed(settings)
    declared = declare(settings, monkeypatch, cloud=azure)
    names = {pool["name"] for pool in declared.outputs["pools"]}
    assert names == {pool.inputs["agentPoolName"] for pool in declared.of(POOL).values()}
