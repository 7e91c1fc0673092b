"""Names and labels of the program's objects in a cluster, unique for each stack."""

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
"""Room for the program's name and a role within a label value's 63 characters."""


def instance(stack: str) -> str:
    """Return the stack's name as a DNS label; a converted or truncated name ends in a hash so that
    it stays unique.

    Stack names may have upper case, `_` and `.`, and up to 100 characters.
    """
    if len(stack) <= _LONGEST and re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", stack):
        return stack
    digest = hashlib.sha256(stack.encode()).hexdigest()[:6]
    plain = re.sub(r"[^a-z0-9]+", "-", stack.lower())[: _LONGEST - len(digest) - 1].strip("-")
    return f"{plain}-{digest}".strip("-")


def object_name(instance: str, role: str) -> str:
    """Return the name of a cluster-wide or kube-system object."""
    return f"{PROGRAM}-{instance}-{role}"


def labels(instance: str) -> dict[str, str]:
    """Return the labels of every object that a stack declares, by which it recognizes its own."""
    return {INSTANCE: instance, PART_OF: PROGRAM}


def is_ours(existing: Mapping[str, str], instance: str) -> bool:
    """Return whether an object with these labels is this stack's own."""
    return existing.items() >= labels(instance).items()


def labels_of(existing: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object as the API server holds it."""
    labels: Mapping[str, str] = (existing.get("metadata") or {}).get("labels") or {}
    return labels


def stack(existing: Mapping[str, str]) -> str | None:
    """Return the stack of this program with these labels; None for other owners."""
    return existing.get(INSTANCE) if existing.get(PART_OF) == PROGRAM else None


def owner(existing: Mapping[str, str]) -> str:
    """Return the owner of an object with these labels, in words."""
    another = stack(existing)
    return f"stack {another!r} of this program" if another else "another owner"
