"""The stack's rules as an object in the cluster: a PrometheusRule for the Prometheus operator, or
the kind that the cloud's own Prometheus reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi_kubernetes as k8s
from pulumi import RunError

from components.layer import discovery, names
from components.layer.part import Inside, Part
from components.target import Stack, Target
from config.alerts import alert_rules
from config.clouds.traits import Cloud, RulesKind

ROLE = "alerts"

_OPERATOR = RulesKind(
    "monitoring.coreos.com/v1",
    "PrometheusRule",
    "prometheusrules",
    "install the Prometheus operator first, or write `declare: none`",
)
"""https://prometheus-operator.dev/docs/api-reference/api/"""


@dataclass(frozen=True)
class AlertsPlan:
    """The object that holds the rules; `AlertsPlan()` for a stack that declares none."""

    kind: RulesKind | None = None
    namespace: str | None = None
    """None for an object of the whole cluster."""
    labels: Mapping[str, str] = field(default_factory=dict)
    group: Mapping[str, Any] = field(default_factory=dict)
    """As Prometheus reads it."""
    warnings: tuple[str, ...] = ()


def plan(stack: Stack, cloud: Cloud, target: Target) -> AlertsPlan:
    """Return the plan. Raise `pulumi.RunError` if an existing cluster lacks the kind.

    A new cluster gets the operator after its first update, so that update leaves the object out.
    """
    alerts = stack.spec.alerts
    by_operator = alerts is not None and alerts.declare == "operator"
    kind = _OPERATOR if by_operator else cloud.rules_kind
    if alerts is None or alerts.declare == "none" or kind is None:
        return AlertsPlan()
    namespace = alerts.namespace if by_operator else None
    if target.kubeconfig:
        if not discovery.serves(target.kubeconfig, target.key, kind, namespace):
            raise RunError(
                f"alerts.declare: cluster {stack.spec.name} has no {kind.kind} of "
                f"{kind.api_version}\n  {kind.remedy}"
            )
    elif by_operator and not stack.last_update.content:
        return AlertsPlan(
            warnings=(
                "alerts.declare: a new cluster has no Prometheus operator yet\n"
                "  install it after this `up`: the next `up` declares the rules",
            )
        )
    group = alert_rules.rule_group(stack.spec, stack.node_pools, cloud)
    return AlertsPlan(kind, namespace, alerts.labels, group)


class DeclaredAlerts(Part):
    """The rules in the cluster: `DeclaredAlerts("ml-alerts", plan(stack, cloud, target), inside)`.

    It deliberately notifies nobody: receivers are the Alertmanager's, which is yours.
    """

    def __init__(self, name: str, plan: AlertsPlan, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:DeclaredAlerts", name, inside)
        assert plan.kind
        k8s.apiextensions.CustomResource(
            name,
            api_version=plan.kind.api_version,
            kind=plan.kind.kind,
            metadata=k8s.meta.v1.ObjectMetaArgs(
                name=names.object_name(self.instance, ROLE),
                namespace=plan.namespace,
                labels={**plan.labels, **names.labels(self.instance)},
            ),
            spec={"groups": [plan.group]},
            opts=self.child,
        )
        self.register_outputs({})
