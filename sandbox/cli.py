"""The `sandbox` command."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from typing import Any

import click
from pulumi.automation.errors import CommandError
from rich.console import Console
from rich.table import Table

from sandbox import clusters, engine, programs
from sandbox.errors import SandboxError
from sandbox.home import PROJECT, Home
from sandbox.steps import Steps

_STACK = click.option("--stack", default="dev", show_default=True, help="The stack: Pulumi.<stack>.yaml.")


class _Cli(click.Group):
    """Prints expected errors as text; anything else is a defect and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SandboxError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(1)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            click.echo(f"error: no space left on the disk of {error.filename or Home.of('').root}", err=True)
            sys.exit(1)


_FULL = (28, 122)
"""ENOSPC and EDQUOT."""


@click.group(cls=_Cli)
def main() -> None:
    """Run this Pulumi program with no cloud account: a real engine and Kubernetes over emulated clouds."""


@main.command()
@_STACK
def up(stack: str) -> None:
    """Declare the stack on the emulated cloud and start its Kubernetes."""
    home = Home.of(stack)
    began = time.monotonic()
    with engine.open(home, _progress) as opened:
        try:
            result = opened.up(click.echo)
        except CommandError:
            # The engine has printed what went wrong.
            sys.exit(1)
    changes = result.summary.resource_changes or {}
    changed = {str(op): count for op, count in changes.items() if op != "same"}
    click.echo(_sentence(stack, changed, time.monotonic() - began))
    click.echo(f"\nNext:\n  {_me()} kubectl -- get nodes\n  {_me()} status\n  {_me()} down")


def _sentence(stack: str, changed: dict[str, int], seconds: float) -> str:
    what = ", ".join(f"{count} {op}" for op, count in sorted(changed.items())) or "nothing changed"
    return f"stack {stack} is up after {seconds:.1f} s: {what}"


@main.command()
@_STACK
@click.option("--json", "as_json", is_flag=True, help="Print the steps as one JSON object and nothing else.")
def preview(stack: str, as_json: bool) -> None:
    """Show what `up` would change."""
    steps = Steps()
    with engine.open(Home.of(stack), _silent if as_json else _progress) as opened:
        try:
            opened.preview(None if as_json else click.echo, steps.on_event)
        except CommandError as failed:
            steps.failed(str(failed))
    if as_json:
        click.echo(json.dumps(steps.as_json(), indent=2))
    if steps.errors:
        sys.exit(1)


@main.command()
@_STACK
@click.option("--force", is_flag=True, help="Do not ask the engine; end the stack's processes and remove its state.")
def down(stack: str, force: bool) -> None:
    """Delete everything the stack declared, end its processes and remove its state."""
    home = Home.of(stack)
    if not home.directory.exists():
        click.echo(f"stack {stack} is not up")
        return
    if not force:
        try:
            with engine.open(home, _progress) as opened:
                opened.destroy(click.echo)
        except CommandError:
            raise SandboxError(
                f"the engine could not delete stack {stack!r}: see above. `{_me()} down --stack {stack} --force` removes"
                " the sandbox without asking the engine"
            ) from None
    with engine.hold(home):
        for plane in clusters.planes(home.clusters):
            clusters.remove(plane.directory)
        shutil.rmtree(home.directory)
    home.lock.unlink(missing_ok=True)
    click.echo(f"stack {stack} is down")


@main.command()
@_STACK
def status(stack: str) -> None:
    """Show the stack's processes and pools."""
    home = Home.of(stack)
    planes = clusters.planes(home.clusters)
    if not planes:
        click.echo(f"stack {stack} is not up")
        return
    console = Console()
    for plane in planes:
        table = Table(
            title=f"control plane {plane.version} in {os.path.relpath(plane.directory)}", title_justify="left"
        )
        for column in ("process", "pid", "MB"):
            table.add_column(column, justify="left" if column == "process" else "right")
        for name, process in plane.processes.items():
            found = process.find()
            table.add_row(name, str(found.pid) if found else "not running", f"{process.memory() / 1e6:.0f}")
        console.print(table)
    table = Table(title="pools", title_justify="left")
    for column in ("cluster", "pool", "machine", "priority", "nodes", "min", "max"):
        table.add_column(column, justify="right" if column in ("nodes", "min", "max") else "left")
    for pool in engine.azure(home, dict, _silent).pools():
        table.add_row(
            pool.cluster, pool.pool, pool.size, pool.priority, str(pool.count), _dash(pool.least), _dash(pool.most)
        )
    console.print(table)


def _dash(value: int | None) -> str:
    return "-" if value is None else str(value)


@main.command()
@_STACK
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--show-secrets", is_flag=True, help="Print secret outputs in clear text.")
def outputs(stack: str, as_json: bool, show_secrets: bool) -> None:
    """Show the stack's outputs."""
    home = _running(stack)
    with engine.open(home, _silent) as opened:
        found = {
            name: output.value if show_secrets or not output.secret else "[secret]"
            for name, output in sorted(opened.stack.outputs().items())
        }
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        click.echo(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")


@main.command()
@_STACK
@click.argument("pool")
@click.argument("nodes", type=click.IntRange(min=0))
def scale(stack: str, pool: str, nodes: int) -> None:
    """Give POOL this many NODES, as the cloud's autoscaler would: without the engine."""
    home = _running(stack)
    with engine.hold(home):
        cloud = engine.azure(home, dict, _progress)
        found = [row for row in cloud.pools() if row.pool == pool]
        if not found:
            raise SandboxError(f"there is no pool {pool!r}; pools: {', '.join(row.pool for row in cloud.pools())}")
        cloud.scale(found[0].cluster, pool, nodes)
    click.echo(f"pool {pool}: {found[0].count} -> {nodes} nodes")


@main.command(context_settings={"ignore_unknown_options": True})
@_STACK
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def kubectl(stack: str, arguments: tuple[str, ...]) -> None:
    """Run kubectl against the stack's cluster: `sandbox kubectl -- get nodes`."""
    plane = clusters.planes(_running(stack).clusters)[0]
    binary = programs.ensure(["kubectl"], _progress)["kubectl"]
    sys.stdout.flush()
    os.execve(binary, ["kubectl", *arguments], {**os.environ, "KUBECONFIG": str(plane.admin_kubeconfig)})


@main.command()
def build() -> None:
    """Build the programs the sandbox runs, which `up` would otherwise do."""
    programs.ensure(["pulumi", "kubectl", *engine.CONTROL_PLANE], _progress)
    click.echo("all programs are built")


def _running(stack: str) -> Home:
    home = Home.of(stack)
    if not clusters.planes(home.clusters):
        raise SandboxError(f"stack {stack!r} is not up: run `{_me()} up --stack {stack}` first")
    return home


def _me() -> str:
    """How the reader can call this command again: through uv where it is on the PATH."""
    if shutil.which("uv"):
        return "uv run sandbox"
    return os.path.relpath(PROJECT / ".venv" / "bin" / "sandbox")


def _progress(line: str) -> None:
    click.echo(line, err=True)


def _silent(line: str) -> None:
    del line
