"""Values as CEL writes them, for the expressions of admission policies
(https://kubernetes.io/docs/reference/using-api/cel/).
"""

from __future__ import annotations

import json
from typing import Any

LABELS = "has(object.metadata.labels) ? object.metadata.labels : {}"

NAME = "object.metadata.?name.orValue(object.metadata.?generateName.orValue(''))"
"""The object's name, or the prefix of its generated name."""

NOT_BY_DAEMON_SETS = (
    "request.userInfo.username != 'system:serviceaccount:kube-system:daemon-set-controller'"
)
"""Pods that the DaemonSet controller did not create, by the user's name: anybody may write an owner
reference."""

NOT_OF_A_DAEMON_SET = """\
!(request.userInfo.username == 'system:kube-controller-manager'
     && has(object.metadata.ownerReferences)
     && object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet'))"""
"""The same for clusters where all controllers are one user, whose owner references are true."""


def value(plain: Any) -> str:
    """Return a text, a number, a list or a map as a literal.

    A map or a list must hold values of one type; `dyn` hides mixed types.
    """
    if isinstance(plain, dict):
        mixed = len({type(item) for item in plain.values()}) > 1 or any(
            isinstance(v, dict) for v in plain.values()
        )
        entries = (
            f"{value(key)}: {f'dyn({value(item)})' if mixed else value(item)}"
            for key, item in plain.items()
        )
        return "{" + ", ".join(entries) + "}"
    if isinstance(plain, list | tuple):
        return f"[{', '.join(map(value, plain))}]"
    # CEL's escapes are those of JSON.
    return json.dumps(plain)


def some_has(base: str, path: str, key: str, depth: int = 0) -> str:
    """Return the test whether any map at a path below `base` has a key. A missing field has no
    keys.

    A path is fields with dots; `[]` is each item of a list, `{}` each value of a map.
    """
    head, mark, rest = _cut(path)
    found = base + "".join(f".?{field}" for field in head.split("."))
    if not mark:
        return f"{found}[?{value(key)}].hasValue()"
    item, items = f"item{depth}", f"items{depth}"
    if mark == "[]":
        return f"{found}.orValue([]).exists({item}, {some_has(item, rest, key, depth + 1)})"
    within = some_has(f"{items}[{item}]", rest, key, depth + 1)
    return f"{found}.optMap({items}, {items}.exists({item}, {within})).orValue(false)"


def _cut(path: str) -> tuple[str, str, str]:
    """Return the fields before the first list or map, its mark, and the path in each item."""
    marks = {path.find(mark): mark for mark in ("[]", "{}") if mark in path}
    if not marks:
        return path, "", ""
    at = min(marks)
    return path[:at], marks[at], path[at + 3 :]
