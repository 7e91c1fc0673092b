"""`sandbox drill`: takes spot machines away from a copy of the stack's cluster, and shows where the work goes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

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
    help="Run it by a revision's or another stack file's settings as well.",
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
    "--report-dir", type=FOLDER, help="Write the report there instead of the stack's folder."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as one JSON object and nothing else."
)
@stack_options
def drill(
    home: Home,
    scenario: str,
    listed: bool,
    config_file: Path | None,
    against: str,
    cloud: Path | None,
    cluster: str | None,
    seed: int,
    factor: float | None,
    traces: tuple[tuple[str, str, Path], ...],
    shortage: Literal["at-once", "20s", "provision-time"] | None,
    tune: bool,
    report_dir: Path | None,
    as_json: bool,
) -> None:
    """Rehearse SCENARIO, a name or a file, on a copy of the stack's cluster; the stack itself stays as it is.

    Exits with 1 when a verdict is red.
    """
    # Only here: the charts take half a second to import.
    from drill import command
    from drill.world import scenario as scenarios

    if listed:
        for name in scenarios.names():
            default = " (default)" if name == scenarios.DEFAULT else ""
            click.echo(f"{name}{default}: {scenarios.load(name).description}")
        return
    if cloud and not (against or config_file):
        raise click.UsageError("--cloud does nothing without --config-file or --against")
    directory = report_dir or home.root / f"{home.stack}+drill"
    if tune:
        if scenario or against or traces or factor:
            raise click.UsageError(
                "--tune draws weeks of its own: leave out SCENARIO, --against, --trace and --factor"
            )
        from drill.tune import tune_command

        asked = tune_command.Request(
            seed, config_file, directory, as_json, shortage, cluster, cloud
        )
        tune_command.run(home, asked, to_stderr)
        return
    request = command.Request(
        scenario or scenarios.DEFAULT,
        seed,
        factor,
        against,
        config_file,
        traces,
        directory,
        as_json,
        cluster,
        shortage,
        cloud,
    )
    if not command.drill(home, request, to_stderr, _progress):
        sys.exit(1)


def _progress(side: str) -> Progress:
    """Prints a tenth of the scenario as it is done."""
    shown = -1

    def show(now: float, length: float) -> None:
        nonlocal shown
        tenth = int(10 * now / length)
        if tenth > shown:
            shown = tenth
            to_stderr(f"{side}: {now / 60:.0f} of {length / 60:.0f} minutes")

    return show
