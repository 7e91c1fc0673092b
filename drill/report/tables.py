"""Tables and sentences that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drill.judge.outcome import ALONE
from drill.judge.verdict import Verdict, span
from drill.report.compare import written
from drill.report.model import Comparison, Figure, Report

MOST_ROWS = 40
"""The most rows of a table; JSON has all rows."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table of texts, left out without rows: `Table("Pods", columns("Pool", "#Pods"), rows)`."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def columns(*names: str) -> tuple[Column, ...]:
    """Return columns by their names; a name with `#` is a column of numbers."""
    return tuple(Column(name.removeprefix("#"), name.startswith("#")) for name in names)


def verdict_rows(report: Report) -> list[Verdict]:
    """Return the verdicts: red ones first, then explained ones."""
    return sorted(
        report.verdicts, key=lambda verdict: (verdict.state != "red", verdict.state != "explained")
    )


def sentence(report: Report) -> str:
    """Say where the drill ran, how long, and with which autoscaler."""
    cloud = {"azure": "AKS", "gcp": "GKE"}.get(report.provider, report.provider)
    place = f"Stack {report.stack}, {cloud} in {report.location}, {span(report.clock.length)}"
    return f"{place}, autoscaler: {report.autoscaler}."


def tables(report: Report) -> list[Table]:
    """Return the tables of a report after its verdicts."""
    return [
        _policies(report),
        _figures(report),
        _placed(report),
        _pools(report),
        _not_moved(report),
        _losses(report),
    ]


def _policies(report: Report) -> Table:
    names = ("Policy", "#USD", "#Saved", "#Longest wait", "#GPU-days waited", "#GPU hours on spot")
    alone = next((row.outcome.usd for row in report.policies if row.policy == ALONE), None)
    rows = tuple(
        (
            row.policy,
            _known(row.outcome.usd),
            "-"
            if not alone or row.outcome.usd is None or row.policy == ALONE
            else f"{1 - row.outcome.usd / alone:.0%}",
            span(row.outcome.longest_wait),
            f"{row.outcome.waited / 86400:,.2f}",
            "-" if row.outcome.on_spot is None else f"{row.outcome.on_spot:.0%}",
            f"{row.outcome.again:.1%}",
            f"{row.outcome.unfinished:,}" if row.outcome.unfinished else "-",
        )
        for row in report.policies
    )
    note = (
        "Saved: against on demand alone. Each policy has the same work and the same spot machines,"
        " in a drill in memory. The drill's own figures may differ: its cost by about one percent,"
        " the longest wait by more where pods queue for a full pool."
    )
    if any(row.outcome.unfinished for row in report.policies):
        note += " Unfinished are pieces of work: what is not done costs nothing, and is no saving."
    heads = columns(*names, "#Done again", "#Unfinished")
    return Table("The same work by fixed policies", heads, rows, note)


def _figures(report: Report) -> Table:
    rows = tuple(
        (figure.name, written(figure))
        for figure in report.figures
        if figure.value is not None and figure.key != "red_verdicts"
    )
    return Table("Figures", columns("Figure", "#Value"), rows, report.best)


def _placed(report: Report) -> Table:
    names = ("Role", "Pool", "#Pods", "#Pod-hours", "#Evicted or drained", "#Work done again")
    rows = tuple(
        (
            each.role,
            f"{each.pool} ({each.capacity})" if each.pool else "no node",
            f"{each.pods:,}",
            f"{each.pod_hours:,.1f}",
            f"{each.restarts:,}" if each.restarts else "-",
            span(each.lost) if each.lost else "-",
        )
        for each in report.placed
    )
    return Table("Who ran where", columns(*names), rows[:MOST_ROWS], _more(rows))


