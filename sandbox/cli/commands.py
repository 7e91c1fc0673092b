"""The `sandbox` command. Imports the engine only in the commands that use it: it takes half a second."""

import errno
import json
import os
import shutil
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from sandbox.base import locks
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.notices import discard, to_stderr
from sandbox.base.yaml_file import NotYaml
from sandbox.cli import outputs, plugged_commands
from sandbox.cli.options import (
    FILE,
    FOLDER,
    command_line,
    file_options,
    named_by_user,
    planes,
    policy_options,
    require_running,
    stack_options,
)
from sandbox.cli.out_of_band_commands import capacity, delete, edit, evict, scale
from sandbox.cluster import clusters
from sandbox.engine.events import Steps
from sandbox.engine.policies import Pack, hosted
from sandbox.toolchain import programs
from sandbox.toolchain.modules import NAMES, ON_DEMAND

_SURROUNDINGS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EEXIST, errno.ENOTDIR)
"""Errors of the machine and not of this program: full disk, read-only or misplaced folder."""

_NOT_WITHOUT_BASE = ("report_dir", "fail_on")
_NOT_WITH_BASE = (
    "refresh expect_no_changes config_file beside policy_pack policy_pack_config no_policy_pack".split()  # noqa: SIM905
)


class _Cli(plugged_commands.PluggedGroup):
    """Prints expected errors as text; any other exception is a defect and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SandboxError as error:
            click.echo(f"error: {error}", err=True)
        except OSError as error:
            if error.errno not in _SURROUNDINGS:
                raise
            click.echo(f"error: {error.strerror}: {error.filename or 'a file of the sandbox'}", err=True)
        sys.exit(1)


@click.group(cls=_Cli)
def main() -> None:
    """Run this Pulumi program with no cloud account: a real engine and Kubernetes over emulated clouds."""


for command in (capacity, evict, scale, delete, edit):
    main.add_command(command)


@main.command()
@click.option("--continue-on-error", is_flag=True, help="Go on with independent resources when one fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the steps as one JSON object and nothing else.")
@stack_options
@file_options
@policy_options
def up(
    home: Home, cloud_file: Path | None, refresh: bool, continue_on_error: bool, as_json: bool, pack: Pack | None
) -> None:
    """Declare the stack on the emulated cloud and start its Kubernetes."""
    began = time.monotonic()
    steps, before = Steps(), outputs.hidden(home)
    with hosted(pack):
        from pulumi.automation.errors import CommandError

        from sandbox.engine import session

        with (
            # The cluster's programs are built while the engine works; the first cluster waits for them.
            programs.building(["pulumi", *clusters.PROGRAMS], to_stderr) as built,
            session.open(home, to_stderr, cloud_file=cloud_file, pack=pack, ensure=built.ensure) as engine,
            closing(built),
        ):
            try:
                on_output = discard if as_json else click.echo
                changes = engine.up(on_output, steps.on_event, refresh=refresh, continue_on_error=continue_on_error)
            except CommandError as failed:
                steps.failed(str(failed))
    if as_json:
        click.echo(json.dumps(steps.as_json(), indent=2))
    if steps.errors:
        # The engine has printed them.
        if steps.stopped:
            to_stderr(
                f"stack {home.stack} is not complete: mend what the errors above name, then `{command_line(home, 'up')}` again;"
                " it makes what is missing"
            )
        sys.exit(1)
    if as_json:
        return
    changed = outputs.summary(changes, before, outputs.hidden(home))
    click.echo(f"stack {home.stack} is up after {time.monotonic() - began:.1f} s: {changed}")
    click.echo("\nNext:")
    for command in ("status", "kubectl -- get nodes", "outputs", "down"):
        click.echo(f"  {command_line(home, command)}")


@main.command()
@click.option("--expect-no-changes", is_flag=True, help="Fail when `up` would change anything, and say what.")
@click.option("--json", "as_json", is_flag=True, help="Print the steps as one JSON object and nothing else.")
@click.option(
    "--base", metavar="REV", help="Report what differs from this git revision, on all stacks or the one named."
)
@click.option("--report-dir", type=FOLDER, help="With --base: write report.json and report.md there.")
@click.option(
    "--fail-on", multiple=True, type=click.Choice(["replace", "delete", "policy"]), help="With --base: exit 1."
)
@stack_options
@file_options
@policy_options
def preview(
    home: Home,
    cloud_file: Path | None,
    refresh: bool,
    expect_no_changes: bool,
    as_json: bool,
    base: str | None,
    report_dir: Path | None,
    fail_on: tuple[str, ...],
    pack: Pack | None,
) -> None:
    """Show what `up` would change; with --base, what the work tree changes in every stack of that revision."""
    # An option without effect is an error: `--fail-on` that checks nothing would say that all is well.
    for option in _NOT_WITHOUT_BASE if base is None else _NOT_WITH_BASE:
        if named_by_user(option):
            word = "without" if base is None else "with"
            raise click.UsageError(f"--{option.replace('_', '-')} does nothing {word} --base")
    if base is not None:
        stack = home.stack if named_by_user("stack") else ""
        if not plugged_commands.load(plugged_commands.PREVIEW_OF_A_BASE)(
            home,
            stack,
            base,
            directory=report_dir,
            fail_on=fail_on,
            as_json=as_json,
            cloud=cloud_file,
            notify=to_stderr,
        ):
            sys.exit(1)
        return

    steps = Steps()
    with hosted(pack):
        from pulumi.automation.errors import CommandError

        from sandbox.engine import session, workspace

        homes = [home]
        for each in homes:
            try:
                with session.open(each, to_stderr, changing=False, cloud_file=cloud_file, pack=pack) as engine:
                    on_output = discard if as_json else click.echo
                    engine.preview(on_output, steps.on_event, refresh=refresh, expect_no_changes=expect_no_changes)
            except CommandError as failed:
                steps.failed((expect_no_changes and steps.unexpected()) or str(failed))
            except NotYaml as broken:
                steps.errors.append(str(broken))
                if broken.mended:
                    to_stderr(f"error: {broken}\nthe rest of the file, as if that were mended:")
                    homes.append(workspace.mended(home, broken.mended))
                elif not as_json:
                    raise
            except SandboxError as failed:
                if not as_json:
                    raise
                steps.failed(str(failed))
    if as_json:
        click.echo(json.dumps(steps.as_json(), indent=2))
    if steps.errors:
        sys.exit(1)


@main.command()
@click.option("--force", is_flag=True, help="End the stack's processes and remove its state without the engine.")
@click.option("--config-file", type=FILE, help="The stack file, where the last one is missing.")
@stack_options
def down(home: Home, force: bool, config_file: Path | None) -> None:
    """Delete everything the stack declared, end its processes and remove its state."""
    from pulumi.automation.errors import CommandError

    from sandbox.engine import scratch, session
    from sandbox.engine.cloud_file import CloudFile

    home = home.with_options(config_file)
    # They are no stack's: their processes would run until the next drill or preview.
    scratch.remove_left(home.root, to_stderr, scratch.PREVIEW, scratch.DRILL)
    if not home.directory.exists():
        click.echo(f"stack {home.stack} is not up")
        return
    _without_guests(home)
    others = 0
    if not force:
        try:
            with session.open(home, to_stderr, program=False) as engine:
                engine.destroy(click.echo)
                others = CloudFile.kept(home.cloud).remaining(engine.clouds)
        except CommandError:
            raise SandboxError(
                f"the engine could not delete stack {home.stack!r}; its errors are above.\n"
                f"  `{command_line(home, 'down --force')}` removes the sandbox without the engine"
            ) from None
    with locks.lock_stack(home):
        if home.host:
            # The lock stays: were it removed here, two later commands could hold two files of that name.
            shutil.rmtree(home.directory)
        else:
            with locks.lock_cloud(home):
                _without_guests(home)
                clusters.remove_all(home.clusters)
                shutil.rmtree(home.directory)
    if others and not home.host:
        click.echo(f"{others} resources of the cloud file are removed with the sandbox")
    if force and home.host:
        click.echo(f"its resources stay in the emulated cloud of stack {home.host}")
    click.echo(f"stack {home.stack} is down")


@main.command()
@stack_options
def status(home: Home) -> None:
    """Show the stack's processes and pools."""
    from sandbox.cli.status import show
    from sandbox.engine import clouds, scratch

    for folder in scratch.left(home.root, scratch.PREVIEW, scratch.DRILL):
        to_stderr(
            f"a killed command has left {folder}: `{command_line(home, 'down')}` or the next such command removes it"
        )

    both = clouds.opened(home, dict, to_stderr)
    show(planes(home), both.pools(), [bound for cloud in both for bound in cloud.capacities()])


