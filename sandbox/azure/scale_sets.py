"""The machines of a pool: the instances of its scale set, by number (`sandbox.cloud.node_groups.Machines`).

A pool's own body has only their count. A record below it has their numbers, so that the machine that goes is the one that
was meant, and the others keep their nodes. A number is given once in a scale set's life, as scale sets do [inferred from node
names in the AKS documentation, which run ahead of the node counts].
"""

from collections.abc import Collection

from sandbox.azure import azure_ids
from sandbox.azure.azure_nodes import node_name
from sandbox.azure.resources.azure_cluster_path import POOL
from sandbox.cloud.node_groups import Bounds, ScaleRefused
from sandbox.cloud.state import Body, Record, Resources

SCALE_SET = "sandbox:ScaleSet"
"""No type of azure-native: the program never sees these."""


def bounds(pool: Body) -> Bounds | None:
    return Bounds(pool["minCount"], pool["maxCount"]) if pool["enableAutoScaling"] else None


def size(resources: Resources, pool: Record) -> int:
    return int(pool.body["count"])


def instances(resources: Resources, pool: Record) -> list[int]:
    """The numbers of a pool's machines, in order; as many as its count says."""
    return _brought_in_line(resources, pool)[0]


def settle(resources: Resources) -> None:
    """Make every scale set as large as its pool's count: more get new numbers, the highest numbers go first."""
    for pool in resources.of(POOL):
        numbers, following = _brought_in_line(resources, pool)
        resources.put(Record(SCALE_SET, _id(pool), {"instances": numbers, "next": following}))


def resize(resources: Resources, pool: Record, count: int, *, force: bool = False) -> None:
    least, most = pool.body["minCount"], pool.body["maxCount"]
    if not (force or least <= count <= most):
        raise ScaleRefused(f"pool {pool.body['name']} takes {least} to {most} nodes, not {count}")
    pool.body["count"] = count


def remove(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    left = [name for name in zones(resources, pool) if name not in nodes]
    if len(left) < pool.body["minCount"]:
        raise ScaleRefused(f"pool {pool.body['name']} keeps {pool.body['minCount']} nodes")
    take(resources, pool, nodes)


def take(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    numbers, following = _brought_in_line(resources, pool)
    left = [n for n in numbers if _node(pool, n) not in nodes]
    pool.body["count"] = len(left)
    resources.put(Record(SCALE_SET, _id(pool), {"instances": left, "next": following}))


def zones(resources: Resources, pool: Record) -> dict[str, str]:
    numbers: list[str] = pool.body.get("availabilityZones") or [""]
    return {_node(pool, n): numbers[n % len(numbers)] for n in instances(resources, pool)}


def _node(pool: Record, number: int) -> str:
    return node_name(azure_ids.parent(pool.id), pool.body["name"], number)


def _brought_in_line(resources: Resources, pool: Record) -> tuple[list[int], int]:
    scale_set = resources.get(_id(pool))
    known: Body = scale_set.body if scale_set else {"instances": [], "next": 0}
    kept: list[int] = known["instances"][: pool.body["count"]]
    following = known["next"] + pool.body["count"] - len(kept)
    return [*kept, *range(known["next"], following)], following


def _id(pool: Record) -> str:
    # Below the pool, and so removed with it.
    return f"{pool.id}/scaleSet"
