"""Shapes from an SDK's classes, written to a file and read again."""

from functools import partial
from pathlib import Path

import pytest

from sandbox.azure.resources.azure_requests import CLUSTER
from sandbox.cloud import sdk
from sandbox.cloud.schema import Fields, Shape, Stored

AZURE = "pulumi_azure_native"
SUBNET = "azure-native:network:Subnet"


@pytest.mark.process
@pytest.mark.parametrize("token", [CLUSTER, SUBNET])
def test_shapes_of_an_sdk_survive_the_file(token: str, tmp_path: Path) -> None:
    """Enums, maps, required properties; a subnet's outputs contain objects that contain themselves."""
    inputs, outputs = sdk.inputs_of(AZURE, token), sdk.outputs_of(AZURE, token)
    file = tmp_path / "schema.json"
    file.write_text(sdk.written({token: inputs}, {token: outputs}, {token: "2025-09-01"}))
    stored = Stored(file)
    read = {token: stored.inputs_of(token)}, {token: stored.outputs_of(token)}, {token: stored.version_of(token)}
    assert sdk.written(*read) == file.read_text()
    with pytest.raises(KeyError):
        stored.inputs_of("azure-native:network:Other")


def test_an_object_within_itself_and_equal_objects_are_written_once(tmp_path: Path) -> None:
    def tree() -> Fields:
        return node

    node = Fields({"name": Shape("string"), "children": Shape("array", item=Shape("object", inside=tree))}, frozenset())
    leaf, twin = (Fields({"size": Shape("integer")}, frozenset({"size"})) for _ in range(2))
    root = Fields(
        {
            name: Shape("object", inside=partial(lambda fields: fields, fields))
            for name, fields in (("a", leaf), ("b", twin))
        }
        | {"tree": Shape("object", inside=tree)},
        frozenset(),
    )
    file = tmp_path / "schema.json"
    file.write_text(sdk.written({"t": root}, {}))
    assert len(file.read_text().splitlines()) == 3 + len(["leaf", "node", "root"]) + 1
    read = Stored(file).inputs_of("t")
    assert sdk.written({"t": read}, {}) == file.read_text()
    inner = read.shapes["tree"].inside
    assert inner
    children = inner().shapes["children"].item
    assert children
    assert children.inside
    assert children.inside() is inner()
