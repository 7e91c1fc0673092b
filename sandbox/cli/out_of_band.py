"""Commands that change an emulated cloud behind Pulumi's back."""

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr
from sandbox.cli.options import stack_options
from sandbox.cli.terminal import require_running


@click.command()
@click.argument("pool")
@click.argument("nodes", type=click.IntRange(min=0))
@click.option("--force", is_flag=True, help="Ignore the pool's bounds, like a change of the machine group itself.")
@stack_options
def scale(home: Home, pool: str, nodes: int, force: bool) -> None:
    """Give POOL this many NODES, like the cloud's autoscaler, which does not ask the engine."""
    from sandbox.engine import out_of_band

    require_running(home)
    before = out_of_band.scale(home, pool, nodes, to_stderr, force=force)
    click.echo(f"pool {pool}: {before} -> {nodes} nodes")


@click.command()
@click.argument("target")
@stack_options
def delete(home: Home, target: str) -> None:
    """Delete TARGET, a pool or a cloud ID, behind Pulumi's back, like a user of the cloud's portal."""
    from sandbox.engine import out_of_band

    require_running(home)
    click.echo(f"deleted {out_of_band.delete(home, target, to_stderr)}")


@click.command()
@click.argument("target")
@click.argument("patch")
@stack_options
def edit(home: Home, target: str, patch: str) -> None:
    """Change TARGET, a pool or a cloud ID, behind Pulumi's back: sandbox edit t4 '{nodeLabels: {team: vision}}'.

    PATCH is YAML with the provider's names of properties; null removes a key.
    """
    from sandbox.engine import out_of_band

    require_running(home)
    changed = out_of_band.edit(home, target, patch, to_stderr)
    click.echo(f"changed {target}: {', '.join(changed) or 'nothing'}")
