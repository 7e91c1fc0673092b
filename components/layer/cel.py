"""Values as CEL writes them, for the expressions of admission policies (https://kubernetes.io/docs/reference/using-api/cel/)."""

from __future__ import annotations

import json
from typing import Any

LABELS = "has(object.metadata.labels) ? object.metadata.labels : {}"

NOT_BY_DAEMON_SETS = "request.userInfo.username != 'system:serviceaccount:kube-system:daemon-set-controller'"
"""Pods that the controller of DaemonSets did not create. The user's name is proof; anybody may write an owner."""

NOT_OF_A_DAEMON_SET = """\
!(request.userInfo.username == 'system:kube-controller-manager'
     && has(object.metadata.ownerReferences)
     && object.metadata.ownerReferences.exists(o, o.kind == 'DaemonSet'))"""
"""The same where all controllers are one user, whose owner references are true."""


def value(plain: Any) -> str:
    """Text, a number, a list or a map as a literal.

    The API server wants values of one type in a map or a list; `dyn` hides the types of those that are not.
    """
    if isinstance(plain, dict):
        mixed = len({type(item) for item in plain.values()}) > 1 or any(isinstance(v, dict) for v in plain.values())
        entries = (f"{value(key)}: {f'dyn({value(item)})' if mixed else value(item)}" for key, item in plain.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(plain, list | tuple):
        return f"[{', '.join(map(value, plain))}]"
    # CEL's escapes are those of JSON, and its other forms of text are of no use here.
    return json.dumps(plain)
