"""The inputs and outputs of resource types, read from an installed SDK's own classes, and the text of the file that keeps them.

Nothing is listed by hand. Imports the SDKs, which takes seconds: no command does it, `sandbox.cloud.schema` reads the file.
"""

import collections.abc
import enum
import importlib
import inspect
import json
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from pulumi import Output, _types

from sandbox.cloud.schema import Fields, Shape

# Azure's data collection streams are names of tables, and the SDK knows only some of them (users add
# custom ones, and `Microsoft-ContainerInsights-Group-Default` is not among those listed).
_OPEN = re.compile(r"Known\w+Streams")


@cache
def module(package: str, token: str) -> tuple[Any, str]:
    """Return the SDK's module of a resource type and the name of its class. Raises KeyError for a type the SDK does not have."""
    _, place, name = token.split(":")
    # A bridged provider's tokens are `gcp:container/nodePool:NodePool`.
    sdk_module = importlib.import_module(f"{package}.{place.partition('/')[0]}")
    if not hasattr(sdk_module, name):
        raise KeyError(token)
    return sdk_module, name


@cache
def inputs_of(package: str, token: str) -> Fields:
    """Return the inputs of a resource type. Raises KeyError for a type the SDK does not have."""
    sdk_module, name = module(package, token)
    # The SDK calls the arguments `XInitArgs` where `XArgs` is taken by a nested type of that name.
    cls = getattr(sdk_module, f"{name}InitArgs", None) or getattr(sdk_module, f"{name}Args", None)
    if cls is None:
        raise KeyError(token)
    return fields_of(cls)


@cache
def outputs_of(package: str, token: str) -> Fields:
    sdk_module, name = module(package, token)
    types = _types.resource_types(getattr(sdk_module, name))
    return Fields({wire: _shape(annotation) for wire, annotation in types.items()}, frozenset())


@cache
def fields_of(cls: type) -> Fields:
    """Return the properties of an SDK argument or output class."""
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
    alternatives = list(dict.fromkeys(_alternatives(annotation)))
    enums = [a for a in alternatives if isinstance(a, type) and issubclass(a, enum.Enum)]
    if enums:
        closed = (e for e in enums if not _OPEN.fullmatch(e.__name__))
        return Shape("string", values=tuple(str(member.value) for e in closed for member in e))
    if len(alternatives) != 1:
        return Shape("any")
    (only,) = alternatives
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


def types_written(
    package: str,
    tokens: Iterable[str],
    answers: Mapping[str, Fields] | None = None,
    versions: Mapping[str, str] | None = None,
) -> str:
    """Return the content of a cloud's file: its resource types, and the answers of functions."""
    outputs = {token: outputs_of(package, token) for token in sorted(tokens)}
    return written({token: inputs_of(package, token) for token in outputs}, {**outputs, **(answers or {})}, versions)


def written(
    inputs: Mapping[str, Fields], outputs: Mapping[str, Fields], versions: Mapping[str, str] | None = None
) -> str:
    """Return the content of a file for `sandbox.cloud.schema.Stored`: equal shapes stand once, and refer to each other
    by number.
    """
    lines: list[str] = []
    equal: dict[str, int] = {}
    known: dict[int, int | None] = {}

    def stored(fields: Fields) -> int:
        if id(fields) in known:
            number = known[id(fields)]
            if number is None:
                # Within itself: its number is needed before its content is known.
                known[id(fields)] = number = len(lines)
                lines.append("")
            return number
        known[id(fields)] = None
        line = json.dumps({f"{n}!" if n in fields.required else n: of(s) for n, s in sorted(fields.shapes.items())})
        number = known[id(fields)]
        if number is not None:
            lines[number] = line
        elif line in equal:
            number = equal[line]
        else:
            number = equal[line] = len(lines)
            lines.append(line)
        known[id(fields)] = number
        return number

    def of(shape: Shape) -> Any:
        if shape.inside:
            return stored(shape.inside())
        if shape.item:
            return [of(shape.item)] if shape.kind == "array" else {"*": of(shape.item)}
        return {"=": shape.values} if shape.values else shape.kind

    numbers = {
        "inputs": {token: stored(fields) for token, fields in inputs.items()},
        "outputs": {token: stored(fields) for token, fields in outputs.items()},
    }
    parts = {**numbers, **({"versions": versions} if versions else {})}
    heads = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in parts.items()]
    kept = ",\n".join(lines)
    return "{" + ",\n".join([*heads, f'"shapes": [\n{kept}\n]']) + "}\n"
