"""Every happy stack is declared and accepted by its emulated cloud, which does not know our rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.layer import discovery
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.pools import pools
from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program

STACKS = sorted(
    path
    for pattern in ("tests/configs/*.happy.yaml", "examples/stacks/*.yaml", "Pulumi.*.yaml")
    for path in PROJECT.glob(pattern)
    # A cloud file, which describes an existing cluster to the sandbox, is no stack file.
    if not path.name.endswith(".cloud.yaml")
)
CLOUDS: Mapping[str, Callable[[Path, Mapping[str, Any]], EmulatedAzure | EmulatedGoogle]] = {
    "azure": lambda state, cloud: EmulatedAzure(state, cloud.get("location", "westeurope")),
    "gcp": lambda state, cloud: EmulatedGoogle(state),
}
IN_A_CLOUD = [path for path in STACKS if stack_config(path)["kubeflow-spot:cloud"]["provider"] in CLOUDS]


@pytest.mark.parametrize("path", IN_A_CLOUD, ids=lambda path: path.name.removesuffix(".yaml"))
def test_a_happy_stack_is_accepted_by_its_cloud(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = stack_config(path)
    # An existing cluster has an API server with no objects that matter here.
    monkeypatch.setattr(discovery, "read", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2"))
    described = settings["kubeflow-spot:cloud"]
    cloud = CLOUDS[described["provider"]](tmp_path / "cloud.json", described)
    cloud.seed(settings)
    declared = declare(settings, monkeypatch, cloud=cloud)
    assert {pool["name"] for pool in declared.outputs["pools"]} == set(pools(declared))
