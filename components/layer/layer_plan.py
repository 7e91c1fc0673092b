"""LayerPlan: what the layer inside a cluster consists of, from the stack file and from what an
existing cluster holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.layer import declared_alerts, discovery, release
from components.layer.autoscaler import compute_class, expander
from components.layer.autoscaler.compute_class import ComputeClassPlan
from components.layer.autoscaler.expander import ExpanderPlan
from components.layer.autoscaler.priorities import Wanted
from components.layer.declared_alerts import AlertsPlan
from components.layer.discovery import Contents
from components.layer.gpu import dcgm, device_plugin_plan, existing_plugins
from components.layer.gpu.dcgm import ExporterPlan
from components.layer.gpu.device_plugin_plan import DevicePluginPlan
from components.layer.scheduling import contract
from components.layer.scheduling import plan as scheduling_plan
from components.layer.scheduling.plan import SchedulingPlan
from components.target import Stack, Target
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.placement.growth_order import growth_order


@dataclass(frozen=True)
class LayerPlan:
    """The parts of the layer, each with its own plan."""

    version: str
    """The API server's version."""
    device_plugin: DevicePluginPlan
    exporter: ExporterPlan
    compute_class: ComputeClassPlan
    expander: ExpanderPlan
    scheduling: SchedulingPlan
    alerts: AlertsPlan

    @property
    def warnings(self) -> tuple[str, ...]:
        """Logged with every update."""
        parts = (
            self.device_plugin,
            self.exporter,
            self.compute_class,
            self.expander,
            self.scheduling,
            self.alerts,
        )
        return tuple(warning for part in parts for warning in part.warnings)

    @property
    def outputs(self) -> dict[str, Any]:
        """The stack's outputs by name."""
        return {
            "kubernetesVersion": self.version,
            "devicePlugin": self.device_plugin.as_output(),
            "expander": self.expander.shown,
            "fallbackOrder": self.expander.fallback_order,
            **self.compute_class.outputs,
            **self.scheduling.outputs,
        }


def plan(stack: Stack, cloud: Cloud, target: Target) -> LayerPlan:
    """Read an existing cluster, and return the plan for a target. Log warnings.

    Raise `pulumi.RunError` if the cluster does not answer, or holds conflicting objects.
    """
    contents = None
    if target.kubeconfig:
        pool_class = cloud.pool_class(stack.spec)
        contents = discovery.read_contents(
            target.kubeconfig, target.key, pool_class.name if pool_class else None
        )
    ours = contract.own_contract(contents.contracts, stack.instance) if contents else None
    if ours and not stack.last_update.content:
        pulumi.log.warn(
            f"{target.key}: the cluster has objects of a stack {stack.instance!r} already. Unless "
            "they are from an "
            "unfinished `up` of this stack, give this stack another name"
        )
    for warning in release.check_release(stack.spec.release.name, ours):
        pulumi.log.warn(warning)
    layer = _plan(stack, cloud, target, contents)
    for warning in layer.warnings:
        pulumi.log.warn(warning)
    return layer


def _plan(stack: Stack, cloud: Cloud, target: Target, contents: Contents | None) -> LayerPlan:
    """Return the plan. `contents`: None for a new cluster."""
    spec, node_pools, instance = stack.spec, stack.node_pools, stack.instance
    version = contents.version if contents else spec.kubernetes_version
    plugins: Sequence[existing_plugins.Plugin] = ()
    exporters: Sequence[existing_plugins.Plugin] = ()
    labels = {}
    if contents:
        plugins = existing_plugins.plugins(contents.daemon_sets, contents.policies, instance)
        exporters = dcgm.exporters(contents.daemon_sets, contents.policies, instance)
        labels = {pool.name: target.node_labels(pool) for pool in node_pools}
    clouds_plugin = existing_plugins.Plugin(*target.device_plugin, {})
    published_as = contract.choose_name(
        instance,
        stack.last_update.get(contract.REMEMBERED),
        contents.contracts if contents else None,
    )
    existing_class = contents.compute_class if contents else None
    compute_class_plan = compute_class.plan(
        spec, cloud, node_pools, version, instance, existing_class
    )
    return LayerPlan(
        version,
        device_plugin_plan.plan(spec, cloud, node_pools, plugins, labels, clouds_plugin),
        dcgm.plan(spec, node_pools, exporters, labels, target.exporter),
        compute_class_plan,
        _expander(stack, cloud, target, compute_class_plan, contents),
        scheduling_plan.plan(
            spec,
            node_pools,
            version,
            instance,
            published_as,
            contents.contracts if contents else None,
        ),
        declared_alerts.plan(stack, cloud, target),
    )


def _expander(
    stack: Stack,
    cloud: Cloud,
    target: Target,
    compute_class_plan: ComputeClassPlan,
    contents: Contents | None,
) -> ExpanderPlan:
    """Plan what keeps the order of growth: a ComputeClass, the expander, or nothing."""
    if compute_class_plan.name:
        return expander.kept_by(f"ComputeClass {compute_class_plan.name}")
    if target.order_kept_by:
        return expander.kept_by(target.order_kept_by)
    if target.not_by_priority:
        return expander.not_kept(target.not_by_priority)
    order = growth_order(stack.spec, stack.node_pools, cloud)
    wanted = Wanted(
        order=order,
        spot={pool.name for pool in stack.node_pools if pool.capacity == Capacity.SPOT},
        others=tuple(pool for pool in target.on_demand_pools if pool not in order),
    )
    config_map = contents.expander if contents else None
    return expander.plan(wanted, stack.spec.expander, stack.instance, config_map, stack.spec.name)
