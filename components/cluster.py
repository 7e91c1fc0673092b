"""KubeflowCluster: the cloud's cluster, then the layer inside it, then the outputs."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes

from components.addons.device_plugin import DevicePlugin
from components.addons.expander import PriorityExpander
from components.azure.cluster import AksCluster
from spec import placement
from spec.clouds.azure import aks
from spec.model import ClusterSpec


class KubeflowCluster(pulumi.ComponentResource):
    """A whole stack. `outputs` are the stack's outputs by name."""

    outputs: dict[str, pulumi.Input[Any]]

    def __init__(self, name: str, spec: ClusterSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("kubeflow-spot:index:KubeflowCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        node_pools = placement.node_pools(spec, aks())

        # The cloud's cluster
        cloud = AksCluster(name, spec, node_pools, opts=child)

        # The layer inside
        kubernetes = pulumi_kubernetes.Provider(
            name,
            kubeconfig=cloud.kubeconfig,
            # Without it every cluster update, which makes the kubeconfig unknown, previews the whole layer as replaced.
            cluster_identifier=spec.name,
            # By default a changed ConfigMap is deleted and made anew; without its ConfigMap the autoscaler's choice is
            # random for that moment (docs/adr/0004).
            enable_config_map_mutable=True,
            opts=child,
        )
        # A fixed identifier hides a replaced cluster from the layer, so each object says it follows the cluster.
        inside = pulumi.ResourceOptions(provider=kubernetes, replace_with=[cloud.cluster], deleted_with=cloud.cluster)
        DevicePlugin(f"{name}-device-plugin", node_pools, spec.release.device_plugin_image, opts=child, child=inside)
        PriorityExpander(f"{name}-expander", placement.growth_order(spec, aks()), opts=child, child=inside)

        # The outputs
        self.outputs = {
            "release": spec.release.name,
            "kubernetesVersion": spec.kubernetes_version,
            "clusterName": cloud.name,
            "resourceGroup": cloud.resource_group,
            "kubeconfig": cloud.kubeconfig,
            "kubeconfigCommand": pulumi.Output.format(
                "az aks get-credentials --resource-group {0} --name {1}", cloud.resource_group, cloud.name
            ),
            "pools": [
                {
                    "name": pool.name,
                    "machine": pool.machine,
                    "capacity": pool.capacity.value,
                    "minNodes": pool.min_nodes,
                    "maxNodes": pool.max_nodes,
                    "gpus": pool.gpus,
                    "labels": dict(pool.labels),
                    "taints": [taint.model_dump(mode="json") for taint in pool.taints],
                    "tolerations": [toleration.model_dump(mode="json") for toleration in pool.tolerations],
                }
                for pool in node_pools
            ],
        }
        self.register_outputs({})
