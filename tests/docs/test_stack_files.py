"""Stack files and parts of them that the documentation shows are good ones."""

from __future__ import annotations

import textwrap
from typing import Any

import jsonschema_rs
import pytest
import yaml

from config.stack_file import loader
from tests.docs.pages import PAGES, Block, blocks
from tests.docs.test_schema import SCHEMA_OF_FILES

SHOWN = [
    block for page in PAGES for block in blocks(page) if block.language == "yaml" and "kubeflow-spot:" in block.text
]
PART = {
    "type": "object",
    "properties": SCHEMA_OF_FILES["properties"]["config"]["properties"],
    "definitions": SCHEMA_OF_FILES["definitions"],
}
"""Some keys of a stack file."""


def content(block: Block) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(textwrap.dedent(block.text))
    return settings


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_a_block_of_a_stack_file_is_good(block: Block) -> None:
    shown = content(block)
    if "config" in shown:
        settings = {key.removeprefix("kubeflow-spot:"): value for key, value in shown["config"].items()}
        assert loader.read_stack(settings)[1] == []
    else:
        # The reader replaces the text in angle brackets.
        errors = jsonschema_rs.Draft7Validator(PART).iter_errors(shown)
        assert [error.message for error in errors if "<" not in str(error.instance)] == []


def test_there_are_whole_files_and_parts() -> None:
    assert len([block for block in SHOWN if "config" in content(block)]) >= 2
    assert len(SHOWN) >= 8
