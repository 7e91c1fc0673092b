"""The settings of AKS's cluster autoscaler, and what a release pins of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.fields import Duration, Minutes, Model, Seconds
from config.model.release import Release, all_of


class AzureAutoscaler(Model):
    """Settings of AKS' cluster autoscaler, for all pools at once; unset keys come from the release, else from AKS.

    Page cluster-autoscaler, section on the autoscaler profile; all twenty fields. AKS' defaults are in the descriptions.
    """

    expander: Literal["priority", "least-waste", "most-pods", "random"] = Field(
        "priority",
        description="How the autoscaler chooses the pool to grow. Only `priority` grows spot pools first and keeps the order "
        "of a fallback chain.",
    )
    scan_interval: Seconds | None = Field(
        None,
        description="Time between two looks at the pools. AKS' own default: 10s.",
        examples=["10s"],
    )
    max_node_provision_time: Minutes | None = Field(
        None,
        description="Time a new machine may take to join the cluster before another pool is tried. AKS' own default: 15m.",
        examples=["10m"],
    )
    new_pod_scale_up_delay: Duration | None = Field(
        None,
        description="Age of a pending pod before the autoscaler grows a pool for it. AKS' own default: 0s.",
        examples=["30s"],
    )
    scale_down_delay_after_add: Minutes | None = Field(
        None,
        description="Time after a new node before nodes are removed. AKS' own default: 10m.",
        examples=["10m"],
    )
    scale_down_delay_after_delete: Seconds | Minutes | None = Field(
        None,
        description="Time after a removed node before the next is removed. AKS' own default: the scan interval.",
        examples=["10s"],
    )
    scale_down_delay_after_failure: Minutes | None = Field(
        None,
        description="Time after a failed removal before the next is tried. AKS' own default: 3m.",
        examples=["3m"],
    )
    scale_down_unneeded_time: Minutes | None = Field(
        None,
        description="Time a node must be unneeded before it is removed. AKS' own default: 10m.",
        examples=["5m"],
    )
    scale_down_unready_time: Minutes | None = Field(
        None,
        description="Time an unready node must be unneeded before it is removed. AKS' own default: 20m.",
        examples=["20m"],
    )
    scale_down_utilization_threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of its CPU or memory that pods request, below which a node counts as unneeded. AKS' own default: 0.5.",
        examples=[0.5],
    )
    max_graceful_termination_sec: int | None = Field(
        None,
        ge=0,
        description="Seconds that pods get to end when their node is removed. AKS' own default: 600.",
        examples=[600],
    )
    max_empty_bulk_delete: int | None = Field(
        None,
        ge=1,
        description="Most empty nodes that are removed at once. AKS' own default: 10.",
        examples=[10],
    )
    balance_similar_node_groups: bool | None = Field(
        None,
        description="Keep pools of equal machines at equal size: not those of a stack, whose labels differ. AKS' own default: "
        "false.",
    )
    skip_nodes_with_local_storage: bool | None = Field(
        None,
        description="Keep nodes whose pods have emptyDir or hostPath volumes. The releases say false.",
    )
    skip_nodes_with_system_pods: bool | None = Field(
        None,
        description="Keep nodes with pods of kube-system that no DaemonSet made. AKS' own default: true.",
    )
    ignore_daemonsets_utilization: bool | None = Field(
        None,
        description="Leave pods of DaemonSets out of a node's utilization. AKS' own default: false.",
    )
    daemonset_eviction_for_empty_nodes: bool | None = Field(
        None,
        description="Evict pods of DaemonSets before an empty node is removed. AKS' own default: false.",
    )
    daemonset_eviction_for_occupied_nodes: bool | None = Field(
        None,
        description="Evict pods of DaemonSets before a node with other pods is removed. AKS' own default: true.",
    )
    ok_total_unready_count: int | None = Field(
        None,
        ge=0,
        description="Number of unready nodes with which the autoscaler always goes on. Default: the release's, or more where "
        "the pools' bounds need it. AKS' own default: 3.",
        examples=[10],
    )
    max_total_unready_percentage: int | None = Field(
        None,
        ge=0,
        le=100,
        description="Per cent of unready nodes above which, together with okTotalUnreadyCount, the autoscaler stops for every "
        "pool. Default: the release's, or more where the pools' bounds need it. AKS' own default: 45.",
        examples=[60],
    )


class AzurePins(Model):
    """The pins of a release for AKS."""

    azure_autoscaler: AzureAutoscaler = Field(
        title="AKS' cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(AzureAutoscaler),
    )


def pinned_autoscaler(release: Release) -> AzureAutoscaler:
    """The autoscaler's settings that a release pins."""
    assert isinstance(release, AzurePins)
    return release.azure_autoscaler
