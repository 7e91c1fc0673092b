"""The inputs and outputs of a resource type at any depth, read from an installed SDK's own classes.

Wire names, JSON types, enum values and required properties are the SDK's; nothing is listed here by hand.

Deliberately refuses more than a provider's own Check: unknown properties, wrong JSON types and values outside an enum are
failures here, where real providers let some of them pass to the service, which then refuses.
"""

from __future__ import annotations

import collections.abc
import enum
import importlib
import inspect
import re
import threading
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any

from pulumi import Output, _types

from sandbox.differences import join
from sandbox.provider import UNKNOWN, Props

_LOADING = threading.Lock()

# Azure's data collection streams are names of tables, and the SDK knows only some of them (custom ones there are as many as
# users make, and `Microsoft-ContainerInsights-Group-Default` is not among those listed).
_OPEN = re.compile(r"Known\w+Streams")


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


@cache
def module(package: str, token: str) -> tuple[Any, str]:
    """The SDK's module of a resource type and the name of its class. Raises KeyError for a type the SDK does not have."""
    _, place, name = token.split(":")
    # The SDK loads a module at the first use of a name in it, and does not expect two threads to do so at once.
    with _LOADING:
        # A bridged provider's tokens are `gcp:container/nodePool:NodePool`.
        found = importlib.import_module(f"{package}.{place.partition('/')[0]}")
        if not hasattr(found, name):
            raise KeyError(token)
    return found, name


@cache
def inputs_of(package: str, token: str) -> Fields:
    """The inputs of a resource type. Raises KeyError for a type the SDK does not have."""
    found, name = module(package, token)
    # The SDK calls the arguments `XInitArgs` where `XArgs` is taken by a nested type of that name.
    cls = getattr(found, f"{name}InitArgs", None) or getattr(found, f"{name}Args", None)
    if cls is None:
        raise KeyError(token)
    return fields_of(cls)


@cache
def outputs_of(package: str, token: str) -> Fields:
    found, name = module(package, token)
    types = _types.resource_types(getattr(found, name))
    return Fields({wire: _shape(annotation) for wire, annotation in types.items()}, frozenset())


@cache
def fields_of(cls: type) -> Fields:
    """The properties of an SDK argument or output class."""
    if not _types.is_input_type(cls):
        return Fields({w: _shape(a) for w, a in _types.output_type_types(cls).items()}, frozenset())
    names = _types.input_type_py_to_pulumi_names(cls)
    annotations = _types.input_type_types(cls)
    parameters = inspect.signature(cls).parameters
    required = {n for n, p in parameters.items() if n in names and p.default is inspect.Parameter.empty}
    return Fields(
        {wire: _shape(annotations[wire]) for wire in names.values()}, frozenset(names[name] for name in required)
    )


def _alternatives(annotation: Any) -> Iterator[Any]:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        for argument in typing.get_args(annotation):
            yield from _alternatives(argument)
    elif origin not in (collections.abc.Awaitable, Output) and annotation is not type(None):
        yield annotation


def _shape(annotation: Any) -> Shape:
    found = list(dict.fromkeys(_alternatives(annotation)))
    enums = [a for a in found if isinstance(a, type) and issubclass(a, enum.Enum)]
    if enums:
        closed = (e for e in enums if not _OPEN.fullmatch(e.__name__))
        return Shape("string", values=tuple(str(member.value) for e in closed for member in e))
    if len(found) != 1:
        return Shape("any")
    (only,) = found
    origin = typing.get_origin(only)
    if origin is collections.abc.Sequence:
        return Shape("array", item=_shape(typing.get_args(only)[0]))
    if origin is collections.abc.Mapping:
        return Shape("map", item=_shape(typing.get_args(only)[1]))
    scalars = {str: "string", bool: "boolean", int: "integer", float: "number"}
    if only in scalars:
        return Shape(scalars[only])
    if isinstance(only, type) and (_types.is_input_type(only) or _types.is_output_type(only)):
        return Shape("object", inside=partial(fields_of, only))
    return Shape("any")


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


class Wrong(StrEnum):
    """What can be wrong with a property."""

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
    """What is wrong with an object: unknown and missing properties and wrong types, with their paths."""
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
    actual, wanted = _json_type(value), "object" if shape.kind == "map" else shape.kind
    if actual != wanted and not (wanted == "number" and actual == "integer"):
        yield Problem(path, Wrong.VALUE, f"'{path}' should be of type {wanted} but is of type {actual}")
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


def as_inputs(fields: Fields, outputs: Props) -> Props:
    """Outputs reduced to what an input could hold."""
    shapes = fields.shapes
    return {n: _fitted(shapes[n], v, as_inputs) for n, v in outputs.items() if n in shapes and v is not None}


def preview(fields: Fields, inputs: Props) -> Props:
    """Outputs as a preview shows them: inputs where there are any, everything else unknown.

    Source: `PreviewOutputs` in pulumi-azure-native provider/pkg/convert.
    """
    shapes = fields.shapes
    return {n: _fitted(shape, inputs[n], preview) if n in inputs else UNKNOWN for n, shape in shapes.items()}


def _fitted(shape: Shape, value: Any, inside: Callable[[Fields, Props], Props]) -> Any:
    """A value as `shape` has it, with `inside` applied to every object of the SDK in it.

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
