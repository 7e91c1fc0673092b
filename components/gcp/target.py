"""A GKE cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.gcp import cluster, existing_cluster, pools, untainted
from components.gcp.cluster import GkeCluster
from components.gcp.existing_cluster import GkePools
from components.resources import reading
from components.target import CloudCluster, Stack, Target
from config.clouds.gcp.settings import Gcp
from config.placement.node_pools import NodePool

_BY_PRICE = "GKE takes what is cheapest among pools that fit, and has no priority expander"
"""Page cluster-autoscaler."""


class GkeTarget(Target):
    """The cluster of a stack file on GKE, read by the provider that `opts` of the component name: `GkeTarget(stack, opts)`.

    Raises `pulumi.RunError` for a cluster that cannot be read or cannot take the pools, and for an existing one that is missing.
    """

    device_plugin = ("kube-system", "nvidia-gpu-device-plugin")
    """On every GPU node that is not labelled otherwise (page gpus)."""

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        cloud = stack.spec.cloud
        assert isinstance(cloud, Gcp)
        self._stack, self._existing = stack, None
        if cloud.existing_cluster:
            # On-demand pools beside the stack's do not matter: GKE keeps no order among them.
            self._existing = existing = existing_cluster.read(
                cloud.project, cloud.existing_cluster, reading(opts, "gcp")
            )
            existing_cluster.refuse(stack, existing)
            options = f"--cluster {existing.name} --location {existing.location} --project {existing.project}"
            untainted.warn(stack.spec, "cloud.existingCluster", options, existing.live)
            self.key, self.kubeconfig = "cloud.existingCluster", existing.kubeconfig
            self.not_by_priority = (
                f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives pods that ask for it an order"
            )
        else:
            self._plan = cluster.plan(stack, reading(opts, "gcp"))
            self.key, self.place = "cloud", self._plan.place
            self.not_by_priority = f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives it an order"
            if "DCGM" in cloud.monitoring.components:
                # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/dcgm-metrics
                self.exporter = "GKE's own DCGM exporter (cloud.monitoring.components: DCGM)"

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> CloudCluster:
        """Declare the cluster, or the stack's pools in it."""
        if self._existing:
            return GkePools(name, self._stack, self._existing, opts=opts)
        return GkeCluster(name, self._plan, opts=opts)

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        """Return the known ones among GKE's labels."""
        return pools.node_labels(pool)
