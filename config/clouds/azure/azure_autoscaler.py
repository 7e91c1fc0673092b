"""The settings of AKS's cluster autoscaler, and what a release pins of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.model.fields import Duration, Minutes, Model, Seconds, optional
from config.model.release import Release, all_of


class AzureAutoscaler(Model):
    """Settings of AKS' cluster autoscaler, for all pools; unset: the release's (tasks/idle-gpu-nodes.md).

    All twenty fields of the page cluster-autoscaler, section on the autoscaler profile.
    """

    expander: Literal["priority", "least-waste", "most-pods", "random"] = optional(
        "priority",
        "How the autoscaler chooses a pool. Only `priority` grows spot first and keeps chains.",
    )
    scan_interval: Seconds | None = optional(
        None, "Time between two looks at the pools. AKS' default: 10s.", "10s"
    )
    max_node_provision_time: Minutes | None = optional(
        None,
        "Time for a new machine to join before another pool is tried. AKS' default: 15m.",
        "10m",
    )
    new_pod_scale_up_delay: Duration | None = optional(
        None, "Age of a pending pod before a pool grows for it. AKS' default: 0s.", "30s"
    )
    scale_down_delay_after_add: Minutes | None = optional(
        None, "Time after a new node before nodes are removed. AKS' default: 10m.", "10m"
    )
    scale_down_delay_after_delete: Seconds | Minutes | None = optional(
        None, "Time between two removals. AKS' default: the scan interval.", "10s"
    )
    scale_down_delay_after_failure: Minutes | None = optional(
        None, "Time after a failed removal. AKS' default: 3m.", "3m"
    )
    scale_down_unneeded_time: Minutes | None = optional(
        None, "Time a node must be unneeded before it is removed. AKS' default: 10m.", "5m"
    )
    scale_down_unready_time: Minutes | None = optional(
        None, "The same of an unready node. AKS' default: 20m.", "20m"
    )
    scale_down_utilization_threshold: float | None = optional(
        None,
        "Share of CPU or memory requested, below which a node is unneeded. AKS' default: 0.5.",
        0.5,
        gt=0,
        le=1,
    )
    max_graceful_termination_sec: int | None = optional(
        None, "Seconds for pods to end when their node is removed. AKS' default: 600.", 600, ge=0
    )
    max_empty_bulk_delete: int | None = optional(
        None, "Most empty nodes that are removed at once. AKS' default: 10.", 10, ge=1
    )
    balance_similar_node_groups: bool | None = optional(
        None,
        "Keep equal pools at equal size; a stack's pools differ in labels. AKS' default: false.",
    )
    skip_nodes_with_local_storage: bool | None = optional(
        None, "Keep nodes whose pods have emptyDir or hostPath volumes. Releases say false."
    )
    skip_nodes_with_system_pods: bool | None = optional(
        None, "Keep nodes with pods of kube-system that no DaemonSet made. AKS' default: true."
    )
    ignore_daemonsets_utilization: bool | None = optional(
        None, "Leave pods of DaemonSets out of a node's utilization. AKS' default: false."
    )
    daemonset_eviction_for_empty_nodes: bool | None = optional(
        None, "Evict pods of DaemonSets before an empty node is removed. AKS' default: false."
    )
    daemonset_eviction_for_occupied_nodes: bool | None = optional(
        None,
        "Evict pods of DaemonSets before a node with other pods is removed. AKS' default: true.",
    )
    ok_total_unready_count: int | None = optional(
        None,
        "Unready nodes with which the autoscaler always goes on. Default: the release's, or more "
        "where the pools' bounds need it. AKS' default: 3.",
        10,
        ge=0,
    )
    max_total_unready_percentage: int | None = optional(
        None,
        "Per cent of unready nodes above which, together with okTotalUnreadyCount, the autoscaler "
        "stops for every pool. Default: as for okTotalUnreadyCount. AKS' default: 45.",
        60,
        ge=0,
        le=100,
    )


class AzurePins(Model):
    """The pins of a release for AKS."""

    azure_autoscaler: AzureAutoscaler = Field(
        title="AKS' cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(AzureAutoscaler),
    )


def pinned_autoscaler(release: Release) -> AzureAutoscaler:
    """Return the autoscaler's settings that a release pins."""
    assert isinstance(release, AzurePins)
    return release.azure_autoscaler