@main.command("outputs")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--show-secrets", is_flag=True, help="Print secret outputs in clear text.")
@stack_options
def show_outputs(home: Home, as_json: bool, show_secrets: bool) -> None:
    """Show the stack's outputs."""
    require_running(home)
    outputs.show(home, as_json=as_json, show_secrets=show_secrets)


@main.command(context_settings={"ignore_unknown_options": True})
@click.option("--cluster", help="Another cluster of the emulated cloud.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@stack_options
def kubectl(home: Home, cluster: str | None, arguments: tuple[str, ...]) -> None:
    """Run kubectl against the stack's cluster: `sandbox kubectl -- get nodes`."""
    require_running(home)
    plane = clusters.of_stack(home, cluster)
    binary = programs.ensure(["kubectl"], to_stderr)["kubectl"]
    sys.stdout.flush()
    os.execve(binary, ["kubectl", *arguments], {**os.environ, "KUBECONFIG": str(plane.admin_kubeconfig)})


@main.command()
@click.option("--tools", is_flag=True, help="Also build the programs that only tests and some drills use.")
def build(tools: bool) -> None:
    """Build the programs of the sandbox now; the other commands build them when they need them."""
    wanted = sorted(NAMES - set(ON_DEMAND)) if tools else ["pulumi", "kubectl", *clusters.PROGRAMS]
    programs.ensure(wanted, to_stderr)
    click.echo("all programs are built")


def _without_guests(home: Home) -> None:
    if guests := home.guests():
        raise SandboxError(
            f"other stacks use the emulated cloud of stack {home.stack!r}; bring them down first: {', '.join(guests)}"
        )
