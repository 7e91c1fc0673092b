"""The kept shapes are those of the SDK."""

from __future__ import annotations

import pytest

from sandbox.azure import azure_schema
from sandbox.azure.resources.azure_table import TYPES


@pytest.mark.process
def test_the_kept_shapes_are_those_of_the_installed_sdk() -> None:
    """Imports the SDK, which takes seconds. `python -m sandbox.azure.azure_schema` writes them again."""
    assert azure_schema.STORED.file.read_text(encoding="utf-8") == azure_schema.written_from_the_sdk()


def test_every_emulated_type_has_its_shapes_and_the_version_of_its_api() -> None:
    assert {
        token
        for token in TYPES
        if not azure_schema.STORED.outputs_of(token).shapes or not azure_schema.STORED.version_of(token)
    } == set()
