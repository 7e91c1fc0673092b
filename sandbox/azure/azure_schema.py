"""Inputs and outputs of the emulated types. `python -m sandbox.azure.azure_schema` writes their file from `pulumi_azure_native`.

The SDK's modules for one cluster take a second to import, those of all types three.
"""

import re
import typing
from collections.abc import Iterator

from sandbox.cloud.facts import data
from sandbox.cloud.provider import Failure, Props
from sandbox.cloud.schema import Fields, Stored, Wrong, problems

STORED = Stored(data("azure", "schema.json"))

_VERSION = re.compile(r"Azure REST API version (\d{4}-\d{2}-\d{2}(?:-preview)?)")


def failures(fields: Fields, value: Props) -> Iterator[Failure]:
    """Yield the faults of an object, in azure-native's words."""
    for problem in problems(fields, value):
        kind = {Wrong.MISSING: "missing required", Wrong.UNKNOWN: "unknown"}.get(problem.wrong)
        yield Failure(problem.path, f"{kind} property '{problem.path}'" if kind else problem.reason)


def written_from_the_sdk() -> str:
    """Return the content of the file."""
    from sandbox.azure.resources.azure_resource_type import TABLE
    from sandbox.cloud import sdk

    def version(token: str) -> str:
        module, name = sdk.module("pulumi_azure_native", token)
        # The text stands in the docstrings of the constructor's overloads.
        texts = (overload.__doc__ or "" for overload in typing.get_overloads(getattr(module, name).__init__))
        return next((match.group(1) for match in map(_VERSION.search, texts) if match), "")

    return sdk.types_written("pulumi_azure_native", TABLE, versions={token: version(token) for token in sorted(TABLE)})


if __name__ == "__main__":
    STORED.file.write_text(written_from_the_sdk(), encoding="utf-8")
