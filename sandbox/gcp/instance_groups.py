"""The machines of a pool: those of its instance groups, one for each zone, by number (`sandbox.cloud.node_groups.Machines`).

A pool's own body has only the average count of a zone. A record below it for each zone has the numbers, so that the
machine that goes is the one that was meant. A number, and so a name, is given once in a group's life.

Plain: where `locationPolicy` is ANY the first zone that may take a machine takes it (Google looks at reservations and at what
is preempted least); BALANCED fills the smallest group.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.cloud import spot_nodes
from sandbox.cloud.node_groups import MANY, Bounds, NodeGroup, ScaleRefused
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.gcp_nodes import gpus, group_name, node, node_name, template
from sandbox.gcp.resources.gcp_requests import POOL

GROUP = "sandbox:InstanceGroup"
"""No type of the gcp provider: the program never sees these."""

_MADE_OF = ("machineType", "diskType", "diskSizeGb", "imageType")


@dataclass(frozen=True)
class Instance:
    """One machine of a pool."""

    zone: str
    number: int
    name: str
    """Its node's."""


def bounds(pool: Body) -> Bounds | None:
    """Return the bounds of a zone, or of the whole pool (SDK docstrings); None for a pool that is not autoscaled."""
    autoscaling = pool.get("autoscaling")
    if not autoscaling:
        return None
    zones = len(pool["nodeLocations"])
    if autoscaling.get("totalMaxNodeCount"):
        return Bounds(int(autoscaling.get("totalMinNodeCount") or 0), int(autoscaling["totalMaxNodeCount"]))
    least, most = int(autoscaling.get("minNodeCount") or 0), int(autoscaling.get("maxNodeCount") or 0)
    return Bounds(least * zones, most * zones, least, most)


def instances(resources: Resources, pool: Record) -> list[Instance]:
    """Return a pool's machines, zone by zone."""
    return [
        Instance(zone, number, node_name(pool.id, zone, number))
        for zone in pool.body["nodeLocations"]
        for number in _numbers(resources, pool, zone)
    ]


def settle(resources: Resources) -> None:
    """Bring every pool's groups in line with its zones, its lower bounds, and its `nodeCount` where it is not autoscaled.

    Groups of a new pool get its initial nodes.

    A pool below its minimum grows (Google's autoscaler runs with EnforceNodeGroupMinSize). One above its maximum keeps its
    nodes until they are empty: nothing says that a lower bound evicts pods.
    """
    for pool in resources.of_type(POOL):
        zones = pool.body["nodeLocations"]
        limits = bounds(pool.body)
        node_count = pool.body.get("nodeCount")
        fixed = int(node_count) if limits is None and node_count is not None else None
        initial = int(pool.body.get("initialNodeCount") or 0) if fixed is None else fixed
        for zone in zones:
            if resources.get(_id(pool, zone)) is None:
                # A zone that is added later starts as a new pool does (initial nodes are a zone's).
                _put(resources, pool, zone, list(range(initial)), initial)
        for group in resources.of_type(GROUP, below=pool.id):
            if group.body["zone"] not in zones:
                resources.remove(group.id)
        if limits:
            for zone in zones:
                while len(_numbers(resources, pool, zone)) < limits.zone_least:
                    _add(resources, pool, zone)
            while size(resources, pool) < limits.least:
                _add(resources, pool, _growing(resources, pool, limits))
        elif fixed is not None and fixed != size(resources, pool) // len(zones):
            # The count was set; it is a zone's.
            for zone in zones:
                _put(resources, pool, zone, _numbers(resources, pool, zone)[:fixed])
                while len(_numbers(resources, pool, zone)) < fixed:
                    _add(resources, pool, zone)
        _tell(resources, pool)


def size(resources: Resources, pool: Record) -> int:
    """Return the number of machines of a pool."""
    return sum(len(_numbers(resources, pool, zone)) for zone in pool.body["nodeLocations"])


