"""Resources declared by the name of their type are those the SDKs' own classes would declare."""

from __future__ import annotations

import asyncio
import enum
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args, get_origin

import pulumi
import pytest
from google.protobuf import json_format
from pulumi import _types
from pulumi.runtime import mocks
from pulumi.runtime.stack import run_pulumi_func

from tests.components import azure, google
from tests.components.program import Registration, declare

pytestmark = [pytest.mark.program, pytest.mark.filterwarnings("ignore:gcp.compute:DeprecationWarning")]

ALL = {
    "azure": azure.FULL,
    "azure-private": azure.PRIVATE,
    "google": google.FULL,
    "google-shared-vpc": google.SHARED_VPC,
}
"""Stacks that declare every type with every input."""

KINDS = {
    "azure": {
        "AgentPool",
        "AzureMonitorWorkspace",
        "DataCollectionEndpoint",
        "DataCollectionRule",
        "DataCollectionRuleAssociation",
        "Deployment",
        "DiagnosticSetting",
        "MaintenanceConfiguration",
        "ManagedCluster",
        "NatGateway",
        "PublicIPAddress",
        "ResourceGroup",
        "RoleAssignment",
        "Subnet",
        "UserAssignedIdentity",
        "VirtualNetwork",
        "Workspace",
    },
    "google": {
        "Account",
        "Cluster",
        "CryptoKeyIAMMember",
        "IAMMember",
        "Network",
        "NodePool",
        "RepositoryIamMember",
        "Router",
        "RouterNat",
        "Subnetwork",
    },
}
"""Resources of a cloud in the stacks with every setting."""

_VERSIONED = re.compile(r"azure-native:\w+/v\d{8}\w*:")
"""A type of one API version, such as `azure-native:network/v20230201:Subnet`: in states of programs that chose a version, which
this one never did."""


class _Nothing(pulumi.runtime.Mocks):
    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        # AKS takes the identities as a list and answers with a map.
        return args.name, {"identity": {}} if "identity" in args.inputs else {}

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
    """Requests to the engine when the SDK's classes declare the same."""

    def declare_all() -> None:
        for resource in wanted:
            cls, arguments = sdk(resource.type)
            names = {wire: python_name for python_name, wire in _types.input_type_py_to_pulumi_names(arguments).items()}
            if "resourceName" in names:  # an input that is called as the class calls the resource's own name
                names["resourceName"] = "resource_name_"
            cls(resource.name, **{names[wire]: value for wire, value in resource.inputs.items()})

    return requests_of(declare_all, monkeypatch)


def requests_of(
    declare_all: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, str], dict[str, Any]]:
    """Requests of a program to the engine, by type and name."""
    requests: dict[tuple[str, str], dict[str, Any]] = {}
    register = mocks.MockMonitor.RegisterResource

    def recording(self: mocks.MockMonitor, request: Any) -> Any:
        requests[request.type, request.name] = json_format.MessageToDict(request)
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", recording)
    # One loop a run: https://github.com/pulumi/pulumi/issues/24338
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    pulumi.runtime.set_mocks(_Nothing(), project="kubeflow-spot", stack="test", preview=False)

    async def program() -> None:
        declare_all()

    loop.run_until_complete(run_pulumi_func(program))
    return requests


