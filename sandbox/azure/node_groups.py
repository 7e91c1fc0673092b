"""The pools of a cluster as those see them who look after its nodes: the autoscaler, and the kubelets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.azure import scale_sets
from sandbox.azure.machines import MIG_INSTANCES, machines
from sandbox.azure.nodes import node_name, scale_set_name, template
from sandbox.azure.resources import autoscaler_rules
from sandbox.azure.resources.cluster import finished
from sandbox.azure.resources.cluster_path import pools_of
from sandbox.azure.state import Body, Record, Resources


@dataclass(frozen=True)
class Gpus:
    """The NVIDIA GPUs of one machine, each cut into `instances` by a MIG profile such as `MIG1g`; "" and 1 without one."""

    count: int
    memory_gb: int = 0
    """Of one GPU; 0 where it cannot be partitioned."""
    profile: str = ""
    instances: int = 1
    driver: bool = True
    """Whether the cloud installs the driver."""


@dataclass(frozen=True)
class NodeGroup:
    """One pool. `least` and `most` are None where it is not autoscaled."""

    name: str
    """Its scale set's, by which the autoscaler knows it."""
    pool: str
    pool_id: str
    least: int | None
    most: int | None
    nodes: tuple[str, ...]
    """The names of its machines' nodes, of those too that have not joined yet."""
    template: dict[str, Any]
    gpus: Gpus | None


@dataclass(frozen=True)
class Fleet:
    """A cluster's groups and its autoscaler's profile."""

    groups: list[NodeGroup] = field(default_factory=list)
    profile: Mapping[str, Any] = field(default_factory=dict)


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
