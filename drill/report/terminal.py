"""The report as text for a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from drill.judge.verdict import State, printable
from drill.report.model import Comparison, Report
from drill.report.tables import (
    SAME,
    Table,
    comparison_tables,
    facts,
    sentence,
    settings_sentences,
    tables,
    verdict_rows,
)

_STATES: dict[State, Text] = {
    "holds": Text("holds", "green"),
    "explained": Text("explained", "yellow"),
    "red": Text("red", "bold red"),
    "note": Text("note", "dim"),
}
_COLOURS: dict[State, str] = {
    "holds": "bold",
    "explained": "bold yellow",
    "red": "bold red",
    "note": "bold",
}


def text(report: Report | Comparison) -> RenderableType:
    """Return what a terminal shows: the verdicts first, then the figures."""
    return _comparison(report) if isinstance(report, Comparison) else _report(report)


def _report(report: Report) -> RenderableType:
    parts: list[RenderableType] = [_text(caveat, "yellow") for caveat in report.caveats]
    parts += [
        _text(f"Drill: {report.scenario}", "bold"),
        _text(report.description),
        _text(sentence(report), "dim"),
        _numbers(report),
        _verdicts(report),
    ]
    parts += [part for table in tables(report) for part in _table(table)]
    parts += [_facts(report)]
    return Group(*parts)


def _comparison(comparison: Comparison) -> RenderableType:
    after = comparison.after
    parts: list[RenderableType] = [
        _text(caveat, "yellow") for caveat in (*after.caveats, *comparison.comparable)
    ]
    parts += [
        _text(f"Drill: {after.scenario}, two settings", "bold"),
        *(_text(words) for words in settings_sentences(comparison)),
        _text(sentence(after), "dim"),
        _numbers(comparison.before, after),
    ]
    parts += [_text(moved.sentence) for moved in comparison.moved] or [_text(SAME)]
    parts += [part for table in comparison_tables(comparison) for part in _table(table)]
    return Group(*parts, _text(""), _text("Verdicts after", "bold"), _verdicts(after))


def _numbers(*reports: Report) -> Grid:
    """Return the four numbers, a column for each report: one, or before and after."""
    grid = Grid(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=len(reports) == 2,
        header_style="dim",
    )
    for name in ("", "Before", "After") if len(reports) == 2 else ("", ""):
        grid.add_column(name, overflow="fold")
    grid.add_column(overflow="fold")
    for each in zip(*(report.numbers for report in reports), strict=True):
        values = [_text(number.value, _COLOURS[number.state]) for number in each]
        grid.add_row(_text(each[0].name), *values, _text(each[-1].words, "dim"))
    grid.add_row("")
    return grid


def _verdicts(report: Report) -> Grid:
    grid = Grid(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True, header_style="dim"
    )
    for name in ("", "Asked", "Measured", "Bound"):
        grid.add_column(name, overflow="fold")
    for verdict in verdict_rows(report):
        measured = _text(verdict.measured)
        if verdict.why:
            measured.append(f"\n{printable(verdict.why)}", "dim")
        grid.add_row(
            _STATES[verdict.state], _text(verdict.name), measured, _text(verdict.bound, "dim")
        )
    return grid


def _table(table: Table) -> list[RenderableType]:
    if not table.rows:
        return []
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in table.columns:
        grid.add_column(column.name, justify="right" if column.number else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(_text(cell) for cell in row))
    parts: list[RenderableType] = [_text(""), _text(table.title, "bold"), grid]
    return [*parts, _text(table.note, "dim")] if table.note else parts


def _facts(report: Report) -> RenderableType:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for name, value in facts(report):
        grid.add_row(_text(name, "dim"), _text(value))
    return Group(_text(""), _text("This drill", "bold"), grid)


def _text(words: str, style: str = "") -> Text:
    # Text, and no markup of rich: brackets in names are brackets.
    return Text(printable(words), style)
