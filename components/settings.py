"""The only reader of the stack's configuration. Deliberately reads nothing else: no environment, no files, no network."""

from __future__ import annotations

from typing import Any

import pulumi
from pulumi.runtime import config

from config import bounds, stackfile
from config.model.spec import ClusterSpec
from config.problems import report

PROJECT = "kubeflow-spot"


def load() -> ClusterSpec:
    """The checked spec of the current stack; warnings go to the engine's log.

    Raises `pulumi.RunError`, which prints without a traceback, with every problem of the settings.
    """
    spec, problems = stackfile.read(raw(), pulumi.get_stack())
    for problem in problems:
        if problem.warning:
            pulumi.log.warn(f"{problem}")
    if spec is None:
        raise pulumi.RunError(report(problems))
    return spec


def raw() -> dict[str, Any]:
    """Every key that the stack sets in this project's namespace. Pulumi delivers objects and lists as JSON text."""
    # pulumi.Config cannot list its keys, and a misspelt key must be an error.
    keys = {*config.CONFIG.get(), *config.get_config_env()}
    prefix = f"{PROJECT}:"
    return {
        key.removeprefix(prefix): bounds.parsed(config.get_config(key))
        for key in sorted(keys)
        if key.startswith(prefix)
    }
