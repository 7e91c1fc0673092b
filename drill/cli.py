"""`sandbox drill`: evicts spot machines of a copy of the stack's cluster, and reports."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr
from sandbox.cli.options import FILE, FOLDER, stack_options

Progress = Callable[[float, float], None]


@click.command()
@click.argument("scenario", required=False, default="")
@click.option("--list", "listed", is_flag=True, help="List the scenarios.")
@click.option(
    "--config-file", type=FILE, help="Bring the stack up by this stack file, beside a running one."
)
@click.option(
    "--against",
    metavar="REV|FILE",
    default="",
    help="Run it by a revision's or another stack file's settings as well; with --tune a file's.",
)
@click.option(
    "--cloud",
    type=FILE,
    help="A cloud file for stacks that come up anew, instead of the running stack's own.",
)
@click.option("--cluster", help="Another cluster of the emulated cloud.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="What is drawn, is drawn by this.",
)
@click.option(
    "--factor",
    type=click.FloatRange(min=1.0, max=1000.0),
    help="Time passes so many times as fast; by default events alone count.",
)
@click.option(
    "--trace",
    "traces",
    multiple=True,
    type=(str, str, FILE),
    metavar="MACHINE ZONE FILE",
    help="Spot capacity from a published trace; `*` is every machine or zone.",
)
@click.option(
    "--shortage",
    type=click.Choice(["at-once", "20s", "provision-time"]),
    help="How the cloud says that it has no spot machine, in place of the scenario's own.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Search the settings that cost least within the accepted wait, in memory.",
)
@click.option(
    "--metrics",
    is_flag=True,
    help="Run kube-state-metrics beside it, and tell which of the stack's alerts fire.",
)
@click.option(
    "--report-dir", type=FOLDER, help="Write the report there instead of the stack's folder."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as one JSON object and nothing else."
)
@stack_options
def drill(
    home: Home, scenario: str, listed: bool, tune: bool, report_dir: Path | None, **options: Any
) -> None:
    """Rehearse SCENARIO, a name or a file, on a copy of the stack's cluster.

    The stack itself stays as it is. Exits with 1 when a verdict is red.
    """
    # Imported late: the charts take half a second.
    from drill import command
    from drill.world.scenario import DEFAULT

    if listed:
        _list_scenarios()
        return
    if options["cloud"] and not (options["against"] or options["config_file"]):
        raise click.UsageError("--cloud does nothing without --config-file or --against")
    directory = report_dir or home.root / f"{home.stack}+drill"
    request = command.Request(scenario or DEFAULT, directory=directory, **options)
    if tune:
        if scenario or request.traces or request.factor:
            raise click.UsageError(
                "--tune draws weeks of its own: leave out SCENARIO, --trace and --factor"
            )
        from drill.tune.tune_command import tune_stack

        tune_stack(home, request, to_stderr)
    elif not command.drill(home, request, to_stderr, _progress):
        sys.exit(1)


def _list_scenarios() -> None:
    from drill.world.scenario import DEFAULT, load_scenario, scenario_names

    for name in scenario_names():
        default = " (default)" if name == DEFAULT else ""
        click.echo(f"{name}{default}: {load_scenario(name).description}")


def _progress(side: str) -> Progress:
    """Return a function that prints each tenth of the scenario that is done."""
    shown = -1

    def show(now: float, length: float) -> None:
        nonlocal shown
        tenth = int(10 * now / length)
        if tenth > shown:
            shown = tenth
            to_stderr(f"{side}: {now / 60:.0f} of {length / 60:.0f} minutes")

    return show
