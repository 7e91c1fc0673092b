"""Rule groups of Azure Monitor, from the rule group that Prometheus reads.

Sources: learn.microsoft.com/azure/azure-monitor/metrics/prometheus-rule-groups (properties) and
fundamentals/service-limits (20 rules a group, which cannot be raised). No page limits labels,
annotations or the length of an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from config.placement.node_pools import CAPACITY_LABEL, POOL_LABEL

NODE_LABELS = f"nodes=[{POOL_LABEL},{CAPACITY_LABEL}]"
"""What kube-state-metrics must show of nodes, in the form of AKS' `metricLabelsAllowlist`."""

_MOST_RULES = 20
_SEVERITIES = {"critical": 0, "warning": 2, "info": 3}
"""Azure's numbers: 0 is critical, 2 a warning, 3 informational."""


def rule_groups(
    group: Mapping[str, Any], cluster: str, action_groups: Sequence[str]
) -> list[list[dict[str, Any]]]:
    """Return the rules of each group, in Azure's names and in the order of Prometheus' group.

    `cluster`: the label `cluster` of the cluster's metrics.
    """
    rules = [_rule(rule, cluster, action_groups) for rule in group["rules"]]
    return [rules[start : start + _MOST_RULES] for start in range(0, len(rules), _MOST_RULES)]


def _rule(rule: Mapping[str, Any], cluster: str, action_groups: Sequence[str]) -> dict[str, Any]:
    if "record" in rule:
        # A group of one cluster reads only series with this label, and an aggregation drops it:
        # without it no rule would find what another one recorded.
        labels = {**rule.get("labels", {}), "cluster": cluster}
        return {"record": rule["record"], "expression": rule["expr"], "labels": labels}
    seconds = int(rule["for"].removesuffix("s"))
    return {
        "alert": rule["alert"],
        "expression": rule["expr"],
        **({"for": iso_duration(seconds)} if seconds else {}),
        "severity": _SEVERITIES[rule["labels"]["severity"]],
        "labels": rule["labels"],
        "annotations": rule["annotations"],
        **({"actions": [{"actionGroupId": id} for id in action_groups]} if action_groups else {}),
    }


def iso_duration(seconds: int) -> str:
    """Return a duration in ISO 8601 with the largest units, such as PT1H30M."""
    days, rest = divmod(seconds, 24 * 3600)
    hours, rest = divmod(rest, 3600)
    times = ((hours, "H"), (rest // 60, "M"), (rest % 60, "S"))
    date = f"P{days}D" if days else "P"
    time = "".join(f"{count}{unit}" for count, unit in times if count)
    return f"{date}T{time}" if time else date if days else "PT0S"
