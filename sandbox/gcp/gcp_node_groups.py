"""The pools of a cluster, as the autoscaler and the kubelets see them (`sandbox.cloud.node_groups.NodeView`).

One group a pool, though Google has one a zone: its template is of the zone that takes the next machine, so a pod that names
another zone of the pool gets no node from the pool.
"""

from collections.abc import Mapping
from typing import Any

from sandbox.cloud.node_groups import MANY, NodeGroup
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_ids, instance_groups
from sandbox.gcp.gcp_machines import machines
from sandbox.gcp.gcp_nodes import gpus, group_name, node, template

# No source gives what the autoscaler of either profile (BALANCED, OPTIMIZE_UTILIZATION) waits for. Both get upstream's
# defaults (cluster-autoscaler FAQ), the longer wait: UNCONFIRMED.
_PROFILE = {"scaleDownUnneededTime": "10m", "scaleDownDelayAfterAdd": "10m"}


def profile(cluster: Record) -> Mapping[str, Any]:
    return _PROFILE


_WAYS = {"spot": "Spot", "preemptible": "Preemptible", "flexStart": "Flex-start"}


def capacity(pool: Body) -> tuple[str, str]:
    config = pool["nodeConfig"]
    return config["machineType"], next((word for way, word in _WAYS.items() if config.get(way)), "Regular")


def nodes(resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
    machine = machines()[pool.body["nodeConfig"]["machineType"]]
    instances = instance_groups.instances(resources, pool)
    return [node(pool, machine, instance.zone, instance.number) for instance in instances]


def group(resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
    instances = instance_groups.instances(resources, pool)
    limits = instance_groups.bounds(pool.body)
    zone = instance_groups.next_zone(resources, pool)
    zones = pool.body["nodeLocations"]
    return NodeGroup(
        name=group_name(pool.id, zones[0]),
        pool=gcp_ids.last(pool.id),
        pool_id=pool.id,
        least=limits.least if limits else None,
        most=limits.most if limits else None,
        nodes=tuple(instance.name for instance in instances),
        template=template(pool, machines()[pool.body["nodeConfig"]["machineType"]], zone),
        gpus=gpus(pool.body),
        floors=tuple((frozenset(i.name for i in instances if i.zone == zone), limits.zone_least) for zone in zones)
        if limits and limits.zone_least
        else (),
        zone_most=limits.zone_most if limits and limits.zone_most < MANY else None,
    )
