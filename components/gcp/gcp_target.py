"""A GKE cluster as the target of a stack: a new one, or an existing one that was read."""

from __future__ import annotations

import pulumi

from components import property_edits
from components.gcp import gcp_cluster, gcp_existing_cluster, gcp_pools
from components.gcp.gcp_cluster import GkeCluster
from components.gcp.gcp_existing_cluster import GkePools
from components.last_update import remember_reset
from components.resources import reading
from components.target import CloudCluster, Stack, Target
from config.clouds.gcp.gcp_pool import properties_of
from config.clouds.gcp.gcp_settings import Gcp

_BY_PRICE = "GKE takes what is cheapest among pools that fit, and has no priority expander"
"""Page cluster-autoscaler."""


class GkeTarget(Target):
    """The GKE cluster of a stack file: `GkeTarget(stack, opts)`; `opts` has its provider."""

    device_plugin = ("kube-system", "nvidia-gpu-device-plugin")
    """It runs on every GPU node that is not labelled otherwise (page gpus)."""
    node_labels = staticmethod(gcp_pools.node_labels)
    _plan: gcp_cluster.ClusterPlan
    _existing: gcp_existing_cluster.ExistingGke

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        cloud = stack.spec.cloud
        assert isinstance(cloud, Gcp)
        self._stack, self._cloud, self._reading = stack, cloud, reading(opts, "gcp")
        if existing := cloud.existing_cluster:
            self.key = "cloud.existingCluster"
            self.existing = f"{cloud.project}/{existing.location}/{existing.name}"
            self.not_by_priority = (
                f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives pods that ask for it an "
                "order"
            )
            return
        self.key, self.place = "cloud", gcp_cluster.place(stack.spec, cloud)
        self.not_by_priority = f"{_BY_PRICE}; cloud.fallback.mode: compute-class gives it an order"
        if "DCGM" in cloud.monitoring.components:
            # https://docs.cloud.google.com/kubernetes-engine/docs/how-to/dcgm-metrics
            self.exporter = "GKE's own DCGM exporter (cloud.monitoring.components: DCGM)"

    def read_cluster(self) -> None:
        """Read the cluster."""
        if self._cloud.existing_cluster:
            # On-demand pools beside the stack's do not matter: GKE keeps no order among them.
            self._existing = gcp_existing_cluster.read_existing(
                self._cloud.project, self._cloud.existing_cluster, self._reading
            )
            self._pools = gcp_existing_cluster.plan(self._stack, self._existing)
            self.kubeconfig, self.pool_names = (
                self._existing.kubeconfig,
                self._existing.live.pools.keys(),
            )
        else:
            self._plan = gcp_cluster.plan(self._stack, self._reading)
            self.pool_names = self._plan.live.pools.keys()
        maintenance = ("maintenance",) if self._cloud.maintenance else ()
        self.remembered = {
            **property_edits.remembered(self._cloud.properties, self._stack.pools, properties_of),
            **remember_reset(self._cloud.storage_drivers, *maintenance),
        }

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> CloudCluster:
        """Declare the cluster, or the stack's pools in it."""
        if self._cloud.existing_cluster:
            return GkePools(name, self._stack, self._existing, self._pools, opts=opts)
        return GkeCluster(name, self._plan, opts=opts)
