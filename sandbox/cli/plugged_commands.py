"""Commands that packages above the sandbox add to it: the entry points of the group `sandbox.commands`.

The sandbox imports none of them. A package names its commands in its own `pyproject.toml`; without the package the command is
unknown. A command is loaded when it is used or listed in `--help`.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

GROUP = "sandbox.commands"
PREVIEW_OF_A_BASE = "preview-base"
"""What `preview --base` calls: no command of its own, so no list has it."""


class PluggedGroup(click.Group):
    """A command line with its own commands and those of plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *(_plugins().keys() - {PREVIEW_OF_A_BASE})})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own or cmd_name == PREVIEW_OF_A_BASE:
            return own
        plugin = _plugins().get(cmd_name)
        return plugin.load() if plugin else None


def load(name: str) -> Any:
    """Load a plug-in that is no command. Raises click.UsageError when no package brings it."""
    plugin = _plugins().get(name)
    if plugin is None:
        raise click.UsageError(f"no installed package brings {name!r} (entry points of the group {GROUP})")
    return plugin.load()


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