def mismatches(value: Any, expected: Any, path: str) -> Iterator[str]:
    """Paths at which a value, in the names of the wire, differs from the SDK's type. The SDK itself lets unknown names pass."""
    if get_origin(expected) is None and _types.is_input_type(expected):
        known = _types.input_type_types(expected)
        for key, item in value.items():
            if key in known:
                yield from mismatches(item, known[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
        return
    arguments = get_args(expected)
    if isinstance(value, list):
        for item in value:
            yield from mismatches(item, _inside(arguments[0]), path)
    elif isinstance(value, dict):
        if arguments and arguments[0] is str:
            for key, item in value.items():
                yield from mismatches(item, _inside(arguments[1]), f"{path}.{key}")
        elif expected is not Any:
            yield path
    elif isinstance(expected, type) and issubclass(expected, enum.Enum):
        if value not in [member.value for member in expected]:
            yield f"{path}: {value!r} is not one of {expected}"
    elif expected is not Any and get_origin(expected) is None and not _is_a(value, expected):
        yield f"{path}: {value!r} is not {expected}"


def _inside(element: Any) -> Any:
    """The type of a list's or a map's elements, without what makes them inputs."""
    return next((part for part in get_args(element) if part is not type(None)), element)


def _is_a(value: Any, expected: Any) -> bool:
    """In the engine's protocol all numbers are floats."""
    if expected is int:
        return isinstance(value, float) and value.is_integer()
    return type(value) is expected


def in_a_cloud(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Registration]:
    """Resources that the program declares outside the cluster."""
    return [r for r in declare(settings, monkeypatch).resources if r.type.startswith(("azure-native:", "gcp:"))]


@pytest.mark.parametrize("stack", ALL)
def test_they_are_declared_with_names_defaults_and_secrets_of_the_sdks_classes(
    stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = in_a_cloud(ALL[stack], monkeypatch)
    if stack in KINDS:
        assert {r.type.rpartition(":")[2] for r in resources} == KINDS[stack]
    requests = declared_by_classes(resources, monkeypatch)
    for resource in resources:
        request = requests[resource.type, resource.name]
        assert resource.inputs == request["object"]
        for option in ("version", "pluginDownloadURL", "additionalSecretOutputs"):
            assert resource.options.get(option) == request.get(option)
        if resource.type.startswith("azure-native:"):
            former = [type for type in aliases(request) if not _VERSIONED.match(type)]
            assert aliases(resource.options) == former


def aliases(options: Mapping[str, Any]) -> list[str]:
    """Former names of a resource's type."""
    return [alias["spec"]["type"] for alias in options.get("aliases", ())]


@pytest.mark.parametrize("stack", ALL)
def test_every_name_and_kind_of_value_is_one_of_the_sdk(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for resource in in_a_cloud(ALL[stack], monkeypatch):
        assert list(mismatches(resource.inputs, sdk(resource.type)[1], resource.name)) == []


def test_only_types_that_azure_native_renamed_have_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    former = {alias for resource in in_a_cloud(azure.FULL, monkeypatch) for alias in aliases(resource.options)}
    renamed = (
        "DataCollectionEndpoint",
        "DataCollectionRule",
        "DataCollectionRuleAssociation",
        "DiagnosticSetting",
    )
    assert former == {f"azure-native:insights:{type}" for type in renamed}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"nodeConfig": {"machinetype": "n1-standard-1"}}, "p.nodeConfig.machinetype"),
        ({"nodeConfig": {"taints": [{"effect": "NO_SCHEDULE", "name": "a"}]}}, "p.nodeConfig.taints.name"),
        ({"nodeConfig": {"spot": "true"}}, "p.nodeConfig.spot: 'true' is not <class 'bool'>"),
        ({"nodeConfig": {"diskType": {"a": "b"}}}, "p.nodeConfig.diskType"),
    ],
)
def test_a_wrong_name_or_kind_is_detected(value: Mapping[str, Any], path: str) -> None:
    assert list(mismatches(value, sdk("gcp:container/nodePool:NodePool")[1], "p")) == [path]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"vnetSubnetId": "/subscriptions/s"}, "p.vnetSubnetId"),
        ({"addonProfiles": {"omsagent": {"enable": True}}}, "p.addonProfiles.omsagent.enable"),
        ({"agentPoolProfiles": [{"osDiskSizeGb": 100.0}]}, "p.agentPoolProfiles.osDiskSizeGb"),
        ({"agentPoolProfiles": [{"count": 1.5}]}, "p.agentPoolProfiles.count: 1.5 is not <class 'int'>"),
        ({"identity": {"type": "Mine"}}, "p.identity.type: 'Mine' is not one of <enum 'ResourceIdentityType'>"),
    ],
)
def test_a_wrong_name_or_kind_of_azure_is_detected(value: Mapping[str, Any], path: str) -> None:
    assert list(mismatches(value, sdk("azure-native:containerservice:ManagedCluster")[1], "p")) == [path]
