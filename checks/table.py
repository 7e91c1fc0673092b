"""Findings as a table for people, or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from checks.findings import Exit, Finding, State, as_json, exit_status

_STYLES = {State.OK: "green", State.NOTE: "cyan", State.UNSEEN: "yellow", State.WRONG: "bold red"}


def show(subject: str, findings: Sequence[Finding], *, in_json: bool) -> None:
    """Print the findings in the order of the checks, then one line that counts them."""
    if in_json:
        click.echo(json.dumps(as_json(subject, findings), indent=2))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        # Text and not markup: an object's name may have brackets.
        says = Text(finding.says)
        if finding.remedy:
            says.append(f"\nremedy: {finding.remedy}", style="bold")
        if finding.source and finding.state != State.OK:
            says.append(f"\nsource: {finding.source}", style="dim")
        table.add_row(Text(finding.state.value, style=_STYLES[finding.state]), finding.check, says)
    console = Console()
    console.print(table)
    console.print(Text(summary(subject, findings)))


def summary(subject: str, findings: Sequence[Finding]) -> str:
    """Return the last line, such as `ml-dev: ready; 12 ok, 2 note`."""
    counted = Counter(finding.state for finding in findings)
    counts = ", ".join(f"{counted[state]} {state.value}" for state in State if counted[state])
    verdict = {
        Exit.READY: "ready",
        Exit.WRONG: "not ready",
        Exit.UNSEEN: "nothing wrong was seen, but not everything was seen",
    }[exit_status(findings)]
    return f"{subject}: {verdict}; {counts}"
