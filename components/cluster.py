"""KubeflowCluster: the cloud's cluster or what it adds to one, then the layer inside it, then the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi

from components import existing
from components.addons import dcgm, discovery, expander, foreign, layer, names
from components.addons import placement as scheduling
from components.addons.discovery import Contents
from components.addons.expander import Decision
from components.addons.layer import PluginDecision
from components.addons.priorities import Wanted
from spec import placement, pods
from spec.azure import Azure
from spec.clouds import choice
from spec.existing import Existing
from spec.model import Capacity, ClusterSpec
from spec.placement import NodePool

if TYPE_CHECKING:
    from components.azure.existing import FoundCluster


@dataclass(frozen=True)
class Found:
    """A cluster that somebody else made, read before anything is declared."""

    kubeconfig: str
    contents: Contents
    aks: FoundCluster | None


class KubeflowCluster(pulumi.ComponentResource):
    """A whole stack. `outputs` are the stack's outputs by name."""

    outputs: dict[str, pulumi.Input[Any]]

    def __init__(self, name: str, spec: ClusterSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        instance = names.instance(pulumi.get_stack())
        cloud = choice.of(spec.cloud)
        node_pools = placement.node_pools(spec, cloud)

        # What is there already, and what follows from it
        found = _find(spec, node_pools, instance)
        plugin, metrics = _gpu_agents(spec, node_pools, found, instance)
        order = _expander(spec, node_pools, placement.growth_order(spec, cloud), found, instance)
        version = found.contents.version if found else spec.kubernetes_version
        published = found.contents.contract if found else None
        scheduled = scheduling.decide(spec, node_pools, version, instance, published)
        for warning in (*plugin.warnings, *metrics.warnings, *order.warnings, *scheduled.warnings):
            pulumi.log.warn(warning)

        super().__init__("kubeflow-spot:index:KubeflowCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)

        # The cloud's cluster, or pools in one
        made_here = None
        self.outputs = {"release": spec.release.name}
        if found is None:
            # A cloud's SDK takes a second to import.
            from components.azure.cluster import AksCluster

            ours = AksCluster(name, spec, node_pools, opts=child)
            made_here, kubeconfig = ours.cluster, ours.kubeconfig
            self.outputs |= _of_aks(ours.name, ours.resource_group, _azure(spec).access.entra)
        else:
            kubeconfig = pulumi.Output.secret(found.kubeconfig)
            if found.aks:
                from components.azure.existing import AksPools

                AksPools(name, spec, node_pools, found.aks, instance=instance, opts=child)
                self.outputs |= _of_aks(found.aks.name, found.aks.resource_group, found.aks.entra)
            else:
                command = "pulumi stack output kubeconfig --show-secrets"
                self.outputs |= {"clusterName": spec.name, "kubeconfigCommand": command}

        # The layer inside
        layer.declare(
            name,
            spec,
            cloud,
            plugin,
            metrics,
            order,
            scheduled,
            kubeconfig=kubeconfig,
            made_here=made_here,
            instance=instance,
            opts=child,
        )

        # The outputs
        self.outputs |= {
            "kubernetesVersion": version,
            "kubeconfig": kubeconfig,
            "pools": [_pool(pool) for pool in node_pools],
            "devicePlugin": plugin.as_output(),
            "expander": order.shown,
            "fallbackOrder": order.fallback_order,
            **scheduled.outputs,
        }
        self.register_outputs({})


def _azure(spec: ClusterSpec) -> Azure:
    assert isinstance(spec.cloud, Azure)
    return spec.cloud


def _find(spec: ClusterSpec, node_pools: Sequence[NodePool], instance: str) -> Found | None:
    """None for a cluster that this stack makes."""
    if isinstance(spec.cloud, Existing):
        kubeconfig = existing.kubeconfig(spec.cloud)
        return Found(kubeconfig, discovery.read(kubeconfig, "cloud.kubeconfig"), None)
    if isinstance(spec.cloud, Azure) and spec.cloud.existing_cluster:
        from components.azure.existing import find, refuse

        cluster = find(spec.cloud.existing_cluster)
        refuse(spec, node_pools, cluster, instance)
        return Found(cluster.kubeconfig, discovery.read(cluster.kubeconfig, "cloud.existingCluster"), cluster)
    return None


def _gpu_agents(
    spec: ClusterSpec, node_pools: Sequence[NodePool], found: Found | None, instance: str
) -> tuple[PluginDecision, dcgm.Decision]:
    """The device plugin and the exporter of GPU metrics."""
    if found is None:
        return layer.plugin_decision(spec, node_pools), dcgm.decide(spec, node_pools)
    labels = {}
    if found.aks:
        from components.azure.existing import node_labels

        labels = {pool.name: node_labels(pool) for pool in node_pools}
    there = (found.contents.daemon_sets, found.contents.policies, instance)
    return (
        layer.plugin_decision(spec, node_pools, foreign.plugins(*there), labels),
        dcgm.decide(spec, node_pools, dcgm.exporters(*there), labels),
    )


def _expander(
    spec: ClusterSpec, node_pools: Sequence[NodePool], growth_order: Sequence[str], found: Found | None, instance: str
) -> Decision:
    if isinstance(spec.cloud, Existing):
        return expander.not_priority(None, "this program knows no node groups of a cluster of this kind")
    spot = {pool.name for pool in node_pools if pool.capacity == Capacity.SPOT}
    wanted = Wanted(
        spot=tuple(name for name in growth_order if name in spot),
        on_demand=tuple(name for name in growth_order if name not in spot),
        others=found.aks.on_demand_beside(growth_order) if found and found.aks else (),
    )
    if found is None or found.aks is None:
        chosen: str = _azure(spec).autoscaler.expander
        remedy = "cloud.autoscaler.expander: priority makes it so"
    else:
        chosen = found.aks.expander
        remedy = (
            f"az aks update --resource-group {found.aks.resource_group} --name {found.aks.name}"
            " --cluster-autoscaler-profile expander=priority   makes it so"
        )
    if chosen != "priority":
        return expander.not_priority(chosen, remedy)
    return expander.decide(wanted, spec.expander, instance, found.contents.expander if found else None, spec.name)


def _of_aks(name: pulumi.Input[str], group: pulumi.Input[str], entra: bool) -> dict[str, pulumi.Input[Any]]:
    command = "az aks get-credentials --resource-group {0} --name {1}"
    if entra:
        command += " && kubelogin convert-kubeconfig -l azurecli"
    return {
        "clusterName": name,
        "resourceGroup": group,
        "kubeconfigCommand": pulumi.Output.format(command, group, name),
    }


def _pool(pool: NodePool) -> dict[str, Any]:
    """As tools and users read it. Where the nodes are somebody else's they must carry these labels and taints."""
    return {
        "name": pool.name,
        "label": pool.label,
        "machine": pool.machine,
        "capacity": pool.capacity.value,
        "minNodes": pool.min_nodes,
        "maxNodes": pool.max_nodes,
        "gpus": pool.gpus,
        "labels": dict(pool.labels),
        "taints": [taint.model_dump(mode="json") for taint in pool.taints],
        "tolerations": [toleration.as_manifest() for toleration in pods.tolerations([pool])],
    }
