"""The stack file's `alerts`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from config.model.fields import LabelKey, LabelValue, Model, Namespace, optional

NAMES = (
    "SpotGone",
    "FallbackLasts",
    "NoSpotForHours",
    "GpuPodWaitsPoolsFull",
    "GpuPodWaitsNoCapacity",
    "GpuPodFitsNoPool",
    "GpuBudgetExceeded",
    "DevicePluginMissing",
    "GpuNodeIdle",
    "SpotNodesLost",
    "PlatformPodOnSpot",
    "UnreadyNodesNearTheStop",
    "KubernetesSupportEnds",
    "GrowthOrderChanged",
    "GuardBypassed",
)
"""Every alert of `config.alerts.alert_rules`."""


class Alerts(Model):
    """Alerts of the stack's pools, as rules of Prometheus."""

    off: ClassVar[str] = "{declare: none}"

    hourly_budget: float | None = optional(
        None,
        "US dollars that all GPU nodes may cost an hour. Default: every pool but the twins at its "
        "largest.",
        2.5,
        gt=0,
    )
    runbooks: str = optional(
        "docs/runbooks.md",
        "The address of the runbooks, which alerts link to.",
        "https://runbooks.example.com/gpu",
        min_length=1,
    )
    without: tuple[str, ...] = Field(
        (), description="Alerts that are left out.", examples=[["FallbackLasts"]]
    )
    declare: Literal["none", "operator", "cloud"] = optional(
        "none",
        "Where the stack declares the rules beside the output `alerts`. `operator`: a "
        "PrometheusRule for the Prometheus operator in the cluster, which you install. `cloud`: "
        "rule groups of Azure Monitor on AKS, ClusterRules on GKE (operate.md).",
        "operator",
    )
    namespace: Namespace = optional(
        "monitoring", "The PrometheusRule's namespace, an existing one.", "monitoring"
    )
    labels: dict[LabelKey, LabelValue] = optional(
        {},
        "Labels by which the operator's Prometheus selects the PrometheusRule.",
        {"release": "kube-prometheus-stack"},
    )
