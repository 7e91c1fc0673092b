"""Options that several commands have, and the `home` they make of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sandbox.base.home import PROJECT, Home
from sandbox.engine.policies import Pack

DEFAULT_STACK = "dev"
FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


def stack_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--stack` and `--cwd`; the command is given a `home`."""

    def with_home(stack: str, cwd: Path, **others: Any) -> Any:
        return command(home=Home.of(stack, cwd), **others)

    with_home.__name__, with_home.__doc__ = command.__name__, command.__doc__
    with_home.__dict__.update(command.__dict__)
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    options = (
        click.option("--stack", "-s", default=DEFAULT_STACK, show_default=True, help="The stack: Pulumi.<stack>.yaml."),
        click.option("--cwd", "-C", default=PROJECT, type=folder, help="The project's folder, if not this checkout."),
    )
    for option in options:
        with_home = option(with_home)
    return with_home


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--config-file`, `--cloud` and `--beside`: what a stack is made from and where. The `home` knows the first and last."""

    def with_told(home: Home, config_file: Path | None, cloud: Path | None, beside: str | None, **others: Any) -> Any:
        return command(home=home.told(config_file, beside), cloud_file=cloud, **others)

    with_told.__name__, with_told.__doc__ = command.__name__, command.__doc__
    with_told.__dict__.update(command.__dict__)
    options = (
        click.option(
            "--config-file", type=FILE, help="Use this stack file instead of Pulumi.<stack>.yaml; `up` remembers it."
        ),
        click.option("--cloud", type=FILE, help="A YAML file of quotas, and of what else is in the cloud."),
        click.option("--beside", metavar="STACK", help="Use the emulated cloud of this other stack."),
        click.option(
            "--refresh", is_flag=True, help="Read everything from the cloud first, which Pulumi.yaml may do always."
        ),
    )
    for option in options:
        with_told = option(with_told)
    return with_told


def policy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--policy-pack` and its like; the command, which has a `home`, is given a `pack` or None."""

    def with_pack(
        home: Home, policy_pack: Path | None, no_policy_pack: bool, policy_pack_config: Path | None, **others: Any
    ) -> Any:
        pack = Pack(policy_pack, policy_pack_config) if policy_pack else Pack.of(home.project, policy_pack_config)
        return command(home=home, pack=None if no_policy_pack else pack, **others)

    with_pack.__name__, with_pack.__doc__ = command.__name__, command.__doc__
    with_pack.__dict__.update(command.__dict__)
    folder = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)
    options = (
        click.option(
            "--policy-pack", type=folder, help="Use this policy pack instead of the project's `policy` folder."
        ),
        click.option("--policy-pack-config", type=FILE, help="A JSON file that configures the policy pack."),
        click.option("--no-policy-pack", is_flag=True, help="Use no policy pack."),
    )
    for option in options:
        with_pack = option(with_pack)
    return with_pack


def named_by_user(option: str) -> bool:
    """Whether the running command was given this option, and did not take its default."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE
