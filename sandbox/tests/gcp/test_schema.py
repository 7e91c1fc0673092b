"""The kept shapes are those of the SDK, and the tables of the sandbox's own are about things that exist."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from sandbox.cloud.schema import Fields
from sandbox.gcp import gcp_catalogue, gcp_schema
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.resources.gcp_resource_type import READ_FOR, TABLE, GcpType
from sandbox.gcp.resources.gcp_table import TYPES


@pytest.mark.process
def test_the_kept_shapes_are_those_of_the_installed_sdk() -> None:
    """Imports the SDK, which takes seconds. `python -m sandbox.gcp.gcp_schema` writes them again."""
    assert gcp_schema.STORED.file.read_text(encoding="utf-8") == gcp_schema.written_from_the_sdk()


def test_what_replaces_and_what_is_computed_was_read_for_the_installed_sdk() -> None:
    """With another SDK, compare `data/terraform.csv` with the provider's schema, then write its version down."""
    assert ".".join(version("pulumi-gcp").split(".")[:2]) == READ_FOR


def test_every_emulated_type_has_its_shapes() -> None:
    assert set(TABLE) == set(TYPES)


def exists(fields: Fields, path: list[str]) -> bool:
    name, rest = path[0].removesuffix("[]"), path[1:]
    shape = fields.shapes.get(name)
    inner = shape.item if shape and path[0].endswith("[]") else shape
    if inner is None:
        return False
    return not rest or bool(inner.inside and exists(inner.inside(), rest))


@pytest.mark.parametrize("kind", TYPES.values(), ids=lambda kind: kind.token)
def test_every_property_that_a_type_speaks_of_is_one_of_its(kind: GcpType) -> None:
    named = kind.replaces | kind.computed | kind.sets | kind.links | kind.maps | {*kind.defaults, *kind.checks}
    fields = gcp_schema.STORED.inputs_of(kind.token)
    assert {path for path in named | kind.virtual if not exists(fields, path.split("."))} == set()


def test_the_offer_of_gpus_is_in_zones_that_exist() -> None:
    offers = {name: list(zones) for name, zones in gcp_catalogue.gpu_offers().items()}
    assert {
        zone for zones in offers.values() for zone in zones if zone != "*" and not gcp_catalogue.location_exists(zone)
    } == set()
    built_in = {machine.gpu_model for machine in machines().values() if machine.gpu_model}
    attachable = {model for machine in machines().values() for model in machine.attachable}
    assert built_in | attachable <= offers.keys()
    assert not offers["nvidia-tesla-k80"]
    assert not offers["nvidia-tesla-p100"]
