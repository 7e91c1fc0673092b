"""The inputs and outputs of a resource type at any depth, read from the installed SDK's own classes.

Wire names, JSON types, enum values and required properties are those of `pulumi_azure_native`; nothing is listed here by hand.
The SDK module of a type is imported when the type is first used (about 0.1 s; `network` more).

Deliberately refuses more than azure-native's own Check: unknown properties, wrong JSON types and values outside an enum
are failures here, where the real provider lets some of them pass to the service, which then refuses.
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
from functools import cache
from typing import Any

from pulumi import Output, _types

from sandbox.differences import join
from sandbox.provider import UNKNOWN, Failure, Props

_LOADING = threading.Lock()

# Data collection streams are names of tables, and the SDK knows only some of them (custom ones there are as many as
# users make, and `Microsoft-ContainerInsights-Group-Default` is not among those listed).
_OPEN = re.compile(r"Known\w+Streams")

_VERSION = re.compile(r"Azure REST API version (\d{4}-\d{2}-\d{2}(?:-preview)?)")


@dataclass(frozen=True)
class Shape:
    """The JSON type of a value: a scalar, an object class of the SDK, or a list or map of another shape."""

    kind: str
    item: Shape | None = None
    cls: type | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fields:
    """The properties of an object by wire name, and the names of those that are required."""

    shapes: dict[str, Shape]
    required: frozenset[str]


@cache
def _module(token: str) -> tuple[Any, str]:
    _, module, name = token.split(":")
    # The SDK loads a module at the first use of a name in it, and does not expect two threads to do so at once.
    with _LOADING:
        found = importlib.import_module(f"pulumi_azure_native.{module}")
        if not hasattr(found, name):
            raise KeyError(token)
    return found, name


@cache
def inputs_of(token: str) -> Fields:
    """The inputs of a resource type.

    Raises KeyError for a type the SDK does not have.
    """
    module, name = _module(token)
    # The SDK calls the arguments `XInitArgs` where `XArgs` is taken by a nested type of that name.
    cls = getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args", None)
    if cls is None:
        raise KeyError(token)
    return fields_of(cls)


@cache
def outputs_of(token: str) -> Fields:
    module, name = _module(token)
    found = _types.resource_types(getattr(module, name))
    return Fields({wire: _shape(annotation) for wire, annotation in found.items()}, frozenset())


@cache
def api_version(token: str) -> str:
    """The REST API version the SDK's default type uses."""
    module, name = _module(token)
    # The text stands in the docstrings of the constructor's overloads.
    texts = (overload.__doc__ or "" for overload in typing.get_overloads(getattr(module, name).__init__))
    found = (match.group(1) for match in map(_VERSION.search, texts) if match)
    return next(found, "")


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
        return Shape("object", cls=only)
    return Shape("any")


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


def failures(fields: Fields, value: Props, path: str = "") -> Iterator[Failure]:
    """What is wrong with an object: unknown and missing properties and wrong types, with their paths."""
    for name in sorted(fields.required - value.keys()):
        yield Failure(join(path, name), f"missing required property '{join(path, name)}'")
    for name, item in value.items():
        where = join(path, name)
        if name not in fields.shapes:
            yield Failure(where, f"unknown property '{where}'")
        else:
            yield from _value_failures(fields.shapes[name], item, where)


def _value_failures(shape: Shape, value: Any, path: str) -> Iterator[Failure]:
    if value == UNKNOWN or shape.kind == "any":
        return
    actual, wanted = _json_type(value), "object" if shape.kind == "map" else shape.kind
    if actual != wanted and not (wanted == "number" and actual == "integer"):
        yield Failure(path, f"'{path}' should be of type {wanted} but is of type {actual}")
    elif shape.values and value not in shape.values:
        yield Failure(path, f"'{path}' is '{value}' but should be one of {', '.join(shape.values)}")
    elif shape.kind == "array" and shape.item:
        for index, item in enumerate(value):
            yield from _value_failures(shape.item, item, join(path, index))
    elif shape.kind == "map" and shape.item:
        for name, item in value.items():
            yield from _value_failures(shape.item, item, join(path, name))
    elif shape.cls:
        yield from failures(fields_of(shape.cls), value, path)


def without_nulls(value: Any) -> Any:
    """Drop null properties at any depth, as azure-native's Check does."""
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
    if shape.cls and isinstance(value, dict):
        return inside(fields_of(shape.cls), value)
    return value
