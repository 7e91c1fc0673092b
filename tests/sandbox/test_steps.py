"""The engine's lines, without what it says twice."""

from __future__ import annotations

from sandbox.steps import Unrepeated


def test_the_second_report_of_a_program_error_is_left_out_with_its_lines_and_nothing_else_is() -> None:
    lines = [
        "  stack (dev):",
        "    error: 2 problems",
        "      a: is wrong",
        "    error: an unhandled error occurred: 2 problems",
        "      a: is wrong",
        "        do b",
        "    warning: other",
        "",
        "Resources:",
    ]
    told: list[str] = []
    report = Unrepeated(told.append)
    for line in lines:
        report(line)
    assert told == [*lines[:3], *lines[6:]]
