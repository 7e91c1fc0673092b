"""The commands by which an emulated cloud changes behind Pulumi's back."""

from __future__ import annotations

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr
from sandbox.cli.options import stack_options
from sandbox.cli.terminal import running


@click.command()
@click.argument("pool")
@click.argument("nodes", type=click.IntRange(min=0))
@click.option(
    "--force", is_flag=True, help="Whatever its bounds are: as somebody who changes the group of machines itself."
)
@stack_options
def scale(home: Home, pool: str, nodes: int, force: bool) -> None:
    """Give POOL this many NODES, as the cloud's autoscaler would: the engine is not asked."""
    from sandbox.engine import out_of_band

    running(home)
    before = out_of_band.scale(home, pool, nodes, to_stderr, force=force)
    click.echo(f"pool {pool}: {before} -> {nodes} nodes")


@click.command()
@click.argument("what")
@stack_options
def delete(home: Home, what: str) -> None:
    """Delete a pool, or what has this cloud ID, behind Pulumi's back: as somebody at the cloud's portal would."""
    from sandbox.engine import out_of_band

    running(home)
    click.echo(f"deleted {out_of_band.delete(home, what, to_stderr)}")


@click.command()
@click.argument("what")
@click.argument("patch")
@stack_options
def edit(home: Home, what: str, patch: str) -> None:
    """Change a pool, or what has this cloud ID, behind Pulumi's back: sandbox edit t4 '{nodeLabels: {team: vision}}'.

    PATCH is YAML in the words in which the provider shows the resource; null takes a key away.
    """
    from sandbox.engine import out_of_band

    running(home)
    changed = out_of_band.edit(home, what, patch, to_stderr)
    click.echo(f"changed {what}: {', '.join(changed) or 'nothing'}")
