"""Fit of a pod on a node, resources apart: taints, node selector, required node affinity.

Preferred affinity never counts: "CA does not consider 'soft' constraints" (cluster-autoscaler FAQ, 1.36.1).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]

# The tolerations that the DaemonSet controller adds to each of its pods
# (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations).
_DAEMON_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{condition}", "operator": "Exists"}
    for condition in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
]


def misfit(spec: Object, name: str, labels: Mapping[str, str], taints: Iterable[Object]) -> str:
    """Return the reason why a pod of this spec may not run on a node with this name, labels and taints; empty when it may."""
    tolerations = spec.get("tolerations") or []
    for taint in taints:
        if taint["effect"] != "PreferNoSchedule" and not any(tolerates(each, taint) for each in tolerations):
            return f"does not tolerate {taint['key']}={taint.get('value', '')}:{taint['effect']}"
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return f"selects {key}={value}"
    terms = required_terms(spec)
    if terms is not None and not any(_matches_term(term, name, labels) for term in terms):
        return "requires other nodes by its affinity"
    return ""


def daemon_fits(spec: Object, name: str, labels: Mapping[str, str], taints: Iterable[Object]) -> bool:
    """Return whether a DaemonSet whose pods have this spec runs one on a node."""
    tolerating = {**spec, "tolerations": [*(spec.get("tolerations") or []), *_DAEMON_TOLERATIONS]}
    return not misfit(tolerating, name, labels, taints)


def reports_ready(node: Object) -> bool:
    """Return whether a node's Ready condition is True."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def required_terms(spec: Object) -> Sequence[Object] | None:
    """Return the terms of a pod's required node affinity, any of which must match; None where it has no such affinity."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required["nodeSelectorTerms"] if required else None


def tolerates(toleration: Object, taint: Object) -> bool:
    """Return whether a toleration fits a taint (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)."""
    key, effect = toleration.get("key"), toleration.get("effect")
    if (key and key != taint["key"]) or (effect and effect != taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def _matches_term(term: Object, name: str, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    # A term without requirements matches no node (API reference, NodeSelectorTerm).
    return bool(expressions or fields) and (
        all(matches(expression, labels) for expression in expressions)
        and all(matches(field, {"metadata.name": name}) for field in fields)
    )


def matches(requirement: Object, labels: Mapping[str, str]) -> bool:
    """Return whether labels meet a requirement (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators)."""
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


def selects(selector: Object | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; a missing one matches nothing, an empty one everything (policy/v1)."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        matches(requirement, labels) for requirement in selector.get("matchExpressions") or ()
    )
