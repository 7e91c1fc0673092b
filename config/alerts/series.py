"""Series that alerts and dashboards share, recorded from kube-state-metrics.

Every name here is one of kube-state-metrics (its docs/metrics), which is the same on every cloud.
Labels of nodes are there only with
`--metric-labels-allowlist=nodes=[kubeflow-spot.dev/pool,kubeflow-spot.dev/capacity]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from config.alerts.rule import Recording
from config.clouds.tables import price
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

NODE = "kubeflow_spot:node:info"
"""1 for each node of a pool, by node, pool and capacity."""
NODES = "kubeflow_spot:pool_nodes:count"
"""Nodes, by pool and capacity."""
READY = "kubeflow_spot:ready_node:info"
"""1 for each node of a pool that is Ready."""
GPUS = "kubeflow_spot:pod_gpus:sum"
"""GPUs that a pod requests, by namespace, pod and node; pods that have ended are left out."""
WAITING = "kubeflow_spot:waiting_pod_gpus:sum"
"""GPUs of a pod that the scheduler finds no node for, by namespace and pod."""
SPOT_POD = "kubeflow_spot:spot_pod:info"
"""1 for each pod that may run on spot, by namespace and pod."""
LOST = "kubeflow_spot:lost_spot_node:info"
"""1 in the minute in which a spot node with GPU pods went, by node and pool."""
FULL = "kubeflow_spot:pool_full:bool"
"""1 if a pool has its maxNodes, by pool."""
DOLLARS = "kubeflow_spot:pool:usd_per_hour"
"""US dollars an hour of a pool's nodes by list price, by pool."""
ON_DEMAND_DOLLARS = "kubeflow_spot:pool:usd_per_hour_on_demand"
"""The same if all of them were bought on demand."""

_POD = "namespace, pod"


def recordings(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> Iterator[Recording]:
    """Yield the recording rules, each after those that it uses."""
    labels = (
        'label_replace(label_replace(kube_node_labels{label_kubeflow_spot_dev_pool!=""}, '
        '"pool", "$1", "label_kubeflow_spot_dev_pool", "(.+)"), '
        '"capacity", "$1", "label_kubeflow_spot_dev_capacity", "(.+)")'
    )
    yield Recording(NODE, f"max by (node, pool, capacity) ({labels})")
    yield Recording(NODES, f"count by (pool, capacity) ({NODE})")
    ready = 'kube_node_status_condition{condition="Ready",status="true"} == 1'
    yield Recording(READY, f"{NODE} and on (node) ({ready})")
    requests = 'kube_pod_container_resource_requests{resource="nvidia_com_gpu"}'
    living = 'kube_pod_status_phase{phase=~"Pending|Running"} == 1'
    yield Recording(GPUS, f"sum by ({_POD}, node) ({requests}) and on ({_POD}) ({living})")
    unschedulable = "kube_pod_status_unschedulable == 1"
    yield Recording(WAITING, f"sum by ({_POD}) ({GPUS}) and on ({_POD}) ({unschedulable})")
    spot = f'kube_pod_tolerations{{key=~"{spot_keys(cloud)}"}}'
    yield Recording(SPOT_POD, f"max by ({_POD}) ({spot})")
    # An evicted node's pods go seconds before it, an idle node goes after minutes without any.
    before = (
        f'({READY}{{capacity="spot"}} offset 1m) and on (node) max_over_time({GPUS}[2m] offset 1m)'
    )
    yield Recording(LOST, f"({before}) unless on (node) {READY}")
    for pool in pools:
        count = f'(sum({NODES}{{pool="{pool.label}"}}) or vector(0))'
        labelled = {"pool": pool.label}
        if pool.gpus:
            yield Recording(FULL, f"{count} >= bool {pool.max_nodes}", labelled)
        paid, dear = prices(pool, spec, cloud)
        if paid is not None and dear is not None:
            yield Recording(DOLLARS, f"{count} * {paid:g}", labelled)
            yield Recording(ON_DEMAND_DOLLARS, f"{count} * {dear:g}", labelled)


def spot_keys(cloud: Cloud) -> str:
    """Return the expression of keys that tolerate a spot node; no key tolerates every taint."""
    return "|".join((*sorted({taint.key for taint in cloud.spot_taints}), ""))


def prices(pool: NodePool, spec: ClusterSpec, cloud: Cloud) -> tuple[float | None, float | None]:
    """Return US dollars of a node's hour, and of the same on demand; None if unknown."""
    place = spec.cloud.place or ""
    # Preemptible and flex-start machines have no price of their own here.
    bought = None if pool.preemptible else pool.capacity
    paid = price(cloud.provider, place, pool.machine, bought) if bought else None
    return paid, price(cloud.provider, place, pool.machine, Capacity.ON_DEMAND)
