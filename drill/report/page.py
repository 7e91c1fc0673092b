"""The report as one HTML page that needs no network and no other file.

Every text is escaped: names and messages come from clusters and files of others.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from drill.judge.verdict import State, printable
from drill.report import charts
from drill.report.colours import DARK, LIGHT, variable
from drill.report.model import Comparison, Number, Report
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

_FOLDER = Path(__file__).parent
_STATES: dict[State, str] = {"holds": "good", "explained": "amber", "red": "bad", "note": "quiet"}
"""The class of each state: its colour stands beside the word."""

LARGEST = 2 * 1024**2
"""The most bytes of a report's page; a comparison may have twice as many."""


class Html(str):
    """Text that is markup: `Html("<br/>")`."""

    __slots__ = ()


_VOID = {"meta", "br"}


def element(name: str, /, *children: str, **attributes: str | None) -> Html:
    """Return an element. Plain strings are escaped, `Html` is not.

    An attribute's name may end in `_`; None leaves it out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Join texts and markup."""
    parts = (each if isinstance(each, Html) else escape(printable(each)) for each in children)
    return Html("".join(parts))


def page(report: Report) -> str:
    """Return the page of one report: the timeline, four numbers, the verdicts, then the figures."""
    body = joined(
        _head(f"Drill: {report.scenario}", report),
        element(
            "div",
            _timeline(report, charts.axes(report.timeline)),
            _numbers(report),
            _sum(report),
            class_="first",
        ),
        element("h2", "What was asked, and what came out"),
        _verdicts(report),
        *(_table(table) for table in tables(report)),
        element("h2", "This drill"),
        _facts(facts(report)),
    )
    return _document(f"Drill {report.scenario}, stack {report.stack}", body)


def comparison_page(comparison: Comparison) -> str:
    """Return the page of two reports: numbers, differences, both timelines on the same axes."""
    before, after = comparison.before, comparison.after
    ends = charts.axes(before.timeline, after.timeline)
    body = joined(
        _head(f"Drill: {after.scenario}, two settings", after, settings_sentences(comparison)),
        _notes(comparison.comparable),
        _numbers_of_both(before, after),
        _sum(after, "After: "),
        element("h2", "What differs"),
        _moved(comparison),
        *(_table(table) for table in comparison_tables(comparison)),
        element("h2", "Verdicts after"),
        _verdicts(after),
        element("h2", "Timeline before"),
        _timeline(before, ends),
        element("h2", "Timeline after"),
        _timeline(after, ends),
        element("h2", "The drill before"),
        _facts(facts(before)),
        element("h2", "The drill after"),
        _facts(facts(after)),
    )
    return _document(f"Drill {after.scenario}, two settings of stack {after.stack}", body)


def _moved(comparison: Comparison) -> Html:
    sentences = [moved.sentence.replace("`", "") for moved in comparison.moved]
    if not sentences:
        return element("p", SAME)
    return element("ul", *(element("li", each) for each in sentences))


def _document(title: str, body: Html) -> str:
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("title", title),
        Html(f"<style>{_colours()}{(_FOLDER / 'page.css').read_text(encoding='utf-8')}</style>"),
    )
    words = element("div", id="words", hidden="", role="status")
    shown = element("body", element("main", body), words, Html(f"<script>{script}</script>"))
    return "<!DOCTYPE html>\n" + element("html", head, shown, lang="en") + "\n"


def _colours() -> str:
    light, dark = (
        "".join(f"--{name}:{value};" for name, value in each.items()) for each in (LIGHT, DARK)
    )
    # Paper is white, whatever the reader's screen is.
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _head(title: str, report: Report, settings: Iterable[str] = ()) -> Html:
    return joined(
        element("h1", title),
        *(element("p", words) for words in settings),
        element("p", report.description),
        element("p", sentence(report), class_="soft"),
        _notes(report.caveats),
    )


def _numbers(report: Report) -> Html:
    parts = []
    for number in report.numbers:
        name, value = element("dt", number.name), element("dd", *_value(number))
        parts.append(element("div", name, value, class_=_STATES[number.state]))
    return element("dl", *parts, class_="numbers")


def _head_row(*names: str) -> Html:
    return element("tr", *(element("th", name, scope="col") for name in names))


def _numbers_of_both(before: Report, after: Report) -> Html:
    head = _head_row("", "Before", "After")
    rows = [
        element(
            "tr",
            element("th", pair[0].name, scope="row"),
            *(element("td", *_value(number), class_=_STATES[number.state]) for number in pair),
        )
        for pair in zip(before.numbers, after.numbers, strict=True)
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="numbers")


def _value(number: Number) -> tuple[Html, Html]:
    return element("strong", number.value), element("span", number.words)


def _sum(report: Report, before: str = "") -> Html:
    """Return one line on all verdicts: the red ones, and those that hold by an explanation."""
    words: list[str] = []
    state: State = "holds"
    worse: tuple[State, ...] = ("explained", "red")
    for each in worse:
        names = [verdict.name for verdict in report.verdicts if verdict.state == each]
        if names:
            number = "One verdict is" if len(names) == 1 else f"{len(names)} verdicts are"
            words.insert(0, f"{number} {each}: {', '.join(names)}.")
            state = each
    shown = " ".join(words) or "Every verdict that this scenario asks for holds."
    return element("p", before + shown, class_=f"sum {_STATES[state]}")


def _notes(notes: Iterable[str]) -> Html:
    paragraphs = [element("p", note) for note in notes]
    return element("div", *paragraphs, class_="notes") if paragraphs else Html("")


def _verdicts(report: Report) -> Html:
    rows = []
    for verdict in verdict_rows(report):
        state = element("span", verdict.state, class_=f"state {_STATES[verdict.state]}")
        cells = (
            element("td", state),
            element("th", verdict.name, scope="row"),
            element("td", verdict.measured, element("div", verdict.why, class_="why")),
            element("td", verdict.bound, data_label="bound:"),
        )
        rows.append(element("tr", *cells))
    head = element("thead", _head_row("", "Asked", "Measured", "Bound"))
    return element("table", head, element("tbody", *rows), class_="verdicts")


def _timeline(report: Report, ends: charts.Axes) -> Html:
    pictures = []
    for name, width in (("wide", charts.WIDE), ("narrow", charts.NARROW)):
        drawn = charts.svg(charts.spec(report.timeline, variable, width, ends))
        pictures.append(element("div", Html(drawn), class_=name))
    caption = "Move over the picture, or tap it, to read values and the autoscaler's words."
    if report.timeline.step:
        caption += f" {charts.steps_sentence(report.timeline)}"
    return element("figure", *pictures, element("figcaption", caption))


def _table(table: Table) -> Html:
    if not table.rows:
        return Html("")
    sides = ["number" if column.number else None for column in table.columns]
    names = zip(table.columns, sides, strict=True)
    head = [element("th", column.name, scope="col", class_=side) for column, side in names]
    rows = []
    for row in table.rows:
        cells = zip(row, sides, strict=True)
        rows.append(element("tr", *(element("td", cell, class_=side) for cell, side in cells)))
    shown = element("table", element("thead", element("tr", *head)), element("tbody", *rows))
    note = element("p", table.note, class_="soft") if table.note else Html("")
    return joined(element("h2", table.title), element("div", shown, class_="scroll"), note)


def _facts(pairs: Sequence[tuple[str, str]]) -> Html:
    parts = (joined(element("dt", name), element("dd", value)) for name, value in pairs)
    return element("dl", *parts)
