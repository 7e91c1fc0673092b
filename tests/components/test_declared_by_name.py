"""Resources declared by the name of their type are those the SDKs' own classes would declare."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import pulumi
import pytest
from google.protobuf import json_format
from pulumi import _types
from pulumi.runtime import mocks
from pulumi.runtime.stack import run_pulumi_func

from tests.components.google import FULL, SHARED_VPC
from tests.components.program import PROJECT, Registration, declare, stack_config

pytestmark = [pytest.mark.program, pytest.mark.filterwarnings("ignore:gcp.compute:DeprecationWarning")]

NAT = stack_config(PROJECT / "Pulumi.dev.yaml")
NAT["kubeflow-spot:cloud"]["network"] = {"outboundType": "userAssignedNATGateway"}


class _Nothing(pulumi.runtime.Mocks):
    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return args.name, dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        return {}, []


def sdk(type: str) -> tuple[Any, Any]:
    """The SDK's class of a type, and the class of its arguments."""
    package, place, name = type.split(":")
    module = importlib.import_module(f"pulumi_{package.replace('-', '_')}.{place.partition('/')[0]}")
    return getattr(module, name), getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args")


def declared_by_classes(
    wanted: list[Registration], monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, str], dict[str, Any]]:
    """What the engine is asked when the SDK's classes declare the same."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    register = mocks.MockMonitor.RegisterResource

    def recording(self: mocks.MockMonitor, request: Any) -> Any:
        found[request.type, request.name] = json_format.MessageToDict(request)
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", recording)
    # One loop a run: https://github.com/pulumi/pulumi/issues/24338
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    pulumi.runtime.set_mocks(_Nothing(), project="kubeflow-spot", stack="test", preview=False)

    async def program() -> None:
        for resource in wanted:
            cls, arguments = sdk(resource.type)
            names = {wire: ours for ours, wire in _types.input_type_py_to_pulumi_names(arguments).items()}
            cls(resource.name, **{names[wire]: value for wire, value in resource.inputs.items()})

    loop.run_until_complete(run_pulumi_func(program))
    return found


def strange(value: Any, expected: Any, path: str) -> Iterator[str]:
    """Where a value, in the names of the wire, is not what the SDK's type says. The SDK itself lets unknown names pass."""
    if get_origin(expected) is None and _types.is_input_type(expected):
        known = _types.input_type_types(expected)
        for key, item in value.items():
            if key in known:
                yield from strange(item, known[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
        return
    arguments = get_args(expected)
    if isinstance(value, list):
        inside = next(one for one in get_args(arguments[0]) or arguments if one is not type(None))
        for item in value:
            yield from strange(item, inside, path)
    elif isinstance(value, dict):
        if not (arguments and arguments[0] is str):
            yield path
    elif expected is not (type(value) if not isinstance(value, float) else int) and get_origin(expected) is None:
        yield f"{path}: {value!r} is not {expected}"


@pytest.mark.parametrize(
    ("settings", "prefix", "kinds"),
    [
        (NAT, "azure-native:network:", {"VirtualNetwork", "Subnet", "PublicIPAddress", "NatGateway"}),
        (
            FULL,
            "gcp:",
            {
                "Account",
                "Cluster",
                "IAMMember",
                "Network",
                "NodePool",
                "RepositoryIamMember",
                "Router",
                "RouterNat",
                "Subnetwork",
            },
        ),
        (SHARED_VPC, "gcp:", {"Account", "Cluster", "IAMMember", "NodePool"}),
    ],
    ids=["azure", "google", "google-shared-vpc"],
)
def test_they_are_declared_with_names_defaults_and_secrets_of_the_sdks_classes(
    settings: dict[str, Any], prefix: str, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = [r for r in declare(settings, monkeypatch).resources if r.type.startswith(prefix)]
    assert {r.type.rpartition(":")[2] for r in ours} == kinds
    found = declared_by_classes(ours, monkeypatch)
    for resource in ours:
        theirs = found[resource.type, resource.name]
        assert resource.inputs == theirs["object"]
        for option in ("version", "additionalSecretOutputs"):
            assert resource.options.get(option) == theirs.get(option)


def test_every_name_and_kind_of_value_for_google_is_one_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    for settings in (FULL, SHARED_VPC):
        for resource in declare(settings, monkeypatch).resources:
            if resource.type.startswith("gcp:"):
                assert list(strange(resource.inputs, sdk(resource.type)[1], resource.name)) == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"nodeConfig": {"machinetype": "n1-standard-1"}}, "p.nodeConfig.machinetype"),
        ({"nodeConfig": {"taints": [{"effect": "NO_SCHEDULE", "name": "a"}]}}, "p.nodeConfig.taints.name"),
        ({"nodeConfig": {"spot": "true"}}, "p.nodeConfig.spot: 'true' is not <class 'bool'>"),
        ({"nodeConfig": {"diskType": {"a": "b"}}}, "p.nodeConfig.diskType"),
    ],
)
def test_a_wrong_name_or_kind_would_be_found(value: Mapping[str, Any], path: str) -> None:
    assert list(strange(value, sdk("gcp:container/nodePool:NodePool")[1], "p")) == [path]
