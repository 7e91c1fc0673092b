"""The pools of a cluster as those see them who look after its nodes: the autoscaler, and the kubelets.

One group a pool, though Google has one a zone: its template is of the zone that takes the next machine, so a pod that names
another zone of the pool is told that the pool does not help.
"""

from __future__ import annotations

from sandbox.cloud.node_groups import Fleet, NodeGroup
from sandbox.cloud.state import Record, Resources
from sandbox.gcp import ids, instance_groups
from sandbox.gcp.instance_groups import POOL
from sandbox.gcp.machines import machines
from sandbox.gcp.nodes import gpus, group_name, template

# No source gives what the autoscaler of either profile (BALANCED, OPTIMIZE_UTILIZATION) waits for. Both get upstream's
# defaults (cluster-autoscaler FAQ), the longer wait: UNCONFIRMED.
_PROFILE = {"scaleDownUnneededTime": "10m", "scaleDownDelayAfterAdd": "10m"}


def fleet(resources: Resources, cluster: Record) -> Fleet:
    """Pools that are being deleted have no nodes any more and are left out."""
    pools = [pool for pool in resources.of(POOL, below=cluster.id) if pool.body.get("status") != "STOPPING"]
    return Fleet([_group(resources, pool) for pool in pools], _PROFILE)


def _group(resources: Resources, pool: Record) -> NodeGroup:
    there = instance_groups.instances(resources, pool)
    limits = instance_groups.bounds(pool.body)
    zone = instance_groups.next_zone(resources, pool)
    zones = pool.body["nodeLocations"]
    return NodeGroup(
        name=group_name(pool.id, zones[0]),
        pool=ids.last(pool.id),
        pool_id=pool.id,
        least=limits.least if limits else None,
        most=limits.most if limits else None,
        nodes=tuple(instance.name for instance in there),
        template=template(pool, machines()[pool.body["nodeConfig"]["machineType"]], zone),
        gpus=gpus(pool.body),
        floors=tuple((frozenset(i.name for i in there if i.zone == zone), limits.zone_least) for zone in zones)
        if limits and limits.zone_least
        else (),
    )
