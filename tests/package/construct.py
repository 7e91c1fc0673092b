"""Declarations of the package for a program, under Pulumi's mocks."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.package.provider import Package
from tests.components import program
from tests.components.program import Declared

TOKEN = "kubeflow-spot:index:KubeflowCluster"

ARGUMENTS: dict[str, Any] = {
    "release": "r2026-11",
    "cluster": {"name": "ml-team"},
    "cloud": {"provider": "azure", "location": "westeurope", "network": {"policy": "calico"}},
    "systemPool": {"machine": "Standard_D4ds_v5", "maxNodes": 4},
    "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 8}],
}

GOOGLE = {
    "release": "r2026-11",
    "cluster": {"name": "ml-team"},
    "cloud": {"provider": "gcp", "project": "example-ml", "location": "europe-west4"},
    "systemPool": {"machine": "e2-standard-4", "maxNodes": 4},
    "pools": [{"name": "l4", "machine": "g2-standard-8", "capacity": "spot", "maxNodes": 8}],
}

Inputs = Callable[[], Mapping[str, Any]]
"""Made in the run: an output belongs to a run."""

_MAIN = "from tests.package import construct; construct.run()"
_runs: list[Callable[[], None]] = []


def construct(
    inputs: Inputs,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...] = ("ml",),
    protect: bool | None = None,
    **options: Any,
) -> Declared:
    """Declare one component of each name; the outputs of the last are the stack's. `options`: those of `program.declare`.

    Raise what the provider raises.
    """

    def components() -> None:
        for name in names:
            result = Package().construct(name, TOKEN, dict(inputs()), pulumi.ResourceOptions(protect=protect))
            pulumi.export("urn", result.urn)
        for key, value in result.state.items():
            pulumi.export(key, value)

    (folder / "__main__.py").write_text(_MAIN)
    monkeypatch.setattr(program, "PROJECT", folder)
    _runs.append(components)
    return program.declare({}, monkeypatch, **options)


def run() -> None:
    """Stand in for a program."""
    _runs.pop()()
