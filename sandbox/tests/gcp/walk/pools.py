"""Node pools: names, bounds, zones, upgrades, labels and taints."""

from __future__ import annotations

from sandbox.gcp import gcp_cloud
from sandbox.gcp.resources import gcp_label_rules, gcp_pool, gcp_pool_rules, scale_rules

from ..conftest import CLUSTER_ID, POOL, REGION, REGULAR, SPOT, ZONES
from .row import Again, Row, nodes
from .row import pool as pools


def _taint(key: str, effect: str = "NO_SCHEDULE", value: str = "x") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


ROWS = [
    Row(
        "pool of a cluster that is none",
        "4.4",
        gcp_pool._running_cluster,
        "error creating NodePool: googleapi: Error 404: Not found: projects/ml-project/locations/europe-west4/clusters/no., "
        "notFound",
        bad=pools(REGULAR, cluster="no"),
        good=pools(REGULAR, cluster=CLUSTER_ID, location=None),
    ),
    Row(
        "pool twice",
        "4.1",
        gcp_cloud._exists,
        f"error creating NodePool: resource - {CLUSTER_ID}/nodePools/general - already exists",
        bad=Again(POOL, {**REGULAR, "name": "general"}),
        good=Again(POOL, REGULAR),
    ),
    Row(
        "pool's name in capitals",
        "4.4, 7.25",
        gcp_pool_rules.name,
        'googleapi: Error 400: Invalid value for field "node_pool.name": "primaryPool". Must be a match of regex '
        "'(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'",
        bad=pools(REGULAR, name="primaryPool"),
        good=pools(REGULAR, name="primary-pool"),
    ),
    Row(
        "pool's name too long",
        "4.4, 7.25",
        gcp_pool_rules.name,
        "no longer than 40 characters",
        bad=pools(REGULAR, name="a" * 41),
        good=pools(REGULAR, name="a" * 40),
    ),
    Row(
        "no most nodes",
        "4.4",
        scale_rules.both_limits_zero,
        "googleapi: Error 400: Node_pool_autoscaling.max_node_count and node_pool_autoscaling.total_max_node_count cannot be "
        "both set to zero., badRequest",
        bad=pools(REGULAR, autoscaling={"minNodeCount": 0}),
        good=pools(REGULAR, autoscaling={"maxNodeCount": 1}),
    ),
    Row(
        "bounds of two kinds",
        "4.1",
        scale_rules.two_kinds_of_limits,
        "cannot be both set., badRequest",
        confirmed=False,
        bad=pools(SPOT, autoscaling={"maxNodeCount": 2, "totalMaxNodeCount": 4}),
        good=pools(SPOT, autoscaling={"minNodeCount": 0, "maxNodeCount": 2}),
    ),
    Row(
        "bounds of two kinds, in an update",
        "4.1",
        scale_rules.two_kinds_of_limits,
        "cannot be both set., badRequest",
        confirmed=False,
        given=(pools(SPOT),),
        bad=pools(SPOT, autoscaling={"minNodeCount": 1, "totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
        good=pools(SPOT, autoscaling={"totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
    ),
    Row(
        "least above most",
        "the sandbox's reading",
        scale_rules.least_above_most,
        "Node_pool_autoscaling.total_min_node_count must be less than or equal to",
        confirmed=False,
        bad=pools(REGULAR, autoscaling={"totalMinNodeCount": 4, "totalMaxNodeCount": 3}),
        good=pools(REGULAR, autoscaling={"totalMinNodeCount": 3, "totalMaxNodeCount": 3}),
    ),
    Row(
        "least above most of a zone",
        "the sandbox's reading",
        scale_rules.least_above_most,
        "Node_pool_autoscaling.min_node_count must be less than or equal to",
        confirmed=False,
        bad=pools(REGULAR, autoscaling={"minNodeCount": 4, "maxNodeCount": 3}),
        good=pools(REGULAR, autoscaling={"minNodeCount": 3, "maxNodeCount": 3}),
    ),
    Row(
        "more nodes than a pool can have",
        "page quotas",
        scale_rules.too_many_nodes,
        "can have at most 1000 nodes in a zone",
        confirmed=False,
        bad=pools(SPOT, autoscaling={"maxNodeCount": 1001}),
        good=pools(SPOT, autoscaling={"maxNodeCount": 1000}),
    ),
    Row(
        "zone of another region, for a pool",
        "page regional-clusters",
        scale_rules.locations,
        'zone "us-central1-a" is not in region "europe-west4".',
        confirmed=False,
        bad=pools(REGULAR, nodeLocations=["us-central1-a"]),
        good=pools(REGULAR, nodeLocations=ZONES[:1]),
    ),
    Row(
        "zone that is none",
        "page regional-clusters",
        scale_rules.locations,
        'zone "europe-west4-d" is not in region "europe-west4".',
        confirmed=False,
        given=(pools(REGULAR),),
        bad=pools(REGULAR, nodeLocations=[f"{REGION}-d"]),
        good=pools(REGULAR, nodeLocations=ZONES[1:]),
    ),
    Row(
        "too many pods a node",
        "6",
        scale_rules.pods_per_node,
        "Max_pods_per_node must be between 8 and 256.",
        confirmed=False,
        bad=pools(REGULAR, maxPodsPerNode=257),
        good=pools(REGULAR, maxPodsPerNode=256),
    ),
    Row(
        "pool's range of pods that is none",
        "4.4",
        scale_rules.pod_range,
        'Pod secondary range "more-pods" not found in network "net", subnetwork "nodes".',
        bad=pools(REGULAR, networkConfig={"podRange": "more-pods"}),
        good=pools(REGULAR, networkConfig={"podRange": "pods"}),
    ),
    Row(
        "no way to upgrade",
        "page node-pool-upgrade-strategies",
        scale_rules.surge,
        "The sum of max_surge and max_unavailable must be between 1 and 20.",
        confirmed=False,
        bad=pools(REGULAR, upgradeSettings={"maxSurge": 0, "maxUnavailable": 0}),
        good=pools(REGULAR, upgradeSettings={"maxSurge": 0, "maxUnavailable": 1}),
    ),
    Row(
        "no automatic upgrades in a channel",
        "page release-channels",
        scale_rules.management,
        "Auto_upgrade must be true when release_channel REGULAR is set.",
        bad=pools(REGULAR, management={"autoUpgrade": False}),
        good=pools(REGULAR, management={"autoUpgrade": True}),
    ),
    Row(
        "label of a role",
        "4.4",
        gcp_label_rules.labels,
        "googleapi: Error 400: Applying kubernetes label is not allowed: node-role.kubernetes.io/gpu., badRequest",
        bad=nodes(REGULAR, labels={"node-role.kubernetes.io/gpu": "true"}),
        good=nodes(REGULAR, labels={"example.com/gpu": "true"}),
    ),
    Row(
        "label of GKE's",
        "page about-custom-compute-classes",
        gcp_label_rules.labels,
        "Applying kubernetes label is not allowed: cloud.google.com/gke-spot.",
        confirmed=False,
        given=(pools(SPOT),),
        bad=nodes(SPOT, labels={"cloud.google.com/gke-spot": "true"}),
        good=nodes(SPOT, labels={"cloud.google.com/compute-class": "ml"}),
    ),
    Row(
        "label that is none",
        "Kubernetes",
        gcp_label_rules.labels,
        "Invalid kubernetes label a=not a value.",
        confirmed=False,
        bad=nodes(REGULAR, labels={"a": "not a value"}),
        good=nodes(REGULAR, labels={"a": ""}),
    ),
    Row(
        "taint twice",
        "Kubernetes",
        gcp_label_rules.taints,
        "Taints must be unique by key and effect: a has NO_SCHEDULE twice.",
        confirmed=False,
        bad=nodes(REGULAR, taints=[_taint("a"), _taint("a", value="y")]),
        good=nodes(REGULAR, taints=[_taint("a"), _taint("a", "NO_EXECUTE")]),
    ),
    Row(
        "taint that is none",
        "Kubernetes",
        gcp_label_rules.taints,
        "Invalid taint a b=x.",
        confirmed=False,
        bad=nodes(REGULAR, taints=[_taint("a b")]),
        good=nodes(REGULAR, taints=[_taint("a.b/c")]),
    ),
]
