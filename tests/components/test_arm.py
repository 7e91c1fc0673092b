"""Resources declared by the name of their type are those the SDK's own classes would declare."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest
from pulumi import _types
from pulumi.runtime.stack import run_pulumi_func
from pulumi_azure_native import network

from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program


class _Recorder(pulumi.runtime.Mocks):
    def __init__(self) -> None:
        self.inputs: dict[str, dict[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ.startswith("azure-native:network:"):
            self.inputs[f"{args.typ} {args.name}"] = dict(args.inputs)
        return args.name, dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        return {}, []


def sdk_class(type: str) -> tuple[Any, dict[str, str]]:
    """The SDK's class of a type of `network`, and its parameters by the names of the wire."""
    name = type.rpartition(":")[2]
    arguments = getattr(network, f"{name}InitArgs", None) or getattr(network, f"{name}Args")
    return getattr(network, name), {
        wire: ours for ours, wire in _types.input_type_py_to_pulumi_names(arguments).items()
    }


def test_the_network_is_declared_with_names_and_defaults_of_the_sdks_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = stack_config(PROJECT / "Pulumi.dev.yaml")
    settings["kubeflow-spot:cloud"]["network"] = {"outboundType": "userAssignedNATGateway"}
    declared = [r for r in declare(settings, monkeypatch).resources if r.type.startswith("azure-native:network:")]
    assert {r.type.rpartition(":")[2] for r in declared} == {
        "VirtualNetwork", "Subnet", "PublicIPAddress", "NatGateway",
    }  # fmt: skip
    recorder = _Recorder()
    # One loop a run: https://github.com/pulumi/pulumi/issues/24338
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    pulumi.runtime.set_mocks(recorder, project="kubeflow-spot", stack="test", preview=False)

    async def program() -> None:
        for resource in declared:
            cls, parameters = sdk_class(resource.type)
            cls(resource.name, **{parameters[wire]: value for wire, value in resource.inputs.items()})

    loop.run_until_complete(run_pulumi_func(program))
    assert recorder.inputs == {f"{r.type} {r.name}": r.inputs for r in declared}
