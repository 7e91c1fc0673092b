"""Placement as objects of the official Kubernetes client, for SDKs that are built on it.

Needs the package `kubernetes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubeflow_spot.contract import PREFERRED, REQUIRED, Lines


def tolerations(lines: Lines) -> list[Any]:
    """Return a list of `V1Toleration`."""
    from kubernetes.client import V1Toleration

    return [V1Toleration(**toleration) for toleration in lines.tolerations]


def affinity(lines: Lines) -> Any:
    """Return a `V1Affinity`, or None without one."""
    from kubernetes.client import (
        V1Affinity,
        V1NodeAffinity,
        V1NodeSelector,
        V1PreferredSchedulingTerm,
    )

    if not lines.node_affinity:
        return None
    required = lines.node_affinity.get(REQUIRED, {}).get("nodeSelectorTerms")
    preferred = lines.node_affinity.get(PREFERRED, ())
    terms = [
        V1PreferredSchedulingTerm(weight=t["weight"], preference=_term(t["preference"]))
        for t in preferred
    ]
    return V1Affinity(
        node_affinity=V1NodeAffinity(
            required_during_scheduling_ignored_during_execution=V1NodeSelector(
                node_selector_terms=[_term(term) for term in required]
            )
            if required
            else None,
            preferred_during_scheduling_ignored_during_execution=terms or None,
        )
    )


def node_selector(lines: Lines) -> dict[str, str] | None:
    """Return the labels of `V1PodSpec.node_selector`, or None without any."""
    return dict(lines.node_selector) or None


def _term(term: Mapping[str, Any]) -> Any:
    from kubernetes.client import V1NodeSelectorRequirement, V1NodeSelectorTerm

    expressions = [
        V1NodeSelectorRequirement(**expression) for expression in term.get("matchExpressions", ())
    ]
    return V1NodeSelectorTerm(match_expressions=expressions)
