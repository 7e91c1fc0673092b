"""The outputs of a stack, as `sandbox outputs` prints them."""

import json
from typing import Any

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr


def show(home: Home, *, as_json: bool, show_secrets: bool) -> None:
    """Print the outputs."""
    outputs = _in_clear_text(home) if show_secrets else _hidden(home)
    if as_json:
        click.echo(json.dumps(outputs, indent=2))
        return
    # Only here: every command would pay for it.
    import yaml

    for name, value in outputs.items():
        text = f"{name}: {value}"
        if not isinstance(value, str):
            text = yaml.safe_dump({name: value}, sort_keys=False, width=120)
        click.echo(text.rstrip())


def _hidden(home: Home) -> dict[str, Any]:
    """The outputs without secrets, from the engine's state file: the engine itself takes seconds."""
    from sandbox.base.checkpoint import Checkpoint
    from sandbox.cloud.secret import has_secret

    outputs = sorted(Checkpoint(home).outputs().items())
    return {name: "[secret]" if has_secret(value) else value for name, value in outputs}


def _in_clear_text(home: Home) -> dict[str, Any]:
    """The outputs as the engine decrypts them."""
    from sandbox.engine import session

    with session.open(home, to_stderr, changing=False, program=False) as engine:
        return dict(sorted(engine.command.outputs().items()))
