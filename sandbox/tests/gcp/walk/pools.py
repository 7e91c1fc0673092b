"""Node pools: names, bounds, zones, upgrades, labels and taints."""

from __future__ import annotations

from sandbox.gcp import gcp_cloud
from sandbox.gcp.resources import gcp_machine_rules, gcp_pool, gcp_pool_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import CLUSTER_ID, POOL, REGION, REGULAR, SPOT, ZONES
from .requests import Again, nodes
from .requests import pool as pools


def _taint(key: str, effect: str = "NO_SCHEDULE", value: str = "x") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


ROWS = [
    Row("pool of a cluster that is none", gcp_pool._running_cluster, "4.4")
    .says(
        "error creating NodePool: googleapi: Error 404: Not found: projects/ml-project/locations/europe-west4/clusters/no., "
        "notFound"
    )
    .tries(pools, REGULAR, cluster=("no", CLUSTER_ID), location=(ABSENT, None)),
    Row("pool twice", gcp_cloud._exists, "4.1")
    .says(f"error creating NodePool: resource - {CLUSTER_ID}/nodePools/general - already exists")
    .tries(Again, POOL, ({**REGULAR, "name": "general"}, REGULAR)),
    Row("pool's name in capitals", gcp_pool_rules.name, "4.4, 7.25")
    .says(
        'googleapi: Error 400: Invalid value for field "node_pool.name": "primaryPool". Must be a match of regex '
        "'(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'"
    )
    .tries(pools, REGULAR, name=("primaryPool", "primary-pool")),
    Row("pool's name too long", gcp_pool_rules.name, "4.4, 7.25")
    .says("no longer than 40 characters")
    .tries(pools, REGULAR, name=("a" * 41, "a" * 40)),
    Row("no most nodes", gcp_pool_rules.both_limits_zero, "4.4")
    .says(
        "googleapi: Error 400: Node_pool_autoscaling.max_node_count and node_pool_autoscaling.total_max_node_count cannot be "
        "both set to zero., badRequest"
    )
    .tries(pools, REGULAR, autoscaling=({"minNodeCount": 0}, {"maxNodeCount": 1})),
    Row("bounds of two kinds", gcp_pool_rules.two_kinds_of_limits, "4.1")
    .assumes("cannot be both set., badRequest")
    .tries(pools, SPOT, autoscaling={"maxNodeCount": 2, "totalMaxNodeCount": (4, ABSENT), "minNodeCount": (ABSENT, 0)}),
    Row("bounds of two kinds, in an update", gcp_pool_rules.two_kinds_of_limits, "4.1")
    .assumes("cannot be both set., badRequest")
    .given(pools(SPOT))
    .tries(pools, SPOT, autoscaling={"minNodeCount": (1, ABSENT), "totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
    Row("least above most", gcp_pool_rules.least_above_most, "the sandbox's reading")
    .assumes("Node_pool_autoscaling.total_min_node_count must be less than or equal to")
    .tries(pools, REGULAR, autoscaling={"totalMinNodeCount": (4, 3), "totalMaxNodeCount": 3}),
    Row("least above most of a zone", gcp_pool_rules.least_above_most, "the sandbox's reading")
    .assumes("Node_pool_autoscaling.min_node_count must be less than or equal to")
    .tries(pools, REGULAR, autoscaling={"minNodeCount": (4, 3), "maxNodeCount": 3}),
    Row("more nodes than a pool can have", gcp_pool_rules.too_many_nodes, "page quotas")
    .assumes("can have at most 1000 nodes in a zone")
    .tries(pools, SPOT, autoscaling={"maxNodeCount": (1001, 1000)}),
    Row("zone of another region, for a pool", gcp_pool_rules.locations, "page regional-clusters")
    .assumes('zone "us-central1-a" is not in region "europe-west4".')
    .tries(pools, REGULAR, nodeLocations=(["us-central1-a"], ZONES[:1])),
    Row("zone that is none", gcp_pool_rules.locations, "page regional-clusters")
    .assumes('zone "europe-west4-d" is not in region "europe-west4".')
    .given(pools(REGULAR))
    .tries(pools, REGULAR, nodeLocations=([f"{REGION}-d"], ZONES[1:])),
    Row("too many pods a node", gcp_pool_rules.pods_per_node, "6")
    .assumes("Max_pods_per_node must be between 8 and 256.")
    .tries(pools, REGULAR, maxPodsPerNode=(257, 256)),
    Row("pool's range of pods that is none", gcp_pool_rules.pod_range, "4.4")
    .says('Pod secondary range "more-pods" not found in network "net", subnetwork "nodes".')
    .tries(pools, REGULAR, networkConfig={"podRange": ("more-pods", "pods")}),
    Row("no way to upgrade", gcp_pool_rules.surge, "page node-pool-upgrade-strategies")
    .assumes("The sum of max_surge and max_unavailable must be between 1 and 20.")
    .tries(pools, REGULAR, upgradeSettings={"maxSurge": 0, "maxUnavailable": (0, 1)}),
    Row("no automatic upgrades in a channel", gcp_pool_rules.management, "page release-channels")
    .says("Auto_upgrade must be true when release_channel REGULAR is set.")
    .tries(pools, REGULAR, management={"autoUpgrade": (False, True)}),
    Row("label of a role", gcp_machine_rules.labels, "4.4")
    .says("googleapi: Error 400: Applying kubernetes label is not allowed: node-role.kubernetes.io/gpu., badRequest")
    .tries(nodes, REGULAR, labels=({"node-role.kubernetes.io/gpu": "true"}, {"example.com/gpu": "true"})),
    Row("label of GKE's", gcp_machine_rules.labels, "page about-custom-compute-classes")
    .assumes("Applying kubernetes label is not allowed: cloud.google.com/gke-spot.")
    .given(pools(SPOT))
    .tries(nodes, SPOT, labels=({"cloud.google.com/gke-spot": "true"}, {"cloud.google.com/compute-class": "ml"})),
    Row("label that is none", gcp_machine_rules.labels, "Kubernetes")
    .assumes("Invalid kubernetes label a=not a value.")
    .tries(nodes, REGULAR, labels={"a": ("not a value", "")}),
    Row("taint twice", gcp_machine_rules.taints, "Kubernetes")
    .assumes("Taints must be unique by key and effect: a has NO_SCHEDULE twice.")
    .tries(nodes, REGULAR, taints=([_taint("a"), _taint("a", value="y")], [_taint("a"), _taint("a", "NO_EXECUTE")])),
    Row("taint that is none", gcp_machine_rules.taints, "Kubernetes")
    .assumes("Invalid taint a b=x.")
    .tries(nodes, REGULAR, taints=[(_taint("a b"), _taint("a.b/c"))]),
]
