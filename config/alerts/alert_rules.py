"""The alerts of a stack. Thresholds come from its file: accepted waits, bounds, prices, timers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.alerts import series
from config.alerts.rule import Alert, group
from config.clouds.traits import Cloud
from config.model.alerts import Alerts
from config.model.cluster import seconds
from config.model.pool import Pool
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

_HOUR = 3600
_FEW = 3
"""Spot nodes that may be lost in an hour without an alert."""


@dataclass(frozen=True)
class Chain:
    """A spot pool, the pools of its further steps and its twin, by the values of POOL_LABEL."""

    name: str
    spot: tuple[str, ...]
    twin: str | None
    gpus: int


def rule_group(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> dict[str, Any]:
    """Return the stack's rule group, as Prometheus reads it."""
    alerts = spec.alerts or Alerts()
    chosen = [each for each in alert_rules(spec, pools, cloud) if each.name not in alerts.without]
    return group(series.recordings(spec, pools, cloud), chosen, alerts.runbooks)


def alert_rules(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> Iterator[Alert]:
    """Yield every alert that the stack can have."""
    with_gpus = [pool for pool in pools if pool.gpus]
    wait = seconds(spec.growth.accepted_wait)
    for chain in chains(with_gpus):
        yield from _chain_alerts(chain, wait)
    if with_gpus:
        yield from _waits(with_gpus, wait)
        yield from _budget(spec, with_gpus, cloud, wait)
        yield from _nodes(spec, with_gpus, cloud)
    if any(pool.spot for pool in pools):
        yield from _evictions(pools)
        yield _platform_on_spot(spec)
    yield _near_the_stop(spec, cloud, pools)
    if cloud.priority_expander and with_gpus:
        yield _growth_order()
    if any(pool.spot for pool in pools):
        yield from _guard(spec, cloud)


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


def _chain_alerts(chain: Chain, wait: int) -> Iterator[Alert]:
    labels = {"chain": chain.name}
    spot = f'sum({series.NODES}{{pool=~"{_any(chain.spot)}"}}) > 0'
    names = " and ".join(chain.spot)
    waiting = f"({series.WAITING} <= {chain.gpus}) and on (namespace, pod) {series.SPOT_POD}"
    yield Alert(
        name="SpotGone",
        expr=f"count({waiting}) > 0 unless on () {spot}",
        seconds=wait,
        severity="warning",
        summary=f"No spot node of {names} while {{{{ $value }}}} pods wait for one",
        meaning=f"Pods that may use {names} have waited longer than `growth.acceptedWait`.",
        labels=labels,
    )
    if chain.twin is None:
        return
    spot_gpus = f"{series.GPUS} and on (namespace, pod) {series.SPOT_POD}"
    others = f"{series.GPUS} unless on (namespace, pod) {series.SPOT_POD}"
    twin = f'{series.NODE}{{pool="{chain.twin}"}}'
    lasting = f"count({twin} and on (node) ({spot_gpus}) unless on (node) ({others})) > 0"
    yield Alert(
        name="FallbackLasts",
        expr=f"{lasting} unless on () {spot}",
        seconds=max(_HOUR, 2 * wait),
        severity="info",
        summary=f"{{{{ $value }}}} nodes of {chain.twin} do the work of spot, of which there is none",
        meaning="Work goes on, at the price of on demand.",
        labels=labels,
    )
    either = f"(count({waiting}) > 0 or {lasting})"
    yield Alert(
        name="NoSpotForHours",
        expr=f"{either} unless on () {spot}",
        seconds=max(6 * _HOUR, 6 * wait),
        severity="warning",
        summary=f"{names} had no spot node for hours, and there is work for them",
        meaning="Spot of this machine may be sold out here: other sizes or zones may have some.",
        labels=labels,
    )


def _waits(pools: Sequence[NodePool], wait: int) -> Iterator[Alert]:
    """Yield the alerts of GPU pods that wait, told apart by the cause."""
    full, missing, unfit = [], [], []
    on_demand = [pool for pool in pools if not pool.spot]
    for candidates, which in ((pools, "and"), (on_demand, "unless")):
        waiting = f"{series.WAITING} {which} on (namespace, pod) {series.SPOT_POD}"
        sizes = sorted({pool.gpus for pool in candidates})
        for below, size in zip((0, *sizes), sizes, strict=False):
            fitting = [pool.label for pool in candidates if pool.gpus >= size]
            band = f"(({waiting}) > {below} <= {size})"
            all_full = f'sum({series.FULL}{{pool=~"{_any(fitting)}"}}) == {len(fitting)}'
            full.append(f"({band} and on () ({all_full}))")
            missing.append(f"({band} unless on () ({all_full}))")
        unfit.append(f"(({waiting}) > {max(sizes, default=0)})")
    quota = (
        'sum(increase(cluster_autoscaler_failed_scale_ups_total{reason=~"(?i).*quota.*"}[1h])) > 0'
    )
    pod = "{{ $labels.namespace }}/{{ $labels.pod }}"
    yield Alert(
        name="GpuPodWaitsPoolsFull",
        expr=" or ".join(full),
        seconds=wait,
        severity="warning",
        summary=f"{pod} waits: every pool that fits it has its maxNodes",
        meaning="The pod starts when another one ends. A larger `maxNodes` lets it start now.",
    )
    yield Alert(
        name="GpuPodWaitsNoCapacity",
        expr=f"({' or '.join(missing)}) unless on () ({quota})",
        seconds=wait,
        severity="warning",
        summary=f"{pod} waits: no machine comes, and its pools are below their maxNodes",
        meaning="The cloud has no machine, or the autoscaler does not ask for one.",
    )
    yield Alert(
        name="GpuPodWaitsQuota",
        expr=f"({' or '.join(missing)}) and on () ({quota})",
        seconds=wait,
        severity="warning",
        summary=f"{pod} waits: the cloud refuses machines for quota",
        meaning="Nothing changes until the quota is raised.",
    )
    yield Alert(
        name="GpuPodFitsNoPool",
        expr=" or ".join(unfit),
        seconds=5 * 60,
        severity="warning",
        summary=f"{pod} asks for {{{{ $value }}}} GPUs, more than any node has that it may use",
        meaning="The pod will never start.",
    )


def _budget(
    spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud, wait: int
) -> Iterator[Alert]:
    budget = hourly_budget(spec, pools, cloud)
    if budget is None:
        return
    labels = _any(pool.label for pool in pools)
    yield Alert(
        name="GpuBudgetExceeded",
        expr=f'sum({series.DOLLARS}{{pool=~"{labels}"}}) > {budget:g}',
        seconds=wait,
        severity="warning",
        summary=f"GPU nodes cost {{{{ $value }}}} USD an hour, more than {budget:g}",
        meaning="On-demand nodes do the work of spot, or more nodes run than planned.",
    )


def hourly_budget(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> float | None:
    """Return US dollars an hour: the stack file's, else those of every pool but the twins at its
    largest; None if a price is unknown.
    """
    if spec.alerts and spec.alerts.hourly_budget is not None:
        return spec.alerts.hourly_budget
    paid = [
        (series.prices(pool, spec, cloud)[0], pool.max_nodes) for pool in pools if not pool.twin
    ]
    known = [price * most for price, most in paid if price is not None]
    return round(sum(known), 2) if paid and len(known) == len(paid) else None


def _nodes(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> Iterator[Alert]:
    every = f'{series.READY}{{pool=~"{_any(pool.label for pool in pools)}"}}'
    gpus = 'kube_node_status_allocatable{resource="nvidia_com_gpu"} > 0'
    yield Alert(
        name="DevicePluginMissing",
        expr=f"{every} unless on (node) ({gpus})",
        seconds=10 * 60,
        severity="critical",
        summary="{{ $labels.node }} of {{ $labels.pool }} is Ready and offers no GPU",
        meaning="Pods that ask for a GPU cannot run there, and the node is paid for.",
    )
    idle = [pool.label for pool in pools if not pool.min_nodes]
    if idle:
        timers = cloud.autoscaler_timers(spec, pools)
        yield Alert(
            name="GpuNodeIdle",
            expr=(
                f'{series.READY}{{pool=~"{_any(idle)}"}} unless on (node) '
                f'({series.GPUS}{{node!=""}})'
            ),
            seconds=timers.scale_down + 30 * 60,
            severity="warning",
            summary="{{ $labels.node }} of {{ $labels.pool }} has no GPU pod and does not go",
            meaning="The node is paid for and does nothing: a pod holds it, or the autoscaler "
            "does not remove nodes.",
        )


def _evictions(pools: Sequence[NodePool]) -> Iterator[Alert]:
    most = max(_FEW, sum(pool.max_nodes for pool in pools if pool.spot) // 2)
    yield Alert(
        name="SpotNodesLost",
        expr=f"sum(count_over_time({series.LOST}[1h])) > {most}",
        seconds=0,
        severity="info",
        summary=f"{{{{ $value }}}} spot nodes with GPU pods were lost in an hour, more than {most}",
        meaning="Work without checkpoints is done again, perhaps again and again.",
    )


def _platform_on_spot(spec: ClusterSpec) -> Alert:
    guarded = _any(spec.scheduling.guard.guarded_namespaces)
    pods = f'kube_pod_info{{namespace=~"{guarded}",created_by_kind!="DaemonSet",node!=""}}'
    return Alert(
        name="PlatformPodOnSpot",
        expr=f'{pods} and on (node) {series.NODE}{{capacity="spot"}}',
        seconds=5 * 60,
        severity="critical",
        summary="{{ $labels.namespace }}/{{ $labels.pod }} runs on a spot node",
        meaning="A part of Kubeflow may end at any moment, with seconds of notice.",
    )


def _near_the_stop(spec: ClusterSpec, cloud: Cloud, pools: Sequence[NodePool]) -> Alert:
    timers = cloud.autoscaler_timers(spec, pools)
    unready = 'count(kube_node_status_condition{condition="Ready",status="true"} == 0)'
    every = "count(kube_node_info)"
    share = timers.unready_percentage * 0.8
    return Alert(
        name="UnreadyNodesNearTheStop",
        expr=f"{unready} >= {timers.unready_count} and on () 100 * {unready} / {every} > {share:g}",
        seconds=5 * 60,
        severity="critical",
        summary="{{ $value }} nodes are not Ready; the autoscaler soon stops for every pool",
        meaning=(
            f"Above {timers.unready_count} and {timers.unready_percentage} % no pool grows, "
            "healthy ones too."
        ),
    )


def _growth_order() -> Alert:
    one = '{namespace="kube-system",configmap="cluster-autoscaler-priority-expander"}'
    changed = f"changes(kube_configmap_metadata_resource_version{one}[30m]) > 0"
    return Alert(
        name="GrowthOrderChanged",
        expr=f"{changed} or absent(kube_configmap_info{one})",
        seconds=0,
        severity="warning",
        summary="The order in which pools grow was changed or deleted",
        meaning="After an `up` that is right. Edited by hand, on demand may grow before spot, or "
        "pools at random.",
    )


def _guard(spec: ClusterSpec, cloud: Cloud) -> Iterator[Alert]:
    """Yield an alert of pods that the guard refuses: those that came past it are the proof."""
    guard = spec.scheduling.guard
    excepted = {each.namespace for each in guard.exceptions}
    guarded = [name for name in guard.guarded_namespaces if name not in excepted]
    if guard.mode != "enforce" or not guarded:
        return
    key = "|".join(sorted({taint.key for taint in cloud.spot_taints}))
    yield Alert(
        name="GuardBypassed",
        expr=(
            f'max by (namespace, pod) (kube_pod_tolerations{{namespace=~"{_any(guarded)}",'
            f'key=~"{key}"}})'
        ),
        seconds=60,
        severity="critical",
        summary="{{ $labels.namespace }}/{{ $labels.pod }} tolerates spot, which the guard refuses",
        meaning="The guard is unbound or was, or an old pod outlived it: databases and notebooks "
        "can land on spot nodes.",
    )


def _any(names: Iterator[str] | Sequence[str] | Mapping[str, Any]) -> str:
    return "|".join(sorted(names))
