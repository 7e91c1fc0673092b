"""The target of a drawn cloud, for the test of the seam: one resource, and a kubeconfig."""

from __future__ import annotations

import pulumi

from components.target import CloudCluster, NewCluster, Stack, Target


class ToyCluster(CloudCluster):
    def __init__(self, name: str, stack: Stack, *, opts: pulumi.ResourceOptions) -> None:
        super().__init__("kubeflow-spot:toy:ToyCluster", name, None, opts)
        pools = [pool.name for pool in stack.node_pools]
        child = pulumi.ResourceOptions(parent=self)
        self.new_cluster = pulumi.CustomResource("toy:index:Cluster", name, {"pools": pools}, child)
        self.outputs = {"clusterName": stack.spec.name}
        self.kubeconfig = pulumi.Output.secret("apiVersion: v1")
        self.register_outputs({})


def target(stack: Stack, opts: pulumi.ResourceOptions | None) -> Target:
    return NewCluster(
        declare=lambda name, child: ToyCluster(name, stack, opts=child),
        node_labels=lambda pool: {},
        not_by_priority="toys are drawn by lot",
        place={"clusterName": stack.spec.name},
    )
