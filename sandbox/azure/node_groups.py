"""The pools of a cluster as those see them who look after its nodes: the autoscaler, and the kubelets."""

from __future__ import annotations

from sandbox.azure import scale_sets
from sandbox.azure.machines import MIG_INSTANCES, machines
from sandbox.azure.nodes import node_name, scale_set_name, template
from sandbox.azure.resources import autoscaler_rules
from sandbox.azure.resources.cluster import finished
from sandbox.azure.resources.cluster_path import pools_of
from sandbox.cloud.node_groups import Fleet, Gpus, NodeGroup
from sandbox.cloud.state import Body, Record, Resources


def fleet(resources: Resources, cluster: Record) -> Fleet:
    """Pools that are being deleted have no nodes any more and are left out."""
    body = shown(cluster)
    profile = autoscaler_rules.DEFAULTS | cluster.body.get("autoScalerProfile", {})
    pools = [p for p in pools_of(resources, cluster.id) if p.body["provisioningState"] != "Deleting"]
    return Fleet([_group(resources, cluster.id, body, pool) for pool in pools], profile)


def shown(cluster: Record) -> Body:
    """A cluster's body with what its nodes' labels need, also while it is being made."""
    return cluster.body if "identityProfile" in cluster.body else finished(cluster.id, cluster.body)


def _group(resources: Resources, cluster_id: str, cluster: Body, pool: Record) -> NodeGroup:
    body = pool.body
    machine = machines()[body["vmSize"]]
    profile = body.get("gpuInstanceProfile") or ""
    gpus = Gpus(
        machine.nvidia_gpus,
        machine.gpu_memory_gb,
        profile,
        MIG_INSTANCES.get(profile, 1),
        driver=body.get("gpuProfile", {}).get("driver") != "None",
    )
    return NodeGroup(
        name=scale_set_name(cluster_id, body["name"]),
        pool=body["name"],
        pool_id=pool.id,
        least=body.get("minCount"),
        most=body.get("maxCount"),
        nodes=tuple(node_name(cluster_id, body["name"], i) for i in scale_sets.instances(resources, pool)),
        template=template(cluster_id, cluster, body, machine),
        gpus=gpus if gpus.count else None,
    )
