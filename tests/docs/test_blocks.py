"""Blocks of the documentation: a command makes each console block, and stack files and parts of them are good ones."""

import textwrap
from typing import Any

import jsonschema_rs
import pytest
import yaml

from config.stack_file import loader
from tests.docs import console
from tests.docs.pages import PAGES, PROJECT, Block, blocks
from tests.docs.test_schema import SCHEMA_OF_FILES

BLOCKS = console.console_blocks()
CHECKED_BLOCKS = [block for block in BLOCKS if console.CHECKED.fullmatch(block.above)]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_says_what_made_it(block: Block) -> None:
    checked, recorded = console.CHECKED.fullmatch(block.above), console.RECORDED.fullmatch(block.above)
    assert checked or recorded, f"{block}: see tests/docs/console.py"
    if checked:
        assert checked[1] in console.MADE
    if recorded and recorded[1]:
        assert (PROJECT / recorded[1]).exists()


@pytest.mark.program
@pytest.mark.parametrize("block", CHECKED_BLOCKS, ids=str)
def test_a_checked_block_is_what_its_command_prints(block: Block) -> None:
    assert block.text == console.renewed(block), "python -m tests.docs.console"


def test_everything_that_is_made_is_shown() -> None:
    shown = [mark[1] for block in CHECKED_BLOCKS if (mark := console.CHECKED.fullmatch(block.above))]
    assert sorted(shown) == sorted(console.MADE)


def test_a_block_without_a_mark_is_detected() -> None:
    for above in ("", "Some text:", "<!-- checked -->", "<!-- recorded: make up -->"):
        assert not console.CHECKED.fullmatch(above)
        assert not console.RECORDED.fullmatch(above)


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
