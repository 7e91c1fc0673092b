"""Commands that change an emulated cloud behind Pulumi's back."""

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr
from sandbox.cli.options import require_running, stack_options

_LONGEST_AMOUNT = 7
"""Digits of an amount: more nodes than any cluster has."""


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


class _Amount(click.ParamType["int | None"]):
    """`none`, `any` or a number of nodes; a number, and None for `any`."""

    name = "amount"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value in ("none", "any"):
            return 0 if value == "none" else None
        if value.isascii() and value.isdecimal() and len(value) < _LONGEST_AMOUNT:
            return int(value)
        self.fail(f"{value!r} is neither none, any nor a number of nodes", param, ctx)


@click.command()
@click.argument("machine")
@click.argument("amount", type=_Amount())
@click.option("--zone", default="", help="In this zone of the cloud only, such as 1 or europe-west4-a.")
@click.option("--silent", is_flag=True, help="Accept requests beyond it; their machines never come.")
@stack_options
def capacity(home: Home, machine: str, amount: int | None, zone: str, silent: bool) -> None:
    """Let the emulated cloud give AMOUNT spot nodes of MACHINE: none, a number of all, or any.

    Spot nodes beyond that are evicted. On-demand nodes of the same machine are not affected.
    """
    from sandbox.engine import reclaim

    require_running(home)
    evicted = reclaim.capacity(home, machine, amount, to_stderr, zone=zone, silent=silent)
    where = f"{machine} in zone {zone}" if zone else machine
    click.echo(f"spot capacity of {where}: {'any' if amount is None else amount or 'none'}")
    for pool in evicted:
        click.echo(pool.sentence())


@click.command()
@click.argument("pool")
@click.option("--nodes", type=click.IntRange(min=1), help="So many of its nodes; by default all.")
@stack_options
def evict(home: Home, pool: str, nodes: int | None) -> None:
    """Take the nodes of the spot pool POOL back, as its cloud does: with its notice, which takes half a minute."""
    from sandbox.engine import reclaim

    require_running(home)
    click.echo(reclaim.evict(home, pool, nodes, to_stderr).sentence())


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
