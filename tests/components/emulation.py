"""An emulated cloud behind Pulumi's mocks: a second witness of what the program declares."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pulumi

from sandbox.cloud.provider import CloudProvider, Refused, Resource
from tests.components.program import CloudRefused


class Emulated(pulumi.runtime.Mocks):
    """Pulumi's mocks with a provider that checks and creates resources as the engine would; others are accepted unchanged."""

    prefix: ClassVar[str]
    """Resources whose types are the provider's."""

    def __init__(self, provider: CloudProvider) -> None:
        self.provider = provider
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """Functions asked of the provider, with their arguments."""
        self.created: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        """Id and outputs of each resource that the program declared, by type and name."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        inputs = plain(args.inputs)
        if not args.typ.startswith(self.prefix):
            return args.name, inputs
        self.created[args.typ, args.name] = made = self.make(args.typ, inputs, args.name)
        return made

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        inputs = plain(args.args)
        if args.token == "pulumi:pulumi:readStackOutputs":
            # The stack's own outputs: this is its first update.
            return {"outputs": {}}, []
        self.calls.append((args.token, inputs))
        try:
            return self.provider.invoke(args.token, inputs), []
        except Refused as refused:
            raise CloudRefused(str(refused)) from refused

    def make(self, token: str, inputs: dict[str, Any], name: str = "there") -> tuple[str, dict[str, Any]]:
        """Make a resource; return its id and outputs. Raise what the emulated provider raises."""
        resource = Resource(token, name, f"urn:{name}", inputs=inputs)
        checked, failures = self.provider.check(resource)
        if failures:
            raise Refused(f"{token} {name}: " + "; ".join(failure.reason for failure in failures))
        return self.provider.create(dataclasses.replace(resource, inputs=checked))


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return whole numbers as such: the wire between Pulumi and its mocks has floats only."""
    values: dict[str, Any] = json.loads(json.dumps(value), parse_float=_number)
    return values


def _number(text: str) -> float | int:
    return int(float(text)) if float(text).is_integer() else float(text)
