"""The requests of a program that emulated clouds serve, beside those of others."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import resource_pb2

from sandbox.cloud.program_requests import ProgramRequests
from sandbox.cloud.provider import UNKNOWN

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET, OUTPUT = "1b47061264138c4ac30d75fd1eb44270", "d0e6a833031e9bbcd3f4e8bde6ca49a4"
"""https://github.com/pulumi/pulumi/blob/master/sdk/python/lib/pulumi/runtime/rpc.py"""

CALLS = ("RegisterResource", "ReadResource", "Invoke", "RegisterStackTransform", "RegisterStackInvokeTransform")


def struct(content: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(content, struct_pb2.Struct())


class Program:
    """A program, and the requests that are known of it."""

    def __init__(self, **config: str) -> None:
        self.requests, self.sent = ProgramRequests(), list[Any]()
        self.monitor = SimpleNamespace(**dict.fromkeys(CALLS, self.sent.append))
        self.requests.watch(cast(Any, self.monitor), config)

    def declares(self, content: dict[str, Any], type: str = "k:it", **options: Any) -> ProgramRequests:
        self.monitor.RegisterResource(
            resource_pb2.RegisterResourceRequest(type=type, name="it", object=struct(content), **options)
        )
        assert len(self.sent) == 1
        return self.requests


@pytest.mark.parametrize(
    ("declared", "checked"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": {SIGNATURE: SECRET, "value": ["b"]}}, {"a": ["b"]}),
        ({"a": {SIGNATURE: OUTPUT, "value": "b", "secret": True}}, {"a": "b"}),
        ({"a": [{SIGNATURE: OUTPUT}]}, {"a": [UNKNOWN]}),
        ({"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
    ids=["number", "secret", "output", "unknown", "null"],
)
def test_a_resource_is_known_as_the_engine_sends_it_on(declared: dict[str, Any], checked: dict[str, Any]) -> None:
    requests = Program().declares(declared)
    assert requests.checks("k:it", "it", struct(checked))
    for type, name, content in (
        ("k:it", "it", checked | {"more": "x"}),
        ("k:it", "it", {"a": "other"}),
        ("k:other", "it", checked),
        ("k:it", "other", checked),
    ):
        assert not requests.checks(type, name, struct(content))


def test_an_ignored_property_may_have_the_value_of_the_state() -> None:
    requests = Program().declares({"a": 1, "count": 2}, ignoreChanges=["count", "b.c"])
    assert requests.checks("k:it", "it", struct({"a": 1, "count": 5}))
    assert not requests.checks("k:it", "it", struct({"a": 2, "count": 2}))


def test_a_provider_is_known_by_each_of_its_settings() -> None:
    requests = Program(**{"k:region": "r"}).declares({"kubeconfig": "own"}, "pulumi:providers:k")
    assert requests.configures("k", struct({"kubeconfig": "own", "version": "4.0.0", "__internal": {}}))
    assert requests.configures("k", struct({"region": "r"}))
    assert not requests.configures("k", struct({"kubeconfig": "another"}))
    assert not requests.configures("k", struct({"kubeconfig": "own", "context": "another"}))
    assert not requests.configures("other", struct({"kubeconfig": "own"}))


def test_reads_imports_and_calls_are_known() -> None:
    program = Program()
    program.monitor.ReadResource(resource_pb2.ReadResourceRequest(type="k:it", name="it", id="1"))
    program.monitor.Invoke(resource_pb2.ResourceInvokeRequest(tok="k:get", args=struct({"name": "a"})))
    assert program.requests.reads("k:it", "it", "1")
    assert not program.requests.reads("k:it", "it", "2")
    assert program.requests.invokes("k:get", struct({"name": "a"}))
    assert not program.requests.invokes("k:get", struct({"name": "b"}))
    assert Program().declares({}, importId="3").reads("k:it", "it", "3")


def test_what_other_processes_change_or_declare_for_the_program_is_served() -> None:
    anything = struct({"a": "b"})
    assert Program().declares({}, remote=True).checks("other", "it", anything)
    for call in CALLS[3:]:
        program = Program()
        assert not program.requests.checks("other", "it", anything)
        getattr(program.monitor, call)(None)
        assert program.requests.checks("other", "it", anything)
