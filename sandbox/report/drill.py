"""The command that shows what a change does to work while spot comes and goes, where a pool, a chain or a timer changes."""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.base.cloud_types import CLUSTERS, POOLS
from sandbox.report.model import Change, Op

HEAD = "**A pool, a chain or a timer changes.** What becomes of work while spot comes and goes, before and after:"

_STACK = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,199}"
_COMMAND = "uv run sandbox drill --stack {stack} --against {revision}"
_OURS = re.compile(
    re.escape(_COMMAND)
    .replace(r"\{stack\}", f"(?P<stack>{_STACK})")
    .replace(r"\{revision\}", f"'?(?P<revision>{_REVISION})'?")
)

_TIMERS = ("autoScalerProfile", "clusterAutoscaling")
"""Properties of clusters, as azure-native and pulumi-gcp call them."""
_IDLE = ("orchestratorVersion", "version", "tags", "resourceLabels", "nodeConfig.resourceLabels", "upgradeSettings")
"""Properties of pools that decide nothing about where pods go: they change with every release and every tag."""
_ORDER = ("kubernetes:cloud.google.com/v1:ComputeClass",)
_EXPANDER = re.compile(r"kubernetes:core/v1:ConfigMap .*-expander")


def command(
    stack: str, revision: str, changes: Iterable[Change], before: Mapping[str, Any], after: Mapping[str, Any]
) -> str:
    """The command; empty where nothing of the kind changes, or for names that a shell might run.

    `before` and `after` are the stack's outputs: the order in which pools grow is among them.
    """
    orders = [outputs.get("fallbackOrder") for outputs in (before, after)]
    if not (any(map(_matters, changes)) or (before and after and orders[0] != orders[1])):
        return ""
    if not re.fullmatch(_STACK, stack) or not re.fullmatch(_REVISION, revision):
        return ""
    return _COMMAND.format(stack=stack, revision=shlex.quote(revision))


def _matters(change: Change) -> bool:
    if change.type in POOLS:
        paths = [changed.path for changed in change.properties]
        return change.op != Op.UPDATE or any(not _under(path, _IDLE) for path in paths)
    if change.type in CLUSTERS:
        return any(_under(changed.path, _TIMERS) for changed in change.properties)
    return change.type in _ORDER or bool(_EXPANDER.fullmatch(f"{change.type} {change.name}"))


def _under(path: str, names: Iterable[str]) -> bool:
    """Whether a property's path is one of these or inside it."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


def ours(command: str) -> bool:
    """Whether `command` could have written this text."""
    written = _OURS.fullmatch(command)
    if not written:
        return False
    return command == _COMMAND.format(stack=written["stack"], revision=shlex.quote(written["revision"]))