def resize(resources: Resources, pool: Record, count: int, *, force: bool = False) -> None:
    """Give a pool so many machines in all its zones together. Raises ScaleRefused outside its bounds, but not by `force`."""
    limits = (None if force else bounds(pool.body)) or Bounds(0, MANY)
    if not limits.least <= count <= limits.most:
        title = gcp_ids.last(pool.id)
        raise ScaleRefused(f"pool {title} takes {limits.least} to {limits.most} nodes, not {count}")
    while (now := size(resources, pool)) < count:
        _add(resources, pool, _growing(resources, pool, limits))
    while now > count:
        zone = _shrinking(resources, pool, limits)
        _put(resources, pool, zone, _numbers(resources, pool, zone)[:-1])
        now -= 1
    _tell(resources, pool)


def remove(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    """Take these machines, by their nodes' names, out of a pool; missing ones are no error.

    Raises ScaleRefused when a lower bound stands against it.
    """
    limits = bounds(pool.body) or Bounds(0, MANY)
    left = {
        zone: [n for n in _numbers(resources, pool, zone) if node_name(pool.id, zone, n) not in nodes]
        for zone in pool.body["nodeLocations"]
    }
    title = gcp_ids.last(pool.id)
    for zone, numbers in left.items():
        if len(numbers) < min(limits.zone_least, len(_numbers(resources, pool, zone))):
            raise ScaleRefused(f"pool {title} keeps {limits.zone_least} nodes in {zone}")
    if sum(map(len, left.values())) < min(limits.least, size(resources, pool)):
        raise ScaleRefused(f"pool {title} keeps {limits.least} nodes")
    for zone, numbers in left.items():
        _put(resources, pool, zone, numbers)
    _tell(resources, pool)


def take(resources: Resources, pool: Record, nodes: Collection[str]) -> None:
    for zone in pool.body["nodeLocations"]:
        numbers = _numbers(resources, pool, zone)
        _put(resources, pool, zone, [n for n in numbers if node_name(pool.id, zone, n) not in nodes])
    _tell(resources, pool)


def zones(resources: Resources, pool: Record) -> dict[str, str]:
    # Round the zones by number: their ages are known within a zone alone.
    machines = sorted(instances(resources, pool), key=lambda instance: instance.number)
    return {machine.name: machine.zone for machine in machines}


def follow(resources: Resources, pool: Record, before: Body) -> None:
    """Give a pool without autoscaling the size that an update of its body sets, and new machines where their make has changed."""
    count = pool.body.get("nodeCount")
    if not pool.body.get("autoscaling") and count is not None and count != before.get("nodeCount"):
        resize(resources, pool, count * len(pool.body["nodeLocations"]))
    _renew(resources, pool, before)


def _renew(resources: Resources, pool: Record, before: Body) -> None:
    """Make every machine anew when what it is made of has changed since the pool's body was `before`.

    GKE does so as in an upgrade (page managing-clusters); here all at once.
    """
    if all(pool.body["nodeConfig"].get(name) == before["nodeConfig"].get(name) for name in _MADE_OF):
        return
    for zone in pool.body["nodeLocations"]:
        group = resources.get(_id(pool, zone))
        if group:
            first, count = int(group.body["next"]), len(group.body["instances"])
            _put(resources, pool, zone, list(range(first, first + count)), first + count)


def next_zone(resources: Resources, pool: Record) -> str:
    """Return the zone that would take the next machine; the first where none may."""
    try:
        return _growing(resources, pool, bounds(pool.body) or Bounds(0, MANY))
    except ScaleRefused:
        return str(pool.body["nodeLocations"][0])


def _growing(resources: Resources, pool: Record, limits: Bounds) -> str:
    """Return the zone that takes the next machine."""
    with_room = [zone for zone in pool.body["nodeLocations"] if not _full(resources, pool, zone)]
    return _in_order(resources, pool, lambda count: count < limits.zone_most, 1, with_room)


def _full(resources: Resources, pool: Record, zone: str) -> bool:
    """Return whether Google has no spot machine more of a pool's type in a zone."""
    taken = sum(
        len(_numbers(resources, other, zone))
        for other in resources.of_type(POOL)
        if _spot_machine(other) == _spot_machine(pool)
    )
    bounds = [bound for bound in spot_nodes.bounds(resources) if bound.zone == zone and not bound.silent]
    return any(bound.machine == _spot_machine(pool) and taken >= bound.nodes for bound in bounds)


def _spot_machine(pool: Record) -> str:
    """Return the machine type of a spot pool; empty for another."""
    config = pool.body["nodeConfig"]
    return str(config["machineType"]) if config.get("spot") or config.get("preemptible") else ""


def _shrinking(resources: Resources, pool: Record, limits: Bounds) -> str:
    """Return the zone that gives one back: the fullest, or the last that has any."""
    return _in_order(resources, pool, lambda count: count > limits.zone_least, -1)


def _in_order(
    resources: Resources, pool: Record, may: Callable[[int], bool], direction: int, preferred: Collection[str] = ()
) -> str:
    zones: list[str] = pool.body["nodeLocations"]
    counts = [(zone, len(_numbers(resources, pool, zone))) for zone in zones[::direction]]
    candidates = [(zone, count) for zone, count in counts if may(count)]
    candidates = [(zone, count) for zone, count in candidates if zone in preferred] or candidates
    if not candidates:
        raise ScaleRefused(f"no zone of pool {gcp_ids.last(pool.id)} can change")
    if (pool.body.get("autoscaling") or {}).get("locationPolicy") == "ANY":
        return candidates[0][0]
    return min(candidates, key=lambda entry: entry[1] * direction)[0]


def _add(resources: Resources, pool: Record, zone: str) -> None:
    group = resources.get(_id(pool, zone))
    following = int(group.body["next"]) if group else 0
    _put(resources, pool, zone, [*_numbers(resources, pool, zone), following], following + 1)


def _numbers(resources: Resources, pool: Record, zone: str) -> list[int]:
    group = resources.get(_id(pool, zone))
    return list(group.body["instances"]) if group else []


def _put(resources: Resources, pool: Record, zone: str, numbers: list[int], following: int | None = None) -> None:
    known = resources.get(_id(pool, zone))
    following = known.body["next"] if following is None and known else following
    resources.put(Record(GROUP, _id(pool, zone), {"zone": zone, "instances": numbers, "next": following}))


def _tell(resources: Resources, pool: Record) -> None:
    # What the provider reads back: all machines over all groups, rounded down (TF).
    pool.body["nodeCount"] = size(resources, pool) // len(pool.body["nodeLocations"])


def _id(pool: Record, zone: str) -> str:
    # Below the pool, and so removed with it.
    return f"{pool.id}/instanceGroups/{zone}"


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
    return [node(pool, machine, instance.zone, instance.number) for instance in instances(resources, pool)]


def group(resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
    running = instances(resources, pool)
    limits = bounds(pool.body)
    zone = next_zone(resources, pool)
    zones = pool.body["nodeLocations"]
    return NodeGroup(
        name=group_name(pool.id, zones[0]),
        pool=gcp_ids.last(pool.id),
        pool_id=pool.id,
        least=limits.least if limits else None,
        most=limits.most if limits else None,
        nodes=tuple(instance.name for instance in running),
        template=template(pool, machines()[pool.body["nodeConfig"]["machineType"]], zone),
        gpus=gpus(pool.body),
        floors=tuple((frozenset(i.name for i in running if i.zone == zone), limits.zone_least) for zone in zones)
        if limits and limits.zone_least
        else (),
        zone_most=limits.zone_most if limits and limits.zone_most < MANY else None,
    )
