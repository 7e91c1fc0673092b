"""The engine's lines, without what it says twice."""

from __future__ import annotations

from sandbox.engine.steps import Unrepeated, without_advice


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


def test_what_the_engine_advises_after_a_deletion_is_left_out_and_nothing_else_is() -> None:
    lines = ["Resources:", "    - 21 deleted", "", "Duration: 4s", ""]
    advice = [
        "The resources in the stack have been deleted, but the history and configuration associated with the stack are still"
        " maintained. ",
        "If you want to remove the stack completely, run `pulumi stack rm dev`.",
    ]
    told: list[str] = []
    for line in [*lines, *advice]:
        without_advice(told.append)(line)
    assert told == lines
