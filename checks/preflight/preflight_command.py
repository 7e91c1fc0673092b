"""The command `preflight`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from checks import findings, stack, table
from checks.ending import one_sentence
from checks.preflight import clouds
from checks.preflight.demand import demand


@click.command()
@click.option(
    "--stack",
    "name",
    default="dev",
    show_default=True,
    help="The stack: Pulumi.STACK.yaml of this folder.",
)
@click.option(
    "--account",
    help="The subscription's id or the project, where it is not the file's or the environment's.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def main(name: str, account: str | None, as_json: bool) -> None:
    """Ask the stack's cloud for machines, quota, versions, rights and names before money is spent.

    Reads, and changes nothing.

    Exit status: 0 ready; 1 something is wrong; 2 nothing could be asked; 3 nothing that was seen is
    wrong, but not all was seen.
    """
    with one_sentence():
        file = stack.load_stack(Path.cwd(), name)
        answers = clouds.read_account(demand(file.spec, file.others), account)
        found = [*file.notes, *clouds.findings(answers)]
        subject = f"{name} in {answers.account}" if answers.account else name
        table.show(subject, found, in_json=as_json)
    sys.exit(findings.exit_status(found))
