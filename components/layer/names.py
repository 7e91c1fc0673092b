"""Names and labels of the program's objects inside a cluster: two stacks on one cluster must never mean the same object."""

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
    """The stack's name as a DNS label: unchanged where it is one and short enough, else converted, with a digest.

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
    """The labels of every object that a stack declares; it recognizes its own by them."""
    return {INSTANCE: instance, PART_OF: PROGRAM}


def is_ours(existing: Mapping[str, str], instance: str) -> bool:
    """Whether an object with these labels is this stack's own."""
    return existing.items() >= labels(instance).items()


def labels_of(existing: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels of an object as the API server holds it."""
    labels: Mapping[str, str] = (existing.get("metadata") or {}).get("labels") or {}
    return labels


def stack(existing: Mapping[str, str]) -> str | None:
    """The stack of this program that declares an object with these labels; None for other owners."""
    return existing.get(INSTANCE) if existing.get(PART_OF) == PROGRAM else None


def owner(existing: Mapping[str, str]) -> str:
    """The owner of an object with these labels, in words."""
    another = stack(existing)
    return f"stack {another!r} of this program" if another else "another owner"
