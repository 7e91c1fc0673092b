"""Refusals and warnings that follow from the cluster: each at its line of the stack file."""

from __future__ import annotations

from collections.abc import Iterable

import pulumi

from components import settings
from config.base.problems import Problem, report


def refuse_settings(problems: Iterable[Problem]) -> None:
    """Raise `pulumi.RunError`, which prints without a traceback, for any problem of the settings."""
    if wrong := list(problems):
        raise pulumi.RunError(report(settings.positions().in_order(wrong)))


def refuse_changes(problems: Iterable[Problem]) -> None:
    """Raise `pulumi.RunError` for any problem of the way from the cluster to the settings."""
    if refused := list(problems):
        head = (
            f"{len(refused)} change{'s' if len(refused) > 1 else ''} refused; nothing was declared."
        )
        located = settings.positions().in_order(refused)
        raise pulumi.RunError("\n".join([head, *(f"  {problem}" for problem in located)]))


def warn(problems: Iterable[Problem]) -> None:
    """Log each problem as a warning."""
    for problem in settings.positions().in_order(problems):
        pulumi.log.warn(f"{problem}")
