"""The inputs and outputs of the emulated types. `python -m sandbox.azure.schema` writes their file from `pulumi_azure_native`.

The SDK's modules for one cluster take a second to import, those of all types three.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from pathlib import Path

from sandbox.cloud.provider import Failure, Props
from sandbox.cloud.schema import Fields, Stored, Wrong, as_inputs, preview, problems, without_nulls

__all__ = ["api_version", "as_inputs", "failures", "inputs_of", "outputs_of", "preview", "without_nulls"]

FILE = Path(__file__).parent / "data" / "schema.json"

_STORED = Stored(FILE)
_VERSION = re.compile(r"Azure REST API version (\d{4}-\d{2}-\d{2}(?:-preview)?)")

inputs_of, outputs_of = _STORED.inputs_of, _STORED.outputs_of
api_version = _STORED.version_of
"""The REST API version of the SDK's default type."""


def failures(fields: Fields, value: Props) -> Iterator[Failure]:
    """What azure-native says is wrong with an object."""
    for found in problems(fields, value):
        if found.wrong is Wrong.VALUE:
            yield Failure(found.path, found.reason)
        else:
            said = "missing required" if found.wrong is Wrong.MISSING else "unknown"
            yield Failure(found.path, f"{said} property '{found.path}'")


def written_from_the_sdk() -> str:
    """The content of `FILE`."""
    from sandbox.azure.resources.resource_type import TABLE
    from sandbox.cloud import sdk

    def version(token: str) -> str:
        module, name = sdk.module(package, token)
        # The text stands in the docstrings of the constructor's overloads.
        texts = (overload.__doc__ or "" for overload in typing.get_overloads(getattr(module, name).__init__))
        found = (match.group(1) for match in map(_VERSION.search, texts) if match)
        return next(found, "")

    package, tokens = "pulumi_azure_native", sorted(TABLE)
    return sdk.written(
        {token: sdk.inputs_of(package, token) for token in tokens},
        {token: sdk.outputs_of(package, token) for token in tokens},
        {token: version(token) for token in tokens},
    )


if __name__ == "__main__":
    FILE.write_text(written_from_the_sdk(), encoding="utf-8")
