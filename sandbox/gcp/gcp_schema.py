"""The inputs and outputs of the emulated types. `python -m sandbox.gcp.gcp_schema` writes their file from `pulumi_gcp`.

`pulumi_gcp.compute` alone takes four seconds to import, for four types.
"""

import importlib
from collections.abc import Iterator

from sandbox.cloud.facts import data
from sandbox.cloud.provider import Failure, Props
from sandbox.cloud.schema import Fields, Stored, Wrong, problems

STORED = Stored(data("gcp", "schema.json"))

FUNCTIONS = ("gcp:compute/getSubnetwork:getSubnetwork", "gcp:container/getCluster:getCluster")
"""Functions whose answer has objects in it."""


def failures(fields: Fields, value: Props, name: str) -> Iterator[Failure]:
    """Yield the faults of a resource of this name, in the bridge's words; it names no property beside its text."""
    for problem in problems(fields, value):
        if problem.wrong is Wrong.MISSING:
            yield Failure("", f"Missing required property '{problem.path}'")
        else:
            reason = "Invalid or unknown key" if problem.wrong is Wrong.UNKNOWN else problem.reason
            yield Failure("", f"{reason}. Examine values at '{name}.{problem.path}'.")


def written_from_the_sdk() -> str:
    """Return the content of the file."""
    from sandbox.cloud import sdk
    from sandbox.gcp.resources.gcp_resource_type import TABLE

    answers = {}
    for token in FUNCTIONS:
        _, place, name = token.split(":")
        module = importlib.import_module(f"pulumi_gcp.{place.partition('/')[0]}")
        answers[token] = sdk.fields_of(getattr(module, f"G{name[1:]}Result"))
    return sdk.types_written("pulumi_gcp", TABLE, answers)


if __name__ == "__main__":
    STORED.file.write_text(written_from_the_sdk(), encoding="utf-8")
