"""What the program's objects inside a cluster are called: two stacks on one cluster must never mean the same object."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

PART_OF = "app.kubernetes.io/part-of"
INSTANCE = "app.kubernetes.io/instance"
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/"""

PROGRAM = "kubeflow-spot"

_LONGEST = 30
"""Leaves room for the program's name and a role within the 63 characters of a label's value."""


def instance(stack: str) -> str:
    """The stack's name as a DNS label: itself where it is one and short enough, else made so, with a digest of it.

    Stack names may have upper case, `_` and `.`, and up to 100 characters.
    """
    if len(stack) <= _LONGEST and re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", stack):
        return stack
    digest = hashlib.sha256(stack.encode()).hexdigest()[:6]
    plain = re.sub(r"[^a-z0-9]+", "-", stack.lower())[: _LONGEST - len(digest) - 1].strip("-")
    return f"{plain}-{digest}".strip("-")


def object_name(instance: str, role: str) -> str:
    """The name of a cluster-wide or kube-system object."""
    return f"{PROGRAM}-{instance}-{role}"


def labels(instance: str) -> dict[str, str]:
    """The labels of every object a stack declares, by which it knows its own."""
    return {INSTANCE: instance, PART_OF: PROGRAM}


def is_ours(found: Mapping[str, str], instance: str) -> bool:
    """Whether an object with these labels is this stack's own."""
    return found.items() >= labels(instance).items()


def labels_of(found: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels of an object as the API server holds it."""
    labels: Mapping[str, str] = (found.get("metadata") or {}).get("labels") or {}
    return labels


def stack(found: Mapping[str, str]) -> str | None:
    """Which stack of this program declares an object with these labels; None for somebody else's."""
    return found.get(INSTANCE) if found.get(PART_OF) == PROGRAM else None


def owner(found: Mapping[str, str]) -> str:
    """Whose an object with these labels is, in words."""
    another = stack(found)
    return f"stack {another!r} of this program" if another else "somebody else"
