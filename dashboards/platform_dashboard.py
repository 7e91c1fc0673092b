"""The platform's dashboard: nodes, spot, waits, losses, money, guard and autoscaler of a stack."""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Dashboard, Panel

from config.alerts import series
from dashboards.panels import board, graph, now, or_zero, waited


def platform() -> Dashboard:
    """Return the dashboard of all teams' nodes."""
    return board(
        "kubeflow-spot-platform",
        "Kubeflow spot: platform",
        "GPU nodes of a stack: where they come from, what they cost, and who waits for them.",
        [*_nodes(), *_waits(), *_losses_and_money(), *_health()],
    )


def _nodes() -> Iterator[Builder[Panel]]:
    yield graph(
        "GPU nodes by chain",
        "Nodes of each chain: those of its spot pools, and those of its on-demand twin.",
        "short",
        (series.CHAIN_NODES, "{{chain}} {{capacity}}"),
    )
    spot = f'sum({series.NODES}{{capacity="spot"}} and on (pool) {series.FULL})'
    every = f"sum({series.NODES} and on (pool) {series.FULL})"
    yield graph(
        "Share of spot among GPU nodes",
        "100 % if all GPU nodes are spot; there is no line while there is no GPU node.",
        "percentunit",
        (f"({spot} or 0 * {every}) / {every}", "spot"),
    )


def _waits() -> Iterator[Builder[Panel]]:
    yield graph(
        "GPU pods that wait",
        "Pods that the scheduler finds no node for, and the GPUs that they request.",
        "short",
        (or_zero(f"count({series.WAITING})"), "pods"),
        (or_zero(f"sum({series.WAITING})"), "GPUs"),
    )
    yield now(
        "How long GPU pods have waited",
        "Each pod that waits now, with the time that it has waited in the last 24 hours.",
        "s",
        waited("namespace, pod"),
        "waited",
    )
    yield graph(
        "Pools at their maxNodes",
        "1 while a GPU pool has as many nodes as it may have, so that further pods wait.",
        "short",
        (series.FULL, "{{pool}}"),
    )


def _losses_and_money() -> Iterator[Builder[Panel]]:
    spot = f'{series.NODES}{{capacity="spot"}}'
    yield graph(
        "Spot nodes lost in the last hour",
        "Spot nodes that went while GPU pods ran on them, by pool.",
        "short",
        (f"sum by (pool) ({series.LOST_IN_AN_HOUR}) or 0 * sum by (pool) ({spot})", "{{pool}}"),
    )
    yield graph(
        "Cost of GPU nodes an hour",
        "GPU nodes at list prices, the same nodes bought on demand, and the budget of the alert.",
        "currencyUSD",
        (series.GPU_DOLLARS, "cost"),
        (series.GPU_ON_DEMAND_DOLLARS, "on demand alone"),
        (f"max({series.BUDGET})", "budget"),
    )


def _health() -> Iterator[Builder[Panel]]:
    yield graph(
        "Pods past the guard",
        "Pods that tolerate spot in a guarded namespace, and platform pods that run on spot nodes.",
        "short",
        (or_zero(f"count({series.BYPASSED})"), "tolerate spot"),
        (or_zero(f"count({series.PLATFORM_ON_SPOT})"), "run on spot"),
    )
    yield graph(
        "Nodes that are not Ready",
        "Percent of all nodes; above a limit the autoscaler stops for every pool.",
        "percent",
        (or_zero(series.UNREADY_PERCENT), "not Ready"),
    )
    yield graph(
        "Scale-ups that failed in the last hour",
        "Failures that AKS' autoscaler counts, quota and missing machines alike; GKE has no such metric.",
        "short",
        (f"sum by (reason) (increase({series.REFUSED}[1h]))", "{{reason}}"),
    )
