"""Whether a pod may run on nodes that do not exist yet: taints and required affinity as Kubernetes
matches them.

Labels that other programs write later, such as node-feature-discovery, are unknown at zero nodes,
so a condition on an unknown label counts as met. Deliberately ignores resources, ports, topology
and preferred affinity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from config.model.pool import Effect, Taint


def may_run(pod: Mapping[str, Any], labels: Mapping[str, str], taints: Iterable[Taint]) -> bool:
    """Return whether a pod may run on a node with these taints and at least these labels."""
    return (
        all(tolerated(pod.get("tolerations") or [], taint) for taint in taints)
        and all(
            labels.get(key, value) == value
            for key, value in (pod.get("nodeSelector") or {}).items()
        )
        and _affine(pod, labels)
    )


def tolerated(tolerations: Iterable[Mapping[str, Any]], taint: Taint) -> bool:
    """Return whether a taint is tolerated (kubernetes.io, page taint-and-toleration)."""
    return taint.effect == Effect.PREFER_NO_SCHEDULE or any(
        _matches(toleration, taint) for toleration in tolerations
    )


def _matches(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect.value):
        return False
    key, operator = toleration.get("key") or "", toleration.get("operator") or "Equal"
    if not key:
        return bool(operator == "Exists")
    if key != taint.key:
        return False
    # The comparing operators of Kubernetes 1.35 are not evaluated: such a pod counts as tolerating
    # the taint.
    return operator != "Equal" or (toleration.get("value") or "") == taint.value


def _affine(pod: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    # A term without conditions matches no node (node affinity, API reference of NodeSelectorTerm).
    terms = [term for term in required.get("nodeSelectorTerms") or [] if any(term.values())]
    return any(
        all(
            _met(condition, labels) for condition in term.get("matchExpressions") or []
        )  # names of nodes are unknown
        for term in terms
    )


def _met(condition: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = condition["key"], condition["operator"]
    values = condition.get("values") or []
    if key not in labels:
        return True
    value = labels[key]
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return True
        case "DoesNotExist":
            return False
        case "Gt" | "Lt":
            try:
                number, bound = int(value), int(values[0])
            except (ValueError, IndexError):
                return False
            return number > bound if operator == "Gt" else number < bound
        case _:
            return True
