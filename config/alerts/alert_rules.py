"""The alerts of a stack. Thresholds come from its file: accepted waits, bounds, prices, timers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from config.alerts import series
from config.alerts.rule import Alert, group
from config.clouds.traits import Cloud, PoolBounds
from config.model.alerts import Alerts
from config.model.cluster import seconds
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool

_HOUR = 3600
_SIXTY_DAYS = 60 * 24 * _HOUR
_FEW = 3
"""Spot nodes that may be lost in an hour without an alert."""


def rule_group(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> dict[str, Any]:
    """Return the stack's rule group, as Prometheus reads it."""
    alerts = spec.alerts or Alerts()
    chosen = [each for each in alert_rules(spec, pools, cloud) if each.name not in alerts.without]
    return group(series.recordings(spec, pools, cloud), chosen, alerts.runbooks)


def alert_rules(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> Iterator[Alert]:
    """Yield every alert that the stack can have."""
    with_gpus = [pool for pool in pools if pool.gpus]
    wait = seconds(spec.growth.accepted_wait)
    for chain in series.chains(with_gpus):
        yield from _chain_alerts(chain, wait)
    if with_gpus:
        yield from _waits(with_gpus, wait)
        yield from _budget(spec, with_gpus, cloud, wait)
        yield from _nodes(spec, with_gpus, cloud)
    if any(pool.spot for pool in pools):
        yield from _evictions(pools)
        yield _platform_on_spot()
    if spec.cloud.autoscaled:
        yield _near_the_stop(spec, cloud, pools)
    if cloud.support_ends:
        yield _version_ends(cloud)
    if cloud.priority_expander and spec.cloud.autoscaled and with_gpus:
        yield _growth_order()
    if any(pool.spot for pool in pools) and series.guarded_from_spot(spec):
        yield _guard_bypassed()


def _chain_alerts(chain: series.Chain, wait: int) -> Iterator[Alert]:
    labels = {"chain": chain.name}
    spot = f'sum({series.NODES}{{pool=~"{series.any_of(chain.spot)}"}}) > 0'
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
    """Yield the alerts of GPU pods that wait, told apart by the cause.

    No series tells quota from missing machines, so one alert covers both. AKS' autoscaler counts
    both as `cloudProviderError` (drill/metrics/sampling.py), GKE offers no series of its own.
    """
    full, missing, unfit = [], [], []
    on_demand = [pool for pool in pools if not pool.spot]
    for candidates, which in ((pools, "and"), (on_demand, "unless")):
        waiting = f"{series.WAITING} {which} on (namespace, pod) {series.SPOT_POD}"
        sizes = sorted({pool.gpus for pool in candidates})
        for below, size in zip((0, *sizes), sizes, strict=False):
            fitting = [pool.label for pool in candidates if pool.gpus >= size]
            band = f"(({waiting}) > {below} <= {size})"
            all_full = f'sum({series.FULL}{{pool=~"{series.any_of(fitting)}"}}) == {len(fitting)}'
            full.append(f"({band} and on () ({all_full}))")
            missing.append(f"({band} unless on () ({all_full}))")
        unfit.append(f"(({waiting}) > {max(sizes, default=0)})")
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
        expr=" or ".join(missing),
        seconds=wait,
        severity="warning",
        summary=f"{pod} waits: no machine comes, and its pools are below their maxNodes",
        meaning="The cloud has none, or refuses it for quota, or the autoscaler does not ask. The "
        "runbook's first command tells which.",
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
    budget = series.hourly_budget(spec, pools, cloud)
    if budget is None:
        return
    yield Alert(
        name="GpuBudgetExceeded",
        expr=f"{series.GPU_DOLLARS} > {budget:g}",
        seconds=wait,
        severity="warning",
        summary=f"GPU nodes cost {{{{ $value }}}} USD an hour, more than {budget:g}",
        meaning="On-demand nodes do the work of spot, or more nodes run than planned.",
    )


def _nodes(spec: ClusterSpec, pools: Sequence[NodePool], cloud: Cloud) -> Iterator[Alert]:
    every = f'{series.READY}{{pool=~"{series.any_of(pool.label for pool in pools)}"}}'
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
        timers = cloud.autoscaler_timers(spec, _bounds(pools))
        yield Alert(
            name="GpuNodeIdle",
            expr=(
                f'{series.READY}{{pool=~"{series.any_of(idle)}"}} unless on (node) '
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
        expr=f"sum({series.LOST_IN_AN_HOUR}) > {most}",
        seconds=0,
        severity="info",
        summary=f"{{{{ $value }}}} spot nodes with GPU pods were lost in an hour, more than {most}",
        meaning="Work without checkpoints is done again, perhaps again and again.",
    )


def _platform_on_spot() -> Alert:
    return Alert(
        name="PlatformPodOnSpot",
        expr=series.PLATFORM_ON_SPOT,
        seconds=5 * 60,
        severity="critical",
        summary="{{ $labels.namespace }}/{{ $labels.pod }} runs on a spot node",
        meaning="A part of Kubeflow may end at any moment, with seconds of notice.",
    )


def _near_the_stop(spec: ClusterSpec, cloud: Cloud, pools: Sequence[NodePool]) -> Alert:
    timers = cloud.autoscaler_timers(spec, _bounds(pools))
    share = timers.unready_percentage * 0.8
    return Alert(
        name="UnreadyNodesNearTheStop",
        expr=(
            f"{series.UNREADY_NODES} >= {timers.unready_count} "
            f"and on () {series.UNREADY_PERCENT} > {share:g}"
        ),
        seconds=5 * 60,
        severity="critical",
        summary="{{ $value }} nodes are not Ready; the autoscaler soon stops for every pool",
        meaning=(
            f"Above {timers.unready_count} and {timers.unready_percentage} % no pool grows, "
            "healthy ones too."
        ),
    )


def _version_ends(cloud: Cloud) -> Alert:
    ends = []
    for minor, day in sorted(cloud.support_ends.items()):
        nodes = f'kube_node_info{{kubelet_version=~"v{minor.replace(".", "[.]")}[.].*"}}'
        warned = datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp() - _SIXTY_DAYS
        ends.append(f"(count({nodes}) > 0 and on () vector(time()) > {warned:.0f})")
    return Alert(
        name="KubernetesSupportEnds",
        expr=" or ".join(ends),
        seconds=_HOUR,
        severity="warning",
        summary=f"{{{{ $value }}}} nodes run a Kubernetes version that {cloud.title} soon gives up",
        meaning="Sixty days are left, or fewer; after them no fix comes, and the cloud may upgrade "
        "by itself.",
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


def _guard_bypassed() -> Alert:
    """Return an alert of pods that the guard refuses: those that came past it are the proof."""
    return Alert(
        name="GuardBypassed",
        expr=series.BYPASSED,
        seconds=60,
        severity="critical",
        summary="{{ $labels.namespace }}/{{ $labels.pod }} tolerates spot, which the guard refuses",
        meaning="The guard is unbound or was, or an old pod outlived it: databases and notebooks "
        "can land on spot nodes.",
    )


def _bounds(pools: Sequence[NodePool]) -> list[PoolBounds]:
    return [PoolBounds(each.name, each.min_nodes, each.max_nodes, each.spot) for each in pools]
