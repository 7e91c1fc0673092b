"""Outputs of a stack: for tools, for people, and for its next update."""

from __future__ import annotations

from typing import Any

from components import last_update, output_types, references, removed_pools, workloads
from components.layer.layer_plan import LayerPlan
from components.layer.scheduling import contract
from components.output_types import PodToleration, SystemPoolOutput
from components.target import Cluster, Outputs, Stack, Target
from config.alerts import alert_rules
from config.clouds.traits import Cloud
from config.model.pool import Toleration
from config.placement import pods, queue_objects
from config.placement.contract import kubeflow_values
from config.placement.node_pools import NodePool


def outputs(
    stack: Stack, cloud: Cloud, target: Target, plan: LayerPlan, cluster: Cluster
) -> Outputs:
    """Return all outputs by name; the kubeconfig is secret."""
    spec = stack.spec
    return {
        "release": spec.release.name,
        "overrides": [override.as_output() for override in spec.overrides],
        **cluster.outputs,
        "kubeconfig": cluster.kubeconfig,
        **({"systemPool": _system_pool(stack.system_pool)} if stack.system_pool else {}),
        "pools": [_pool(pool) for pool in stack.node_pools],
        **plan.outputs,
        "acceptedWait": spec.growth.accepted_wait,
        **({"workloads": shown} if (shown := workloads.as_output(spec, cluster.workloads)) else {}),
        "kubeflowValues": kubeflow_values(
            stack.node_pools, cloud, spec.cloud, _whose(stack, plan, cluster)
        ),
        **({"alerts": {"groups": [_rules(stack, cloud)]}} if spec.alerts else {}),
        **({"queueing": queues} if (queues := _queues(stack)) else {}),
        last_update.OUTPUT: _remembered(stack, target, plan),
    }


def _rules(stack: Stack, cloud: Cloud) -> dict[str, Any]:
    return alert_rules.rule_group(stack.spec, stack.node_pools, cloud)


def _queues(stack: Stack) -> dict[str, Any] | None:
    return queue_objects.kueue_objects(
        stack.node_pools, stack.spec.queueing, stack.spec.release.kueue_version
    )


def _whose(stack: Stack, plan: LayerPlan, cluster: Cluster) -> dict[str, Any]:
    return {
        "stack": stack.instance,
        "cluster": cluster.outputs["clusterName"],
        "kubernetes": plan.version,
    }


def _system_pool(pool: NodePool) -> SystemPoolOutput:
    return {
        "name": pool.name,
        "machine": pool.source.machine,
        "capacity": pool.capacity.value,
        "minNodes": pool.min_nodes,
        "maxNodes": pool.max_nodes,
    }


def _pool(pool: NodePool) -> output_types.NodePool:
    """Return a pool for tools and users. In a cluster known by its kubeconfig the nodes must carry
    these labels and taints.
    """
    shown: output_types.NodePool = {
        "name": pool.name,
        "label": pool.label,
        "machine": pool.machine,
        "capacity": pool.capacity.value,
        "minNodes": pool.min_nodes,
        "maxNodes": pool.max_nodes,
        "gpus": pool.gpus,
        "labels": dict(pool.labels),
        "taints": [
            {"key": taint.key, "value": taint.value, "effect": taint.effect.value}
            for taint in pool.taints
        ],
        "tolerations": [_toleration(toleration) for toleration in pods.users_tolerations([pool])],
    }
    if pool.largest_request:
        shown["largestRequest"] = dict(pool.largest_request)
    return shown


def _toleration(toleration: Toleration) -> PodToleration:
    shown: PodToleration = {"key": toleration.key, "operator": toleration.operator}
    if toleration.value is not None:
        shown["value"] = toleration.value
    if toleration.effect is not None:
        shown["effect"] = toleration.effect.value
    return shown


def _remembered(stack: Stack, target: Target, plan: LayerPlan) -> dict[str, Any]:
    """Return the values that the next update compares with (`components.last_update`)."""
    system = [stack.system_pool] if stack.system_pool else []
    settings_by_pool = {
        pool.name: last_update.lasting_settings(pool.source)
        for pool in (*stack.node_pools, *system)
    }
    settings_by_pool = {name: settings for name, settings in settings_by_pool.items() if settings}
    return {
        last_update.NAME: stack.spec.name,
        last_update.INSTANCE: stack.instance,
        **({contract.REMEMBERED: plan.scheduling.contract} if plan.scheduling.contract else {}),
        "place": {part: references.output(value) for part, value in target.place.items()},
        "asked": settings_by_pool,
        **({last_update.EXISTING: target.existing} if target.existing else {}),
        last_update.POOLS: removed_pools.remembered(stack, target.pool_names),
        **workloads.remembered(stack.spec),
        **target.remembered,
        **stack.last_update.exported,
    }
