"""The inputs and outputs of the emulated types. `python -m sandbox.gcp.schema` writes their file from `pulumi_gcp`.

`pulumi_gcp.compute` alone takes four seconds to import, for four types.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from sandbox.cloud.provider import Failure, Props
from sandbox.cloud.schema import Fields, Stored, Wrong, problems

FILE = Path(__file__).parent / "data" / "schema.json"

FUNCTIONS = ("gcp:compute/getSubnetwork:getSubnetwork", "gcp:container/getCluster:getCluster")
"""Those whose answer has objects in it."""


_STORED = Stored(FILE)

inputs_of, outputs_of = _STORED.inputs_of, _STORED.outputs_of


def failures(fields: Fields, value: Props, name: str) -> Iterator[Failure]:
    """What the bridge says is wrong with a resource of this name; it names no property beside its text."""
    for found in problems(fields, value):
        if found.wrong is Wrong.MISSING:
            yield Failure("", f"Missing required property '{found.path}'")
        else:
            reason = "Invalid or unknown key" if found.wrong is Wrong.UNKNOWN else found.reason
            yield Failure("", f"{reason}. Examine values at '{name}.{found.path}'.")


def written_from_the_sdk() -> str:
    """The content of `FILE`."""
    from sandbox.cloud import sdk
    from sandbox.gcp.resources.resource_type import TABLE

    package = "pulumi_gcp"
    inputs = {token: sdk.inputs_of(package, token) for token in sorted(TABLE)}
    outputs = {token: sdk.outputs_of(package, token) for token in sorted(TABLE)}
    for token in FUNCTIONS:
        _, place, name = token.split(":")
        module = importlib.import_module(f"{package}.{place.partition('/')[0]}")
        outputs[token] = sdk.fields_of(getattr(module, f"G{name[1:]}Result"))
    return sdk.written(inputs, outputs)


if __name__ == "__main__":
    FILE.write_text(written_from_the_sdk(), encoding="utf-8")
