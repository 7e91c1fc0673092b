"""Excerpts of two long values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.excerpt import differing

LONG = "x" * 300
LINES = "\n".join(f"line {number}" for number in range(100))


@pytest.mark.parametrize("values", [("8", "9"), (None, LONG), (LONG, None), ('"a"', '"b"')])
def test_short_values_and_single_values_are_shown_whole(values: tuple[str | None, str | None]) -> None:
    assert differing(*values) == values


def test_long_lines_are_shown_around_their_difference() -> None:
    around = "x" * 39
    shown = differing(f'"{LONG}[1]{LONG}"', f'"{LONG}[2, 3]{LONG}"')
    assert shown == (f"…{around}[1]{around}…", f"…{around}[2, 3]{around}…")


def test_only_differing_lines_of_many_are_shown() -> None:
    other = LINES.replace("line 50", "line fifty") + "\nlast"
    assert differing(json.dumps(LINES), json.dumps(other)) == ("line 50", "line fifty\nlast")
    assert differing(json.dumps(LINES), json.dumps(LINES + "\nlast")) == ("…", "last")
    assert differing(json.dumps(LINES), json.dumps(LINES + "\n")) == ("…", "")


def test_lines_in_another_order_are_shown() -> None:
    moved = LINES.replace("line 40\n", "").replace("line 60\n", "line 60\nline 40\n")
    before, after = differing(json.dumps(LINES), json.dumps(moved))
    assert before != after


def test_many_equal_lines_are_compared_quickly() -> None:
    """`difflib.ndiff` compares each of such lines with each other one: this would take 10^10 steps."""
    values = [
        "\n".join(f"{number * step % 9973}{word}" for number in range(3000)) for step, word in ((7, "a"), (11, "b"))
    ]
    before, after = differing(*map(json.dumps, values))
    assert (before, after) == tuple(values)


@given(st.text(alphabet="ab\n", min_size=201), st.text(alphabet="ab\n"), st.text(alphabet="ab\n"))
def test_values_that_differ_never_look_alike(common: str, first: str, other: str) -> None:
    before, after = (json.dumps(common + part + common) for part in (first, other))
    shown = differing(before, after)
    assert (before == after) == (shown[0] == shown[1])
