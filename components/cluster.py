"""KubeflowCluster: the cloud's cluster, or pools in one, its layer, and the outputs."""

from __future__ import annotations

import pulumi

from components import clouds, workloads
from components.last_update import INSTANCE, LastUpdate
from components.layer import layer_plan as layer_plan
from components.layer import names
from components.layer.declare import declare_layer
from components.outputs import outputs
from components.target import Outputs, Stack
from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement.node_pools import node_pools, system_pool


class KubeflowCluster(pulumi.ComponentResource):
    """A whole stack: `KubeflowCluster(spec.name, spec).outputs`.

    It deliberately installs nothing of Kubeflow, and exports nothing: the program exports
    `outputs`.
    """

    outputs: Outputs

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        instance: str | None = None,
        last_update: LastUpdate | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`instance`: the name in labels and names of objects in the cluster at the first update.

        `instance` and `last_update` are the stack's by default.
        """
        # Settings: the stack file, the last update, and an existing cluster as it is; refused
        # before anything is declared
        cloud = registry.cloud_of(spec.cloud)
        last_update = last_update or LastUpdate.read_outputs()
        # A renamed stack has the same objects.
        instance = last_update.get(INSTANCE) or instance or names.instance(pulumi.get_stack())
        system = system_pool(spec.system_pool, cloud) if spec.system_pool else None
        stack = Stack(spec, node_pools(spec, cloud), system, instance, last_update)
        target = clouds.target(stack, opts)
        stack.last_update.refuse_move(target.place, target.existing)
        workloads.refuse_rename(spec, stack.last_update)
        target.read_cluster()
        plan = layer_plan.plan(stack, cloud, target)

        # Cloud: the cluster, or pools in one
        super().__init__("kubeflow-spot:index:KubeflowCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        cluster = target.declare(name, child)

        # Layer
        declare_layer(name, stack, cloud, plan, cluster, child)

        # Outputs
        self.outputs = outputs(stack, cloud, target, plan, cluster)
        self.register_outputs(self.outputs)
