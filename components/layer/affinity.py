"""Node affinity of the program's own pods."""

from __future__ import annotations

import pulumi_kubernetes as k8s


def only_where(condition: k8s.core.v1.NodeSelectorRequirementArgs) -> k8s.core.v1.AffinityArgs:
    """Return the affinity of pods that run only on nodes that meet the condition."""
    terms = [k8s.core.v1.NodeSelectorTermArgs(match_expressions=[condition])]
    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(
                node_selector_terms=terms
            )
        )
    )
