"""The outputs of a stack, as `sandbox outputs` prints them, and which of them an update changed."""

import json
from collections.abc import Mapping
from typing import Any

import click

from sandbox.base.home import Home
from sandbox.base.notices import to_stderr


def show(home: Home, *, as_json: bool, show_secrets: bool) -> None:
    """Print the outputs."""
    outputs = _in_clear_text(home) if show_secrets else hidden(home)
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


def summary(counts: Mapping[str, int], before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what an update changed: "1 update, changed outputs: pools".

    The engine counts resources alone. Outputs of a first update are not named, nor secrets: their
    texts in the engine's state differ after each update.
    """
    said = [f"{count} {op}" for op, count in sorted(counts.items()) if op != "same"]
    names = {*before, *after} if before else set[str]()
    missing = object()
    if changed := sorted(name for name in names if before.get(name, missing) != after.get(name, missing)):
        said.append(f"changed outputs: {', '.join(changed)}")
    return ", ".join(said) or "nothing changed"


def hidden(home: Home) -> dict[str, Any]:
    """Return the outputs without secrets, from the engine's state file: the engine itself takes seconds."""
    from sandbox.base.checkpoint import Checkpoint
    from sandbox.cloud.provider import has_secret

    outputs = sorted(Checkpoint(home).outputs().items())
    return {name: "[secret]" if has_secret(value) else value for name, value in outputs}


def _in_clear_text(home: Home) -> dict[str, Any]:
    """Return the outputs as the engine decrypts them."""
    from sandbox.engine import session

    with session.open(home, to_stderr, changing=False, program=False) as engine:
        return dict(sorted(engine.command.outputs().items()))
