"""The pools of a cluster, as the autoscaler and the kubelets see them (`sandbox.cloud.node_groups.NodeView`)."""

from collections.abc import Mapping
from typing import Any

from sandbox.azure import scale_sets
from sandbox.azure.azure_machines import MIG_INSTANCES, machines
from sandbox.azure.azure_nodes import node, node_name, scale_set_name, template
from sandbox.azure.resources import autoscaler_rules
from sandbox.azure.resources.azure_cluster import finished
from sandbox.cloud.node_groups import Gpus, NodeGroup
from sandbox.cloud.state import Body, Record, Resources


def profile(cluster: Record) -> Mapping[str, Any]:
    settings: Body = autoscaler_rules.DEFAULTS | cluster.body.get("autoScalerProfile", {})
    return settings


def capacity(pool: Body) -> tuple[str, str]:
    return pool["vmSize"], pool.get("scaleSetPriority", "Regular")


def _shown(cluster: Record) -> Body:
    """A cluster's body with the parts that its nodes' labels need, also while it is being made."""
    return cluster.body if "identityProfile" in cluster.body else finished(cluster.id, cluster.body)


def nodes(resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
    body, machine = _shown(cluster), machines()[pool.body["vmSize"]]
    numbers = scale_sets.instances(resources, pool)
    return [node(cluster.id, body, pool.body, machine, number) for number in numbers]


def group(resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
    name, machine = pool.body["name"], machines()[pool.body["vmSize"]]
    mig = pool.body.get("gpuInstanceProfile") or ""
    gpus = Gpus(
        machine.nvidia_gpus,
        machine.gpu_memory_gb,
        mig,
        MIG_INSTANCES.get(mig, 1),
        driver=pool.body.get("gpuProfile", {}).get("driver") != "None",
    )
    return NodeGroup(
        name=scale_set_name(cluster.id, name),
        pool=name,
        pool_id=pool.id,
        least=pool.body.get("minCount"),
        most=pool.body.get("maxCount"),
        nodes=tuple(node_name(cluster.id, name, i) for i in scale_sets.instances(resources, pool)),
        template=template(cluster.id, _shown(cluster), pool.body, machine),
        gpus=gpus if gpus.count else None,
    )
