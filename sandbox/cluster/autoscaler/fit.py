"""Whether a pod may go to a node, resources apart: taints, node selector, required node affinity.

Preferred affinity never counts: "CA does not consider 'soft' constraints" (cluster-autoscaler FAQ, 1.36.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Object = Mapping[str, Any]


def misfit(spec: Object, name: str, labels: Mapping[str, str], taints: Iterable[Object]) -> str:
    """Why a pod of this spec may not go to the node with this name, labels and taints; empty when it may."""
    for taint in taints:
        if taint["effect"] != "PreferNoSchedule" and not any(
            tolerates(one, taint) for one in spec.get("tolerations") or []
        ):
            return f"does not tolerate {taint['key']}={taint.get('value', '')}:{taint['effect']}"
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return f"selects {key}={value}"
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if required and not any(_term(term, name, labels) for term in required["nodeSelectorTerms"]):
        return "requires other nodes by its affinity"
    return ""


def tolerates(toleration: Object, taint: Object) -> bool:
    """https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"""
    key, effect = toleration.get("key"), toleration.get("effect")
    if (key and key != taint["key"]) or (effect and effect != taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def _term(term: Object, name: str, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    # A term without requirements matches no node (API reference, NodeSelectorTerm).
    return bool(expressions or fields) and (
        all(_matches(one, labels) for one in expressions)
        and all(_matches(one, {"metadata.name": name}) for one in fields)
    )


def _matches(requirement: Object, labels: Mapping[str, str]) -> bool:
    """https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators"""
    operator, values = requirement["operator"], requirement.get("values") or []
    value = labels.get(requirement["key"])
    if operator in ("NotIn", "DoesNotExist"):
        return value is None or (operator == "NotIn" and value not in values)
    if value is None:
        return False
    if operator in ("Gt", "Lt"):
        try:
            number, bound = int(value), int(values[0])
        except ValueError:
            return False
        return number > bound if operator == "Gt" else number < bound
    return operator == "Exists" or value in values
