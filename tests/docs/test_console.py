"""Each console block of the documentation is made by a command, and says by which."""

from __future__ import annotations

import pytest

from tests.docs import console
from tests.docs.pages import PROJECT, Block

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
