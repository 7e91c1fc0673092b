"""The target of a drawn cloud, for the test of the seam: one resource, and a kubeconfig."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.target import CloudCluster, Stack, Target
from config.model.fields import Reference
from config.placement.node_pools import NodePool


class ToyCluster(CloudCluster):
    def __init__(self, name: str, stack: Stack, *, opts: pulumi.ResourceOptions) -> None:
        super().__init__("kubeflow-spot:toy:ToyCluster", name, None, opts)
        pools = [pool.name for pool in stack.node_pools]
        child = pulumi.ResourceOptions(parent=self)
        self.new_cluster = pulumi.CustomResource("toy:index:Cluster", name, {"pools": pools}, child)
        self.outputs = {"clusterName": stack.spec.name}
        self.kubeconfig = pulumi.Output.secret("apiVersion: v1")
        self.register_outputs({})


class ToyTarget(Target):
    key = "cloud"
    not_by_priority = "toys are drawn by lot"

    def __init__(self, stack: Stack, opts: pulumi.ResourceOptions | None) -> None:
        self._stack = stack
        self.place = {"clusterName": Reference(stack.spec.name)}

    def read_cluster(self) -> None: ...

    def declare(self, name: str, opts: pulumi.ResourceOptions) -> ToyCluster:
        return ToyCluster(name, self._stack, opts=opts)

    def node_labels(self, pool: NodePool) -> Mapping[str, str]:
        return {}