def _pools(report: Report) -> Table:
    names = ("Pool", "Machine", "#Most nodes", "#Machine-hours", "#USD an hour", "#USD")
    used = [each for each in report.pools if each.peak or each.gpus]
    rows = tuple(
        (
            f"{each.name} ({each.capacity})",
            each.machine,
            f"{each.peak:,}" + (f" of {each.most:,}" if each.most is not None else ""),
            f"{each.machine_hours:,.1f}",
            _known(each.price, 3),
            _known(each.cost),
        )
        for each in used
    )
    note = ""
    if report.price_source:
        note = f"Prices: {report.price_source}. Machines only, from their request to their end."
    return Table("Machine-hours and cost", columns(*names), rows[:MOST_ROWS], note)


def _not_moved(report: Report) -> Table:
    names = ("On-demand pool", "Spot pools with room", "#Machine-hours", "#USD more than on spot")
    rows = tuple(
        (each.pool, ", ".join(each.spot), f"{each.machine_hours:,.1f}", _known(each.extra))
        for each in report.not_moved
        if each.machine_hours
    )
    note = "Hours in which pods that may run on spot stayed on demand while spot had room"
    note += ": on AKS nothing moves a running pod back." if report.provider == "azure" else "."
    return Table("Not moved back to spot", columns(*names), rows[:MOST_ROWS], note)


def _losses(report: Report) -> Table:
    names = ("Pool", "Lost to", "Setting", "#Machine-hours", "#USD")
    rows = tuple(
        (
            each.pool or "all",
            each.cause,
            each.setting or "-",
            f"{each.seconds / 3600:,.1f}" if each.seconds else "-",
            f"{each.amount:,.2f}",
        )
        for each in report.losses
    )
    return Table("From the best possible to this drill", columns(*names), rows[:MOST_ROWS])


def _known(value: float | None, digits: int = 2) -> str:
    return "not known" if value is None else f"{value:,.{digits}f}"


def _more(rows: Sequence[object]) -> str:
    more = len(rows) - MOST_ROWS
    return f"{more:,} more rows are in report.json." if more > 0 else ""


def facts(report: Report) -> list[tuple[str, str]]:
    """Return the facts that one needs to repeat or judge a drill."""
    clock = report.clock
    passed = "a discrete clock that waits for nothing"
    if clock.factor is not None:
        passed = f"{clock.factor:g} times as fast as real time"
    pairs = [
        ("Scenario", f"{report.scenario}, seed {report.seed}"),
        ("Stack", f"{report.stack} ({report.provider}, {report.location})"),
        ("Autoscaler", report.autoscaler),
        ("Time", f"{span(clock.length)} by {passed}; it took {span(clock.wall)}"),
        *(("What the clock changes", text) for text in clock.distortions),
        ("Capacity", report.capacity_source or "the scenario's own"),
        ("Prices", report.price_source or "not known"),
        *(("Setting", f"{key}: {value}") for key, value in sorted(report.settings.items())),
    ]
    return [(name, value) for name, value in pairs if value]


SAME = "No figure differs."


def settings_sentences(comparison: Comparison) -> list[str]:
    """Say the names of two settings, whether a drill sees a difference, and what is alike."""
    before, after = comparison.names
    found = [f"Before: {before}. After: {after}."]
    if not comparison.changed:
        found.append("Nothing that the drill compares differs: no pool, chain or timer.")
    return [*found, comparison.basis] if comparison.basis else found


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of a comparison: changed settings, moved figures, turned verdicts."""
    changed = tuple((text.replace("`", ""),) for text in comparison.changed)
    turned = tuple((each.name, each.before, each.after) for each in comparison.turned)
    moved = []
    for each in comparison.moved:
        sides = [
            Figure(each.key, each.name, value, each.unit) for value in (each.before, each.after)
        ]
        moved.append((each.name, *map(written, sides)))
    return [
        Table("Changed settings", columns("After"), changed),
        Table("Figures that moved", columns("Figure", "#Before", "#After"), tuple(moved)),
        Table("Verdicts that turned", columns("Verdict", "Before", "After"), turned),
    ]
