"""The inputs and outputs of Azure's resource types, from the classes of `pulumi_azure_native` (see `sandbox.schema`).

The SDK module of a type is imported when the type is first used (about 0.1 s; `network` more).
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from functools import cache

from sandbox import schema
from sandbox.provider import Failure, Props
from sandbox.schema import Fields, Wrong, as_inputs, preview, without_nulls

__all__ = ["api_version", "as_inputs", "failures", "inputs_of", "outputs_of", "preview", "without_nulls"]

_SDK = "pulumi_azure_native"
_VERSION = re.compile(r"Azure REST API version (\d{4}-\d{2}-\d{2}(?:-preview)?)")


def inputs_of(token: str) -> Fields:
    """The inputs of a resource type. Raises KeyError for a type the SDK does not have."""
    return schema.inputs_of(_SDK, token)


def outputs_of(token: str) -> Fields:
    return schema.outputs_of(_SDK, token)


@cache
def api_version(token: str) -> str:
    """The REST API version the SDK's default type uses."""
    module, name = schema.module(_SDK, token)
    # The text stands in the docstrings of the constructor's overloads.
    texts = (overload.__doc__ or "" for overload in typing.get_overloads(getattr(module, name).__init__))
    found = (match.group(1) for match in map(_VERSION.search, texts) if match)
    return next(found, "")


def failures(fields: Fields, value: Props) -> Iterator[Failure]:
    """What azure-native says is wrong with an object."""
    for found in schema.problems(fields, value):
        if found.wrong is Wrong.VALUE:
            yield Failure(found.path, found.reason)
        else:
            said = "missing required" if found.wrong is Wrong.MISSING else "unknown"
            yield Failure(found.path, f"{said} property '{found.path}'")
