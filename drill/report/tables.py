"""Tables and sentences that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drill.judge.outcome import ALONE
from drill.judge.spans import span
from drill.judge.verdict import Verdict
from drill.report.compare import written
from drill.report.model import Comparison, Figure, Report

MOST_ROWS = 40
"""The most rows of a table; the rest is added up in JSON only."""


@dataclass(frozen=True)
class Column:
    name: str
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table of texts. One without rows is not shown."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def verdict_rows(report: Report) -> list[Verdict]:
    """The verdicts, red ones first, then those that hold by an explanation, in their order otherwise."""
    return sorted(
        report.verdicts, key=lambda verdict: (verdict.state != "red", verdict.state != "explained")
    )


def sentence(report: Report) -> str:
    """One line about the drill: where, how long, what decided."""
    cloud = {"azure": "AKS", "gcp": "GKE"}.get(report.provider, report.provider)
    return f"Stack {report.stack}, {cloud} in {report.location}, {span(report.clock.length)}, autoscaler: {report.autoscaler}."


def tables(report: Report) -> list[Table]:
    """The tables of a report after its verdicts."""
    return [
        _policies(report),
        _figures(report),
        _placed(report),
        _pools(report),
        _not_moved(report),
        _losses(report),
    ]


def _policies(report: Report) -> Table:
    columns = (
        Column("Policy"),
        Column("USD", True),
        Column("Saved", True),
        Column("Longest wait", True),
        Column("GPU-days waited", True),
        Column("GPU hours on spot", True),
        Column("Done again", True),
        Column("Unfinished", True),
    )
    alone = next((row.outcome.usd for row in report.policies if row.policy == ALONE), None)
    rows = tuple(
        (
            row.policy,
            "not known" if row.outcome.usd is None else f"{row.outcome.usd:,.2f}",
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
        "Saved: against on demand alone. Each policy has the same work and the same spot machines, in a drill in memory. The "
        "drill's own figures may differ: its cost by about one percent, the longest wait by more where pods queue for a full pool."
    )
    if any(row.outcome.unfinished for row in report.policies):
        note += " Unfinished are pieces of work: what is not done costs nothing, and is no saving."
    return Table("The same work by fixed policies", columns, rows, note)


def _figures(report: Report) -> Table:
    rows = tuple(
        (figure.name, written(figure))
        for figure in report.figures
        if figure.value is not None and figure.key != "red_verdicts"
    )
    return Table("Figures", (Column("Figure"), Column("Value", True)), rows, report.best)


def _placed(report: Report) -> Table:
    columns = (
        Column("Role"),
        Column("Pool"),
        Column("Pods", True),
        Column("Pod-hours", True),
        Column("Evicted or drained", True),
        Column("Work done again", True),
    )
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
    return Table("Who ran where", columns, rows[:MOST_ROWS], _more(rows))


def _pools(report: Report) -> Table:
    columns = (
        Column("Pool"),
        Column("Machine"),
        Column("Most nodes", True),
        Column("Machine-hours", True),
        Column("USD an hour", True),
        Column("USD", True),
    )
    used = [each for each in report.pools if each.peak or each.gpus]
    rows = tuple(
        (
            f"{each.name} ({each.capacity})",
            each.machine,
            f"{each.peak:,}" + (f" of {each.most:,}" if each.most is not None else ""),
            f"{each.machine_hours:,.1f}",
            "not known" if each.price is None else f"{each.price:,.3f}",
            "not known" if each.cost is None else f"{each.cost:,.2f}",
        )
        for each in used
    )
    note = (
        f"Prices: {report.price_source}. Machines only, from their request to their end."
        if report.price_source
        else ""
    )
    return Table("Machine-hours and cost", columns, rows[:MOST_ROWS], note)


def _not_moved(report: Report) -> Table:
    columns = (
        Column("On-demand pool"),
        Column("Spot pools with room"),
        Column("Machine-hours", True),
        Column("USD more than on spot", True),
    )
    rows = tuple(
        (
            each.pool,
            ", ".join(each.spot),
            f"{each.machine_hours:,.1f}",
            "not known" if each.extra is None else f"{each.extra:,.2f}",
        )
        for each in report.not_moved
        if each.machine_hours
    )
    note = (
        "Hours in which pods that may run on spot stayed on demand while spot had room: on AKS nothing moves a running pod back."
        if report.provider == "azure"
        else "Hours in which pods that may run on spot stayed on demand while spot had room."
    )
    return Table("Not moved back to spot", columns, rows[:MOST_ROWS], note)


def _losses(report: Report) -> Table:
    columns = (
        Column("Pool"),
        Column("Lost to"),
        Column("Setting"),
        Column("Machine-hours", True),
        Column("USD", True),
    )
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
    return Table("From the best possible to this drill", columns, rows[:MOST_ROWS])


def _more(rows: Sequence[object]) -> str:
    return (
        f"{len(rows) - MOST_ROWS:,} more rows are in report.json." if len(rows) > MOST_ROWS else ""
    )


def facts(report: Report) -> list[tuple[str, str]]:
    """What one must know to repeat or judge a drill."""
    clock = report.clock
    passed = (
        "a discrete clock that waits for nothing"
        if clock.factor is None
        else f"{clock.factor:g} times as fast as real time"
    )
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
    """Sentences about the two settings: their names, whether a drill sees a difference, and what both have alike."""
    before, after = comparison.names
    found = [f"Before: {before}. After: {after}."]
    if not comparison.changed:
        found.append("Nothing that the drill compares differs: no pool, chain or timer.")
    return [*found, comparison.basis] if comparison.basis else found


def comparison_tables(comparison: Comparison) -> list[Table]:
    """The tables of a comparison: changed settings, moved figures, turned verdicts."""
    changed = Table(
        "Changed settings",
        (Column("After"),),
        tuple((text.replace("`", ""),) for text in comparison.changed),
    )
    figures = Table(
        "Figures that moved",
        (Column("Figure"), Column("Before", True), Column("After", True)),
        tuple(
            (
                each.name,
                written(Figure(each.key, each.name, each.before, each.unit)),
                written(Figure(each.key, each.name, each.after, each.unit)),
            )
            for each in comparison.moved
        ),
    )
    turned = Table(
        "Verdicts that turned",
        (Column("Verdict"), Column("Before"), Column("After")),
        tuple((each.name, each.before, each.after) for each in comparison.turned),
    )
    return [changed, figures, turned]
