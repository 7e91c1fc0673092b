"""Machines of a pool by zone, and its autoscaler's view of them."""

from collections import Counter
from typing import Any

import pytest

from sandbox.cloud.node_groups import NodeGroup, ScaleRefused
from sandbox.cloud.state import Record, Resources
from sandbox.gcp import instance_groups
from sandbox.gcp.instance_groups import instances, remove, resize, settle, size
from sandbox.gcp.resources.gcp_requests import POOL

CLUSTER_ID = "projects/example-ml/locations/europe-west4/clusters/ml"
ZONES = [f"europe-west4-{letter}" for letter in "abc"]
TOTAL = {"totalMinNodeCount": 0, "totalMaxNodeCount": 8, "locationPolicy": "BALANCED"}


class Cluster:
    """One pool in a state of its own."""

    def __init__(self, **body: Any) -> None:
        self.resources = Resources()
        self.cluster = Record("gcp:container/cluster:Cluster", CLUSTER_ID, {"name": "ml"})
        config = {
            "machineType": "g2-standard-8",
            "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
            "spot": True,
        }
        self.pool = Record(
            POOL,
            f"{CLUSTER_ID}/nodePools/l4",
            {"initialNodeCount": 0, "nodeLocations": ZONES, "nodeConfig": config, **body},
        )
        self.resources.put(self.cluster)
        self.resources.put(self.pool)
        settle(self.resources)

    def group(self) -> NodeGroup:
        return instance_groups.group(self.resources, self.cluster, self.pool)

    def change(self, **body: Any) -> None:
        self.pool.body |= body
        settle(self.resources)

    def spread(self) -> list[int]:
        counts = Counter(instance.zone for instance in instances(self.resources, self.pool))
        return [counts[zone] for zone in self.pool.body["nodeLocations"]]

    def resize(self, count: int) -> None:
        resize(self.resources, self.pool, count)

    def names(self, zone: str = "") -> list[str]:
        return [instance.name for instance in instances(self.resources, self.pool) if instance.zone in (zone or ZONES)]


def test_initial_nodes_are_a_zone_s() -> None:
    assert Cluster(initialNodeCount=2).spread() == [2, 2, 2]
    assert Cluster(initialNodeCount=1, nodeLocations=ZONES[:1]).spread() == [1]


@pytest.mark.parametrize(
    ("policy", "grown", "shrunk"), [("BALANCED", [2, 2, 1], [1, 1, 1]), ("ANY", [5, 0, 0], [3, 0, 0]), (None, [2, 2, 1], [1, 1, 1])]
)  # fmt: skip
def test_where_machines_come_and_go(policy: str | None, grown: list[int], shrunk: list[int]) -> None:
    cluster = Cluster(autoscaling={**TOTAL, "locationPolicy": policy})
    cluster.resize(5)
    assert cluster.spread() == grown
    cluster.resize(3)
    assert cluster.spread() == shrunk


def test_bounds_of_a_zone_hold_in_each_and_multiply() -> None:
    cluster = Cluster(autoscaling={"minNodeCount": 1, "maxNodeCount": 2, "locationPolicy": "ANY"})
    assert cluster.spread() == [1, 1, 1]
    cluster.resize(5)
    assert cluster.spread() == [2, 2, 1]
    for count in (7, 2):
        with pytest.raises(ScaleRefused, match=f"pool l4 takes 3 to 6 nodes, not {count}"):
            cluster.resize(count)
    with pytest.raises(ScaleRefused, match="pool l4 keeps 1 nodes in europe-west4-c"):
        remove(cluster.resources, cluster.pool, cluster.names(ZONES[2]))
    remove(cluster.resources, cluster.pool, cluster.names(ZONES[0])[:1])
    assert cluster.spread() == [1, 2, 1]


def test_total_bounds_are_over_all_zones() -> None:
    cluster = Cluster(autoscaling={**TOTAL, "totalMinNodeCount": 2})
    assert cluster.spread() == [1, 1, 0]
    with pytest.raises(ScaleRefused, match="takes 2 to 8 nodes, not 9"):
        cluster.resize(9)
    with pytest.raises(ScaleRefused, match=r"pool l4 keeps 2 nodes$"):
        remove(cluster.resources, cluster.pool, cluster.names()[:1])


def test_a_changed_minimum_takes_effect_and_a_lower_maximum_evicts_nobody() -> None:
    cluster = Cluster(autoscaling=TOTAL)
    cluster.resize(6)
    cluster.change(autoscaling={**TOTAL, "totalMaxNodeCount": 4})
    assert size(cluster.resources, cluster.pool) == 6
    cluster.change(autoscaling={**TOTAL, "totalMinNodeCount": 7})
    assert cluster.spread() == [3, 2, 2]
    assert cluster.pool.body["nodeCount"] == 2


def test_the_named_machines_go_and_a_name_is_given_once() -> None:
    cluster = Cluster(autoscaling=TOTAL, nodeLocations=ZONES[:1])
    cluster.resize(4)
    names = cluster.names()
    remove(cluster.resources, cluster.pool, [names[1], names[2], "no node"])
    assert cluster.names() == [names[0], names[3]]
    cluster.resize(3)
    assert cluster.names()[:2] == [names[0], names[3]]
    assert cluster.names()[2] not in names
    cluster.resize(2)
    assert cluster.names() == [names[0], names[3]]
    cluster.resize(4)
    assert len(set(cluster.names())) == 4


def test_zones_that_go_take_their_machines_and_new_ones_start_as_a_pool_does() -> None:
    cluster = Cluster(initialNodeCount=1, autoscaling=TOTAL, nodeLocations=ZONES[:2])
    kept = cluster.names(ZONES[1])
    cluster.change(nodeLocations=ZONES[1:])
    assert cluster.spread() == [1, 1]
    assert cluster.names(ZONES[1]) == kept
    assert len(cluster.resources.of_type(instance_groups.GROUP)) == 2


def test_a_fixed_count_is_a_zone_s_and_can_be_changed() -> None:
    cluster = Cluster(nodeCount=2)
    assert cluster.spread() == [2, 2, 2]
    cluster.change(nodeCount=1)
    assert cluster.spread() == [1, 1, 1]
    cluster.change(nodeCount=3)
    assert cluster.spread() == [3, 3, 3]


def test_what_the_autoscaler_sees() -> None:
    cluster = Cluster(autoscaling={"minNodeCount": 1, "maxNodeCount": 2, "locationPolicy": "ANY"})
    group = cluster.group()
    assert (group.pool, group.pool_id) == ("l4", cluster.pool.id)
    assert (group.least, group.most, group.nodes) == (3, 6, tuple(cluster.names()))
    assert group.floors == tuple((frozenset(cluster.names(zone)), 1) for zone in ZONES)
    assert group.zone_most == 2
    assert group.gpus
    assert instance_groups.profile(cluster.cluster)["scaleDownUnneededTime"] == "10m"
    labels = group.template["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == ZONES[0]
    cluster.resize(4)
    assert cluster.group().template["metadata"]["labels"]["topology.kubernetes.io/zone"] == ZONES[1]
    fixed = Cluster(initialNodeCount=1).group()
    assert (fixed.least, fixed.most, fixed.floors, fixed.zone_most) == (None, None, (), None)
