"""Every stack that is said to be right is declared, and taken by its emulated cloud, which knows nothing of our rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.addons import discovery
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.pools import pools
from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

STACKS = sorted(
    path
    for pattern in ("tests/configs/*.happy.yaml", "examples/stacks/*.yaml", "Pulumi.*.yaml")
    for path in PROJECT.glob(pattern)
    # Beside a stack of a cluster that is there already: what the sandbox is told of it.
    if not path.name.endswith(".cloud.yaml")
)
CLOUDS: Mapping[str, Callable[[Path, Mapping[str, Any]], EmulatedAzure | EmulatedGoogle]] = {
    "azure": lambda state, cloud: EmulatedAzure(state, cloud.get("location", "westeurope")),
    "gcp": lambda state, cloud: EmulatedGoogle(state),
}
IN_A_CLOUD = [path for path in STACKS if stack_config(path)["kubeflow-spot:cloud"]["provider"] in CLOUDS]


@pytest.mark.parametrize("path", IN_A_CLOUD, ids=lambda path: path.name.removesuffix(".yaml"))
def test_a_right_stack_is_taken_by_its_cloud(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = stack_config(path)
    # Of a cluster that is there already: an API server with nothing that concerns us.
    monkeypatch.setattr(discovery, "read", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2"))
    described = settings["kubeflow-spot:cloud"]
    cloud = CLOUDS[described["provider"]](tmp_path / "cloud.json", described)
    cloud.seed(settings)
    declared = declare(settings, monkeypatch, cloud=cloud)
    assert {pool["name"] for pool in declared.outputs["pools"]} == set(pools(declared))
