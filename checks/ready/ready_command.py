"""The command `ready`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from checks import findings, table
from checks import stack as stacks
from checks.ending import one_sentence
from checks.ready import intent, judge, reader
from checks.ready.checks import declared


@click.command()
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="The kubeconfig; by default kubectl's own: $KUBECONFIG, or ~/.kube/config.",
)
@click.option("--context", help="The context; by default the current one.")
@click.option("--stack", help="Compare with Pulumi.STACK.yaml of this folder as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def main(kubeconfig: str | None, context: str | None, stack: str | None, as_json: bool) -> None:
    """Say whether a cluster is ready for Kubeflow on spot GPUs. Reads, and changes nothing.

    Exit status: 0 ready; 1 something is wrong; 2 nothing could be asked; 3 nothing that was seen is
    wrong, but not all was seen.
    """
    with one_sentence():
        file = stacks.load_stack(Path.cwd(), stack) if stack else None
        snapshot = reader.open_snapshot(kubeconfig, context)
        found = list(file.notes) if file else []
        more = [declared.declared_check(file.spec, stack)] if file and stack else []
        found += judge.findings(snapshot, more, intent.intent_of(file.spec) if file else None)
        table.show(snapshot.server, found, in_json=as_json)
    sys.exit(findings.exit_status(found))
