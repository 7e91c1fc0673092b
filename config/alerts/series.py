"""Series that alerts and dashboards share, recorded from kube-state-metrics.

Every name here is one of kube-state-metrics (its docs/metrics), which is the same on every cloud.
Labels of nodes are there only with
`--metric-labels-allowlist=nodes=[kubeflow-spot.dev/pool,kubeflow-spot.dev/capacity]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from config.alerts.rule import Recording
from config.clouds.tables import price
from config.clouds.traits import Cloud
from config.model.pool import Capacity, Pool
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
LOST_POD = "kubeflow_spot:lost_pod_gpus:max"
"""GPUs of each pod of such a node in the same minute, by namespace, pod and node."""
PLATFORM_ON_SPOT = "kubeflow_spot:platform_pod_on_spot:info"
"""1 for each pod of a guarded namespace that runs on a spot node, DaemonSets' left out."""
BYPASSED = "kubeflow_spot:guard_bypassed:info"
"""1 for each pod that tolerates spot though the guard refuses that, by namespace and pod."""
CHAIN_NODES = "kubeflow_spot:chain_nodes:count"
"""Nodes of a chain, by chain and capacity: its spot pools, and its on-demand twin."""
FULL = "kubeflow_spot:pool_full:bool"
"""1 if a pool has its maxNodes, by pool; pools with GPUs only."""
BUDGET = "kubeflow_spot:gpu_budget:usd_per_hour"
"""US dollars an hour that all GPU nodes may cost."""
DOLLARS = "kubeflow_spot:pool:usd_per_hour"
"""US dollars an hour of a pool's nodes by list price, by pool."""
ON_DEMAND_DOLLARS = "kubeflow_spot:pool:usd_per_hour_on_demand"
"""The same if all of them were bought on demand."""

UNREADY_NODES = 'count(kube_node_status_condition{condition="Ready",status="true"} == 0)'
UNREADY_PERCENT = f"100 * {UNREADY_NODES} / count(kube_node_info)"
LOST_IN_AN_HOUR = f"count_over_time({LOST}[1h])"
GPU_DOLLARS = f"sum({DOLLARS} and on (pool) {FULL})"
GPU_ON_DEMAND_DOLLARS = f"sum({ON_DEMAND_DOLLARS} and on (pool) {FULL})"
REFUSED = "cluster_autoscaler_failed_scale_ups_total"
"""Requests for machines that failed, by reason: a counter of AKS' autoscaler itself. The reason does
not tell quota from missing machines, so no alert reads it; GKE has no such series."""
QUOTA = "kube_resourcequota"
"""Quotas, by namespace, resource and type: `hard` or `used`."""

_POD = "namespace, pod"


@dataclass(frozen=True)
class Chain:
    """A spot pool, the pools of its further steps and its twin, by the values of POOL_LABEL."""

    name: str
    spot: tuple[str, ...]
    twin: str | None
    gpus: int


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
    pods = f"max_over_time({GPUS}[2m] offset 1m)"
    before = f'({READY}{{capacity="spot"}} offset 1m) and on (node) {pods}'
    yield Recording(LOST, f"({before}) unless on (node) {READY}")
    yield Recording(LOST_POD, f"{pods} and on (node) {LOST}")
    if any(pool.spot for pool in pools):
        yield from _guarded(spec, cloud)
    with_gpus = [pool for pool in pools if pool.gpus]
    if (budget := hourly_budget(spec, with_gpus, cloud)) is not None:
        yield Recording(BUDGET, f"vector({budget:g})")
    for chain in chains(with_gpus):
        for capacity, members in (("spot", chain.spot), ("on-demand", (chain.twin,))):
            nodes = f'sum({NODES}{{pool=~"{any_of(each for each in members if each)}"}})'
            labelled = {"chain": chain.name, "capacity": capacity}
            if any(members):
                yield Recording(CHAIN_NODES, f"{nodes} or vector(0)", labelled)
    for pool in pools:
        count = f'(sum({NODES}{{pool="{pool.label}"}}) or vector(0))'
        labelled = {"pool": pool.label}
        if pool.gpus:
            yield Recording(FULL, f"{count} >= bool {pool.max_nodes}", labelled)
        paid, dear = prices(pool, spec, cloud)
        if paid is not None and dear is not None:
            yield Recording(DOLLARS, f"{count} * {paid:g}", labelled)
            yield Recording(ON_DEMAND_DOLLARS, f"{count} * {dear:g}", labelled)


def chains(pools: Sequence[NodePool]) -> list[Chain]:
    """Return the chains of spot pools with GPUs."""
    spot = {pool.label: pool for pool in pools if pool.spot}
    twins = {pool.source.name: pool.label for pool in pools if pool.twin}
    found: list[Chain] = []
    for name, pool in sorted(spot.items()):
        source = pool.source
        assert isinstance(source, Pool)
        steps = [step.pool for step in source.fallback if step.pool in spot]
        inside = any(name in chain.spot for chain in found)
        if source.fallback or not inside:
            members = (name, *(step for step in steps if step))
            found.append(Chain(name, members, twins.get(name), pool.gpus))
    return found


def hourly_budget(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> float | None:
    """Return US dollars an hour: the stack file's, else those of every pool but the twins at its
    largest; None if a price is unknown.
    """
    if spec.alerts and spec.alerts.hourly_budget is not None:
        return spec.alerts.hourly_budget
    paid = [(prices(pool, spec, cloud)[0], pool.max_nodes) for pool in pools if not pool.twin]
    known = [price * most for price, most in paid if price is not None]
    return round(sum(known), 2) if paid and len(known) == len(paid) else None


def _guarded(spec: ClusterSpec, cloud: Cloud) -> Iterator[Recording]:
    guard = spec.scheduling.guard
    guarded = any_of(guard.guarded_namespaces)
    pods = f'kube_pod_info{{namespace=~"{guarded}",created_by_kind!="DaemonSet",node!=""}}'
    yield Recording(PLATFORM_ON_SPOT, f'{pods} and on (node) {NODE}{{capacity="spot"}}')
    if kept := guarded_from_spot(spec):
        tolerating = (
            f'max by ({_POD}) (kube_pod_tolerations{{namespace=~"{any_of(kept)}",'
            f'key=~"{spot_keys(cloud)}"}})'
        )
        agents = 'kube_pod_info{created_by_kind="DaemonSet"}'
        yield Recording(BYPASSED, f"{tolerating} unless on ({_POD}) {agents}")


def guarded_from_spot(spec: ClusterSpec) -> list[str]:
    """Return the namespaces in which the guard refuses pods that tolerate spot."""
    guard = spec.scheduling.guard
    excepted = {each.namespace for each in guard.exceptions}
    kept = [name for name in guard.guarded_namespaces if name not in excepted]
    return kept if guard.mode == "enforce" else []


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


def any_of(names: Iterable[str]) -> str:
    """Return the expression that matches each of the names."""
    return "|".join(sorted(names))
