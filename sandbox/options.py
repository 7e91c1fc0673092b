"""Options that several commands have, and the `home` they make of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sandbox.home import PROJECT, Home

DEFAULT_STACK = "dev"
FILE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)


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
