"""The only reader of the stack's configuration. It reads nothing but Pulumi's configuration and the
text of the stack file (`components.stack_file_text`): no environment, no network.
"""

from __future__ import annotations

import re
from typing import Any

import pulumi
from pulumi.runtime import config

from components.stack_file_text import StackFile
from config.base.problems import report
from config.model import bounds
from config.model.spec import ClusterSpec
from config.stack_file import loader, top_keys
from config.stack_file.mended_file import MendedFile
from config.stack_file.positions import Positions

PROJECT = "kubeflow-spot"


def load() -> ClusterSpec:
    """Return the checked spec of the current stack; log its warnings.

    Raise `pulumi.RunError`, printed without a traceback, with every problem of the settings.
    """
    passed = raw()
    file = StackFile.of_this_stack(PROJECT)

    def is_secret(path: str) -> bool:
        # Pulumi tells of an object only that something in it is a secret.
        return _holds_secret(path) and not file.shows(path, passed)

    spec, problems = loader.read_stack(
        passed,
        pulumi.get_stack(),
        is_secret=is_secret,
        outside=file.outside(passed),
        unread=file.unread,
        others=_keys() - _own_keys().keys(),
        accepts_examples=accepts_examples(),
    )
    lines = file.positions(passed)
    mended = MendedFile()
    if spec is None:
        mended = loader.mend(
            passed,
            problems,
            pulumi.get_stack(),
            outside=file.outside(passed),
            accepts_examples=accepts_examples(),
        )
    located = lines.in_order([*problems, *mended.further])
    for problem in located:
        if problem.warning:
            pulumi.log.warn(f"{problem}")
    if spec is None:
        raise pulumi.RunError(report(located, lines.in_file_order(mended.objects)))
    return spec


def positions() -> Positions:
    """Return the lines of the current stack's settings; none if its file cannot be read."""
    return StackFile.of_this_stack(PROJECT).positions(raw())


def accepts_examples() -> bool:
    """Return whether the stack reaches no real cloud, so that values of examples may stand in it."""
    return pulumi.Config("examples").get_bool("accept") or False


def raw() -> dict[str, Any]:
    """Return every key that the stack sets for this program, by its own name.

    A key in a misspelt namespace, such as kubeflow_spot, keeps it. Pulumi delivers objects and
    lists as JSON.
    """
    return {name: bounds.parse_value(config.get_config(key)) for key, name in _own_keys().items()}


def _keys() -> set[str]:
    """Return every key of Pulumi's configuration, which `pulumi.Config` cannot list."""
    return {*config.CONFIG.get(), *config.get_config_env()}


def _own_keys() -> dict[str, str]:
    """Return the program's own name of each of its keys; a misspelt key must be an error."""
    named = {key: top_keys.own_setting(key, PROJECT) for key in sorted(_keys())}
    return {key: name for key, name in named.items() if name}


def _holds_secret(path: str) -> bool:
    """Return whether the top key of a path came as a secret, or with a secret in it."""
    key = re.split(r"[.\[]", path)[0]
    return config.is_config_secret(key if ":" in key else f"{PROJECT}:{key}")
