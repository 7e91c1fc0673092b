"""The inputs and outputs of the emulated types, from a file that was written from the SDK's own classes.

`pulumi_gcp.compute` alone takes four seconds to import, for four types. So `data/schema.json` has the shapes of the types that
are emulated, and a test holds it against the SDK. `python -m sandbox.gcp.schema` writes it again.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from sandbox.provider import Failure, Props
from sandbox.schema import Fields, Shape, Wrong, problems

FILE = Path(__file__).parent / "data" / "schema.json"

RESOURCES = (
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
    "gcp:compute/network:Network",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:serviceaccount/account:Account",
)
FUNCTIONS = ("gcp:compute/getSubnetwork:getSubnetwork", "gcp:container/getCluster:getCluster")
"""Those whose answer has objects in it."""


@cache
def inputs_of(token: str) -> Fields:
    """The inputs of an emulated type. Raises KeyError for another."""
    return _fields(_stored()["inputs"][token])


@cache
def outputs_of(token: str) -> Fields:
    """The outputs of an emulated type or function. Raises KeyError for another."""
    return _fields(_stored()["outputs"][token])


def failures(fields: Fields, value: Props, name: str) -> Iterator[Failure]:
    """What the bridge says is wrong with a resource of this name; it names no property beside its text."""
    for found in problems(fields, value):
        if found.wrong is Wrong.MISSING:
            yield Failure("", f"Missing required property '{found.path}'")
        else:
            reason = "Invalid or unknown key" if found.wrong is Wrong.UNKNOWN else found.reason
            yield Failure("", f"{reason}. Examine values at '{name}.{found.path}'.")


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def _fields(number: int) -> Fields:
    stored: dict[str, Any] = _stored()["shapes"][number]
    return Fields(
        {name.removesuffix("!"): _shape(shape) for name, shape in stored.items()},
        frozenset(name[:-1] for name in stored if name.endswith("!")),
    )


def _shape(stored: Any) -> Shape:
    if isinstance(stored, list):
        return Shape("array", item=_shape(stored[0]))
    if isinstance(stored, dict):
        return Shape("map", item=_shape(stored["*"]))
    if isinstance(stored, int):
        return Shape("object", inside=partial(_fields, stored))
    return Shape(str(stored))


def written_from_the_sdk() -> str:
    """What `FILE` is to hold: shapes that are the same stand once, and refer to each other by number."""
    from sandbox import schema

    shapes: dict[str, int] = {}

    def stored(fields: Fields) -> int:
        names = {f"{n}!" if n in fields.required else n: of(s) for n, s in sorted(fields.shapes.items())}
        return shapes.setdefault(json.dumps(names), len(shapes))

    def of(shape: Shape) -> Any:
        if shape.inside:
            return stored(shape.inside())
        if shape.item:
            return [of(shape.item)] if shape.kind == "array" else {"*": of(shape.item)}
        return shape.kind

    sdk = "pulumi_gcp"
    inputs = {token: stored(schema.inputs_of(sdk, token)) for token in RESOURCES}
    outputs = {token: stored(schema.outputs_of(sdk, token)) for token in RESOURCES}
    for token in FUNCTIONS:
        _, place, name = token.split(":")
        module = importlib.import_module(f"{sdk}.{place.partition('/')[0]}")
        outputs[token] = stored(schema.fields_of(getattr(module, f"G{name[1:]}Result")))
    lines = ",\n".join(shapes)
    return f'{{"inputs": {json.dumps(inputs)},\n"outputs": {json.dumps(outputs)},\n"shapes": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    FILE.write_text(written_from_the_sdk(), encoding="utf-8")
