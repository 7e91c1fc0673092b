"""KubeflowCluster: the cloud's cluster or what it adds to one, then the layer inside it, then the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from components import last_update
from components.addons import discovery, layer, names, release
from components.addons.autoscaler import compute_class, expander
from components.addons.autoscaler.compute_class import ClassDecision
from components.addons.autoscaler.expander import Decision
from components.addons.autoscaler.priorities import Wanted
from components.addons.discovery import Contents
from components.addons.gpu import dcgm, existing_plugins
from components.addons.layer import PluginDecision
from components.addons.scheduling import plan as scheduling
from components.existing import target
from components.target import Outputs, Site
from config.clouds import registry
from config.clouds.azure.settings import Azure
from config.clouds.gcp.settings import Gcp
from config.clouds.traits import Cloud
from config.model.pool import Capacity, Pool, SystemPool
from config.model.spec import ClusterSpec
from config.placement import node_pools as placement
from config.placement import pods
from config.placement.node_pools import NodePool


class KubeflowCluster(pulumi.ComponentResource):
    """A whole stack. `outputs` are the stack's outputs by name."""

    outputs: Outputs

    def __init__(self, name: str, spec: ClusterSpec, *, opts: pulumi.ResourceOptions | None = None) -> None:
        instance = names.instance(pulumi.get_stack())
        cloud = registry.of(spec.cloud)
        node_pools = placement.node_pools(spec, cloud)

        # What is there already, and what follows from it
        was = last_update.read()
        site = _site(spec, node_pools, instance, was, opts)
        last_update.refuse(was, site.place)
        pool_class = cloud.pool_class(spec, cloud)
        class_name = pool_class.name if pool_class else None
        found = discovery.read(site.kubeconfig, site.key, class_name) if site.kubeconfig else None
        version = found.version if found else spec.kubernetes_version
        for warning in release.check(spec.release.name, found.contract if found else None, instance):
            pulumi.log.warn(warning)
        plugin, metrics = _gpu_agents(spec, cloud, node_pools, site, found, instance)
        ordered = compute_class.decide(
            spec, cloud, node_pools, version, instance, found.compute_class if found else None
        )
        order = _expander(spec, cloud, node_pools, ordered, site, found, instance)
        scheduled = scheduling.decide(spec, node_pools, version, instance, found.contract if found else None)
        for part in (plugin, metrics, ordered, order, scheduled):
            for warning in part.warnings:
                pulumi.log.warn(warning)

        # The cloud's cluster, or pools in one
        super().__init__("kubeflow-spot:index:KubeflowCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        made = site.declare(name, child)

        # The layer inside
        layer.declare(
            name,
            spec,
            cloud,
            plugin,
            metrics,
            order,
            ordered,
            scheduled,
            kubeconfig=made.kubeconfig,
            made_here=made.cluster,
            instance=instance,
            opts=child,
        )

        # The outputs
        self.outputs = {
            "release": spec.release.name,
            "overrides": [one.as_output() for one in spec.overrides],
            **made.outputs,
            "kubernetesVersion": version,
            "kubeconfig": made.kubeconfig,
            **({"systemPool": _system_pool(spec.system_pool)} if spec.system_pool else {}),
            "pools": [_pool(pool) for pool in node_pools],
            "devicePlugin": plugin.as_output(),
            "expander": order.shown,
            "fallbackOrder": order.fallback_order,
            **ordered.outputs,
            **scheduled.outputs,
            last_update.REMEMBERED: _remembered(spec, node_pools, site),
        }
        self.register_outputs({})


def _site(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    instance: str,
    was: Mapping[str, Any],
    opts: pulumi.ResourceOptions | None,
) -> Site:
    # Only the cloud that the stack uses is loaded.
    match spec.cloud:
        case Azure():
            from components.azure import target as azure

            return azure.site(spec, node_pools, instance, was, opts)
        case Gcp():
            from components.gcp import target as gcp

            return gcp.site(spec, node_pools, instance, was, opts)
        case _:
            return target.site(spec)


def _gpu_agents(
    spec: ClusterSpec,
    cloud: Cloud,
    node_pools: Sequence[NodePool],
    site: Site,
    found: Contents | None,
    instance: str,
) -> tuple[PluginDecision, dcgm.Decision]:
    """The device plugin and the exporter of GPU metrics."""
    if found is None:
        return layer.plugin_decision(spec, cloud, node_pools), dcgm.decide(spec, node_pools)
    labels = {pool.name: site.node_labels(pool) for pool in node_pools}
    there = (found.daemon_sets, found.policies, instance)
    return (
        layer.plugin_decision(spec, cloud, node_pools, existing_plugins.plugins(*there), labels),
        dcgm.decide(spec, node_pools, dcgm.exporters(*there), labels),
    )


def _expander(
    spec: ClusterSpec,
    cloud: Cloud,
    node_pools: Sequence[NodePool],
    ordered: ClassDecision,
    site: Site,
    found: Contents | None,
    instance: str,
) -> Decision:
    """Who keeps the order in which pools grow."""
    if ordered.name:
        return expander.kept_by(f"ComputeClass {ordered.name}")
    if site.not_by_priority:
        return expander.not_kept(site.not_by_priority)
    order = placement.growth_order(spec, cloud)
    wanted = Wanted(
        order=order,
        spot={pool.name for pool in node_pools if pool.capacity == Capacity.SPOT},
        others=site.on_demand_beside(order),
    )
    return expander.decide(wanted, spec.expander, instance, found.expander if found else None, spec.name)


def _system_pool(pool: SystemPool) -> dict[str, Any]:
    return {
        "name": pool.name,
        "machine": pool.machine,
        "capacity": Capacity.ON_DEMAND.value,
        "minNodes": pool.min_nodes,
        "maxNodes": pool.max_nodes,
    }


def _remembered(spec: ClusterSpec, node_pools: Sequence[NodePool], site: Site) -> dict[str, Any]:
    """What the next update compares with (`components.last_update`)."""
    sources: dict[str, Pool | SystemPool] = {pool.name: pool.source for pool in node_pools}
    if spec.system_pool:
        sources[spec.system_pool.name] = spec.system_pool
    asked = {name: last_update.asked(pool) for name, pool in sources.items()}
    return {"place": dict(site.place), "asked": {name: said for name, said in asked.items() if said}, **site.remembered}


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
        **({"largestRequest": dict(pool.largest_request)} if pool.largest_request else {}),
        "labels": dict(pool.labels),
        "taints": [taint.model_dump(mode="json") for taint in pool.taints],
        "tolerations": [toleration.as_manifest() for toleration in pods.tolerations([pool])],
    }
