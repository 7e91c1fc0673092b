"""What every cloud has to offer to a stack: where its pools and its layer go.

Each of `components.azure.target`, `components.gcp.target` and `components.existing.target` has a function `site` that makes
one. A cluster that is there already is read then, and what it cannot take is refused, all before anything is declared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import pulumi

from config.placement.node_pools import NodePool

Outputs = dict[str, pulumi.Input[Any]]


class Cluster(Protocol):
    """What was declared in the cloud."""

    @property
    def outputs(self) -> Outputs:
        """How to find and reach the cluster, as the stack's outputs say it."""

    @property
    def kubeconfig(self) -> pulumi.Output[str]:
        """Secret."""

    @property
    def cluster(self) -> pulumi.Resource | None:
        """The cluster itself; None where it is somebody else's."""


class Site(Protocol):
    """A cluster that this stack makes, or one that it found."""

    @property
    def kubeconfig(self) -> str | None:
        """Of a cluster that was found: secret, wrap what is passed on. None for one that is yet to come."""

    @property
    def key(self) -> str:
        """By which key of the stack file errors name the cluster."""

    @property
    def place(self) -> Mapping[str, str]:
        """Where the cluster is that this stack makes, by the stack's outputs; empty for one that it found."""

    @property
    def remembered(self) -> Mapping[str, Any]:
        """What the next update is to know beside the place, of this cloud's own."""

    @property
    def not_by_priority(self) -> str | None:
        """Why the autoscaler does not look at the priority expander's ConfigMap, and what makes it; None where it does."""

    def on_demand_beside(self, own: Collection[str]) -> tuple[str, ...]:
        """Names of on-demand pools that the autoscaler may grow and that are not among a stack's own."""

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """What is known of the labels that the cloud itself puts on a pool's nodes."""

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> Cluster:
        """Declare what this stack has in the cloud."""
