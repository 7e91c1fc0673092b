"""Options that several commands have, and the objects that the commands get for them."""

import os
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT, Home
from sandbox.cluster import clusters
from sandbox.cluster.control_plane import ControlPlane
from sandbox.engine.policies import Pack


def planes(home: Home) -> list[ControlPlane]:
    """Return the control planes of a stack. Raises SandboxError when the stack is not up."""
    existing = clusters.planes(home.clusters)
    if not existing:
        raise SandboxError(f"stack {home.stack!r} is not up: run `{command_line(home, 'up')}` first")
    return existing


def require_running(home: Home) -> None:
    """Raise SandboxError when not every process of a stack runs."""
    if not all(plane.running() for plane in planes(home)):
        raise SandboxError(
            f"not every process of stack {home.stack!r} runs: `{command_line(home, 'up')}` restarts them"
        )


def command_line(home: Home, command: str) -> str:
    """Return a command for the same stack as the user would type it: by make, by uv, or by the program's path.

    make sets MAKELEVEL (gnu.org/software/make/manual, Recursion), uv sets UV (docs.astral.sh/uv/reference/environment).
    """
    name, _, rest = command.partition(" ")
    default = home.stack == DEFAULT_STACK
    if os.environ.get("MAKELEVEL") and command in _TARGETS and home.project == PROJECT:
        return f"make {name}" if default else f"make {name} STACK={home.stack}"
    by_uv = os.environ.get("UV") and shutil.which("uv")
    program = "uv run sandbox" if by_uv else os.path.relpath(PROJECT / ".venv" / "bin" / "sandbox")
    stack = [] if default else ["--stack", home.stack]
    cwd = [] if home.project == PROJECT else ["--cwd", str(home.project)]
    return " ".join([program, name, *stack, *cwd, *([rest] if rest else [])])


_TARGETS = ("up", "preview", "down", "status", "drill")
"""Commands that the Makefile has as targets."""
DEFAULT_STACK = "dev"
FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)
_EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_PACK_FOLDER = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)


def stack_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--stack` and `--cwd`; the command gets a `home`."""

    @click.option(
        "--cwd", "-C", default=PROJECT, type=_EXISTING_FOLDER, help="The project's folder, if not this checkout."
    )
    @click.option("--stack", "-s", default=DEFAULT_STACK, show_default=True, help="The stack: Pulumi.<stack>.yaml.")
    @wraps(command)
    def with_home(stack: str, cwd: Path, **others: Any) -> Any:
        return command(home=Home.of(stack, cwd), **others)

    return with_home


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--config-file`, `--cloud`, `--beside` and `--refresh`; the command's `home` has the first and the third."""

    @click.option(
        "--refresh", is_flag=True, help="Read all resources from the cloud first, which Pulumi.yaml may do always."
    )
    @click.option("--beside", metavar="STACK", help="Use the emulated cloud of this other stack.")
    @click.option("--cloud", type=FILE, help="A YAML file of quotas and of resources that exist in the cloud.")
    @click.option(
        "--config-file", type=FILE, help="Use this stack file instead of Pulumi.<stack>.yaml; `up` remembers it."
    )
    @wraps(command)
    def with_files(home: Home, config_file: Path | None, cloud: Path | None, beside: str | None, **others: Any) -> Any:
        return command(home=home.with_options(config_file, beside), cloud_file=cloud, **others)

    return with_files


def policy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--policy-pack`, `--policy-pack-config` and `--no-policy-pack`; the command gets a `pack` or None."""

    @click.option("--no-policy-pack", is_flag=True, help="Use no policy pack.")
    @click.option("--policy-pack-config", type=FILE, help="A JSON file that configures the policy pack.")
    @click.option(
        "--policy-pack", type=_PACK_FOLDER, help="Use this policy pack instead of the project's `policy` folder."
    )
    @wraps(command)
    def with_pack(
        home: Home, policy_pack: Path | None, no_policy_pack: bool, policy_pack_config: Path | None, **others: Any
    ) -> Any:
        own = Pack.of(home.project, home.stack, policy_pack_config)
        pack = Pack(policy_pack, policy_pack_config) if policy_pack else own
        return command(home=home, pack=None if no_policy_pack else pack, **others)

    return with_pack


def named_by_user(option: str) -> bool:
    """Return whether the user gave this option to the running command."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
