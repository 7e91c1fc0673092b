"""The inputs and outputs of a resource type at any depth: wire names, JSON types, enum values and required properties.

They are an SDK's own, kept in a file of this package because the SDKs take seconds to import (`sandbox.cloud.sdk` writes it and a
test holds it against the SDK).

Deliberately refuses more than a provider's own Check: unknown properties, wrong JSON types and values outside an enum are
failures here, where real providers let some of them pass to the service, which then refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from sandbox.cloud.provider import UNKNOWN, Props, join


@dataclass(frozen=True)
class Shape:
    """The JSON type of a value: a scalar, an object with its own fields, or a list or map of another shape."""

    kind: str
    item: Shape | None = None
    inside: Callable[[], Fields] | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fields:
    """The properties of an object by wire name, and the names of those that are required."""

    shapes: dict[str, Shape]
    required: frozenset[str]


class Stored:
    """The shapes in a file, which is read when the first is asked for.

    `shapes` has the fields of each object: a name ends in `!` where the property is required; a shape is the JSON type, `[item]`,
    `{"*": item}` for a map, `{"=": values}` for an enum, or the number of an object. `inputs` and `outputs` have that number for
    each type, `versions` the version of the API.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known: dict[int, Fields] = {}

    def inputs_of(self, token: str) -> Fields:
        """Return the inputs of a type. Raises KeyError for one that is not in the file."""
        return self._fields(self._content["inputs"][token])

    def outputs_of(self, token: str) -> Fields:
        """Return the outputs of a type or function. Raises KeyError for one that is not in the file."""
        return self._fields(self._content["outputs"][token])

    def version_of(self, token: str) -> str:
        """Return the version of the API that a type uses. Raises KeyError for one that is not in the file."""
        return str(self._content["versions"][token])

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return content

    def _fields(self, number: int) -> Fields:
        if number not in self._known:
            stored: dict[str, Any] = self._content["shapes"][number]
            self._known[number] = Fields(
                {name.removesuffix("!"): self._shape(shape) for name, shape in stored.items()},
                frozenset(name[:-1] for name in stored if name.endswith("!")),
            )
        return self._known[number]

    def _shape(self, stored: Any) -> Shape:
        if isinstance(stored, list):
            return Shape("array", item=self._shape(stored[0]))
        if isinstance(stored, dict) and "=" in stored:
            return Shape("string", values=tuple(stored["="]))
        if isinstance(stored, dict):
            return Shape("map", item=self._shape(stored["*"]))
        if isinstance(stored, int):
            return Shape("object", inside=partial(self._fields, stored))
        return Shape(str(stored))


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


class Wrong(StrEnum):
    """The kinds of faults of a property."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    VALUE = "value"


@dataclass(frozen=True)
class Problem:
    """One property that is wrong: its path, and for a value what is wrong with it."""

    path: str
    wrong: Wrong
    reason: str = ""


def problems(fields: Fields, value: Props, path: str = "") -> Iterator[Problem]:
    """Yield the faults of an object: unknown and missing properties and wrong types, with their paths."""
    for name in sorted(fields.required - value.keys()):
        yield Problem(join(path, name), Wrong.MISSING)
    for name, item in value.items():
        where = join(path, name)
        if name not in fields.shapes:
            yield Problem(where, Wrong.UNKNOWN)
        else:
            yield from _value_problems(fields.shapes[name], item, where)


def _value_problems(shape: Shape, value: Any, path: str) -> Iterator[Problem]:
    if value == UNKNOWN or shape.kind == "any":
        return
    actual, expected = _json_type(value), "object" if shape.kind == "map" else shape.kind
    if actual != expected and not (expected == "number" and actual == "integer"):
        yield Problem(path, Wrong.VALUE, f"'{path}' should be of type {expected} but is of type {actual}")
    elif shape.values and value not in shape.values:
        yield Problem(path, Wrong.VALUE, f"'{path}' is '{value}' but should be one of {', '.join(shape.values)}")
    elif shape.kind == "array" and shape.item:
        for index, item in enumerate(value):
            yield from _value_problems(shape.item, item, join(path, index))
    elif shape.kind == "map" and shape.item:
        for name, item in value.items():
            yield from _value_problems(shape.item, item, join(path, name))
    elif shape.inside:
        yield from problems(shape.inside(), value, path)


def without_nulls(value: Any) -> Any:
    """Drop null properties at any depth, as providers' Checks do."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(v) for v in value]
    return value


def without_empty(value: Any) -> Any:
    """Drop empty lists and objects at any depth, and what becomes empty thereby."""
    if isinstance(value, dict):
        inner = {k: without_empty(v) for k, v in value.items()}
        return {k: v for k, v in inner.items() if v not in ({}, [])}
    if isinstance(value, list):
        return [v for v in map(without_empty, value) if v not in ({}, [])]
    return value


def as_inputs(fields: Fields, outputs: Props) -> Props:
    """Return outputs reduced to what an input could hold."""
    shapes = fields.shapes
    return {n: _fitted(shapes[n], v, as_inputs) for n, v in outputs.items() if n in shapes and v is not None}


def preview(fields: Fields, inputs: Props) -> Props:
    """Return outputs as a preview shows them: values of inputs, everything else unknown.

    Source: `PreviewOutputs` in pulumi-azure-native provider/pkg/convert.
    """
    shapes = fields.shapes
    return {n: _fitted(shape, inputs[n], preview) if n in inputs else UNKNOWN for n, shape in shapes.items()}


def _fitted(shape: Shape, value: Any, inside: Callable[[Fields, Props], Props]) -> Any:
    """Return a value as `shape` has it, with `inside` applied to every object of the SDK in it.

    A list of ids is a map in the service's answer (`userAssignedIdentities`): as an input it becomes a list again, and
    before the service has answered the map is unknown.
    """
    if shape.kind == "array" and isinstance(value, dict):
        return sorted(value)
    if shape.kind == "map" and isinstance(value, list):
        return UNKNOWN
    if shape.kind == "array" and isinstance(value, list) and shape.item:
        return [_fitted(shape.item, item, inside) for item in value]
    if shape.kind == "map" and isinstance(value, dict) and shape.item:
        return {k: _fitted(shape.item, item, inside) for k, item in value.items()}
    if shape.inside and isinstance(value, dict):
        return inside(shape.inside(), value)
    return value
