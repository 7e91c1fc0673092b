"""Pools of one emulated GKE cluster without the rest of the cloud, and objects for it."""

from collections.abc import Collection
from typing import Any

from sandbox.cloud.node_groups import NodeGroups
from sandbox.cloud.state import Record, Resources
from sandbox.cluster.clusters import LocalClusters
from sandbox.gcp import gcp_ids, instance_groups
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.gcp_nodes import node
from sandbox.gcp.resources.gcp_requests import POOL

CLUSTER = "projects/example-ml/locations/europe-west4/clusters/ml"
KEY = "cloud.google.com/compute-class"
Object = dict[str, Any]


def a_class(name: str, **spec: Any) -> Object:
    return {"apiVersion": "cloud.google.com/v1", "kind": "ComputeClass", "metadata": {"name": name}, "spec": spec}


def a_pod(name: str, **spec: Any) -> Object:
    body = {"containers": [{"name": "main", "image": "example.com/train:1"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": body}


class Pools:
    """An emulated cloud with only one cluster's pools: two GPU pools in one class, and a third pool."""

    def __init__(self, runtime: LocalClusters) -> None:
        self._runtime = runtime
        self.resources = Resources()
        self.resources.put(Record("gcp:container/cluster:Cluster", CLUSTER, {}))
        self.add("general", "e2-standard-4", {}, totalMinNodeCount=0, totalMaxNodeCount=1)
        gpu = {"guestAccelerators": [{"type": "nvidia-l4", "count": 1}], "labels": {KEY: "kubeflow-spot"}}
        taints = [
            {"key": KEY, "value": "kubeflow-spot", "effect": "NO_SCHEDULE"},
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        ]
        spot = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
        self.add("l4", "g2-standard-8", {**gpu, "spot": True, "taints": [*taints, spot]}, totalMaxNodeCount=2)
        self.add("l4od", "g2-standard-8", {**gpu, "taints": taints}, totalMaxNodeCount=2)
        instance_groups.settle(self.resources)

    def add(self, name: str, machine: str, config: Object, **bounds: int) -> None:
        body: Object = {
            "nodeConfig": {"machineType": machine, **config},
            "nodeLocations": ["europe-west4-a"],
            "initialNodeCount": 1 if name == "general" else 0,
            "autoscaling": bounds,
            "version": "1.36.4-gke.1767000",
        }
        self.resources.put(Record(POOL, f"{CLUSTER}/nodePools/{name}", body))

    def sizes(self) -> Object:
        return {p.id.rsplit("/", 1)[1]: instance_groups.size(self.resources, p) for p in self.pools()}

    def pools(self) -> list[Record]:
        return self.resources.of_type(POOL)

    def node_groups(self, cluster_id: str) -> NodeGroups:
        cluster = self.resources.records[CLUSTER]
        groups = [
            instance_groups.group(self.resources, cluster, pool) for pool in self.resources.of_type(POOL, below=CLUSTER)
        ]
        return NodeGroups(groups, instance_groups.profile(cluster))

    def grow(self, pool_id: str, by: int) -> None:
        pool = self.resources.records[gcp_ids.key(pool_id)]
        instance_groups.resize(self.resources, pool, instance_groups.size(self.resources, pool) + by)
        self.apply_nodes(CLUSTER)

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        instance_groups.remove(self.resources, self.resources.records[gcp_ids.key(pool_id)], nodes)
        self.apply_nodes(CLUSTER)

    def apply_nodes(self, cluster_id: str) -> None:
        self._runtime.apply_nodes(
            CLUSTER,
            [
                node(pool, machines()[pool.body["nodeConfig"]["machineType"]], instance.zone, instance.number)
                for pool in self.pools()
                for instance in instance_groups.instances(self.resources, pool)
            ],
        )
