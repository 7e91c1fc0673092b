"""A stand-in for the SDK that `pulumi package add` generates, made from the package's schema as the generator does.

The generator needs Pulumi's language host. Arguments have snake_case names, inside objects as well; outputs are attributes.
"""

from __future__ import annotations

import json
import re
from types import ModuleType
from typing import Any

import pulumi


def module(schema: str) -> ModuleType:
    """The module with a class for each component of the schema."""
    document = json.loads(schema)
    package = ModuleType(f"{document['namespace']}_{document['name'].replace('-', '_')}")
    for token, component in document["resources"].items():
        setattr(package, token.rpartition(":")[2], _component(token, component, document["types"]))
    return package


def _component(token: str, spec: dict[str, Any], types: dict[str, Any]) -> type[pulumi.ComponentResource]:
    def init(self: Any, name: str, opts: pulumi.ResourceOptions | None = None, **arguments: Any) -> None:
        inputs = _object(arguments, spec["inputProperties"], types)
        assert set(spec["requiredInputs"]) <= set(inputs)
        pulumi.ComponentResource.__init__(
            self, token, name, {**dict.fromkeys(spec["properties"]), **inputs}, opts, remote=True
        )

    outputs = {_snake(key): property(lambda self, key=key: self.__dict__[key]) for key in spec["properties"]}
    return type(token.rpartition(":")[2], (pulumi.ComponentResource,), {"__init__": init, **outputs})


def _object(given: dict[str, Any], properties: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    by_name = {_snake(key): key for key in properties}
    return {by_name[name]: _value(value, properties[by_name[name]], types) for name, value in given.items()}


def _value(value: Any, spec: dict[str, Any], types: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_value(item, spec["items"], types) for item in value]
    reference = spec.get("$ref")
    if "oneOf" in spec:
        reference = spec["discriminator"]["mapping"][value["provider"]]
    if isinstance(value, dict) and reference:
        return _object(value, types[reference.removeprefix("#/types/")]["properties"], types)
    return value


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()
