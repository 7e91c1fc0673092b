"""Machines of a pool by zone, and its autoscaler's view of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sandbox.cloud.node_groups import NodeGroup, ScaleRefused
from sandbox.cloud.state import Record, Resources
from sandbox.gcp import instance_groups, node_groups
from sandbox.gcp.instance_groups import instances, remove, resize, settle, size
from sandbox.gcp.resources.cluster_path import POOL

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
        return node_groups.group(self.resources, self.cluster, self.pool)

    def change(self, **body: Any) -> None:
        self.pool.body |= body
        settle(self.resources)

    def spread(self) -> list[int]:
        found = Counter(one.zone for one in instances(self.resources, self.pool))
        return [found[zone] for zone in self.pool.body["nodeLocations"]]

    def resize(self, count: int) -> None:
        resize(self.resources, self.pool, count)

    def names(self, zone: str = "") -> list[str]:
        return [one.name for one in instances(self.resources, self.pool) if one.zone in (zone or ZONES)]


def test_initial_nodes_are_a_zone_s() -> None:
    assert Cluster(initialNodeCount=2).spread() == [2, 2, 2]
    assert Cluster(initialNodeCount=1, nodeLocations=ZONES[:1]).spread() == [1]


@pytest.mark.parametrize(
    ("policy", "grown", "shrunk"), [("BALANCED", [2, 2, 1], [1, 1, 1]), ("ANY", [5, 0, 0], [3, 0, 0]), (None, [2, 2, 1], [1, 1, 1])]
)  # fmt: skip
def test_where_machines_come_and_go(policy: str | None, grown: list[int], shrunk: list[int]) -> None:
    found = Cluster(autoscaling={**TOTAL, "locationPolicy": policy})
    found.resize(5)
    assert found.spread() == grown
    found.resize(3)
    assert found.spread() == shrunk


def test_bounds_of_a_zone_hold_in_each_and_multiply() -> None:
    found = Cluster(autoscaling={"minNodeCount": 1, "maxNodeCount": 2, "locationPolicy": "ANY"})
    assert found.spread() == [1, 1, 1]
    found.resize(5)
    assert found.spread() == [2, 2, 1]
    for count in (7, 2):
        with pytest.raises(ScaleRefused, match=f"pool l4 takes 3 to 6 nodes, not {count}"):
            found.resize(count)
    with pytest.raises(ScaleRefused, match="pool l4 keeps 1 nodes in europe-west4-c"):
        remove(found.resources, found.pool, found.names(ZONES[2]))
    remove(found.resources, found.pool, found.names(ZONES[0])[:1])
    assert found.spread() == [1, 2, 1]


def test_total_bounds_are_over_all_zones() -> None:
    found = Cluster(autoscaling={**TOTAL, "totalMinNodeCount": 2})
    assert found.spread() == [1, 1, 0]
    with pytest.raises(ScaleRefused, match="takes 2 to 8 nodes, not 9"):
        found.resize(9)
    with pytest.raises(ScaleRefused, match=r"pool l4 keeps 2 nodes$"):
        remove(found.resources, found.pool, found.names()[:1])


def test_a_changed_minimum_takes_effect_and_a_lower_maximum_evicts_nobody() -> None:
    found = Cluster(autoscaling=TOTAL)
    found.resize(6)
    found.change(autoscaling={**TOTAL, "totalMaxNodeCount": 4})
    assert size(found.resources, found.pool) == 6
    found.change(autoscaling={**TOTAL, "totalMinNodeCount": 7})
    assert found.spread() == [3, 2, 2]
    assert found.pool.body["nodeCount"] == 2


def test_the_named_machines_go_and_a_name_is_given_once() -> None:
    found = Cluster(autoscaling=TOTAL, nodeLocations=ZONES[:1])
    found.resize(4)
    names = found.names()
    remove(found.resources, found.pool, [names[1], names[2], "no node"])
    assert found.names() == [names[0], names[3]]
    found.resize(3)
    assert found.names()[:2] == [names[0], names[3]]
    assert found.names()[2] not in names
    found.resize(2)
    assert found.names() == [names[0], names[3]]
    found.resize(4)
    assert len(set(found.names())) == 4


def test_zones_that_go_take_their_machines_and_new_ones_start_as_a_pool_does() -> None:
    found = Cluster(initialNodeCount=1, autoscaling=TOTAL, nodeLocations=ZONES[:2])
    kept = found.names(ZONES[1])
    found.change(nodeLocations=ZONES[1:])
    assert found.spread() == [1, 1]
    assert found.names(ZONES[1]) == kept
    assert len(found.resources.of(instance_groups.GROUP)) == 2


def test_a_fixed_count_is_a_zone_s_and_can_be_changed() -> None:
    found = Cluster(nodeCount=2)
    assert found.spread() == [2, 2, 2]
    found.change(nodeCount=1)
    assert found.spread() == [1, 1, 1]
    found.change(nodeCount=3)
    assert found.spread() == [3, 3, 3]


def test_machines_go_with_their_pool() -> None:
    found = Cluster(initialNodeCount=1)
    assert found.resources.of(instance_groups.GROUP)
    found.resources.remove(found.pool.id)
    assert not found.resources.of(instance_groups.GROUP)


def test_what_the_autoscaler_sees() -> None:
    found = Cluster(autoscaling={"minNodeCount": 1, "maxNodeCount": 2, "locationPolicy": "ANY"})
    group = found.group()
    assert (group.pool, group.pool_id) == ("l4", found.pool.id)
    assert (group.least, group.most, group.nodes) == (3, 6, tuple(found.names()))
    assert group.floors == tuple((frozenset(found.names(zone)), 1) for zone in ZONES)
    assert group.gpus
    assert node_groups.profile(found.cluster)["scaleDownUnneededTime"] == "10m"
    labels = group.template["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == ZONES[0]
    found.resize(4)
    assert found.group().template["metadata"]["labels"]["topology.kubernetes.io/zone"] == ZONES[1]
    fixed = Cluster(initialNodeCount=1).group()
    assert (fixed.least, fixed.most, fixed.floors) == (None, None, ())
