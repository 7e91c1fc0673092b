"""One team's dashboard: its GPUs, its quota, its waiting pods and its losses."""

from __future__ import annotations

from collections.abc import Iterator

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Dashboard, Panel

from config.alerts import series
from dashboards.panels import board, graph, namespaces, now, or_zero, waited

_OWN = '{namespace="$namespace"}'
_WAITING = f"{series.WAITING}{_OWN}"


def team() -> Dashboard:
    """Return the dashboard of one namespace."""
    return board(
        "kubeflow-spot-team",
        "Kubeflow spot: one team",
        "GPU pods of one namespace: where they run, what they may use, and what they lost.",
        [*_placement(), *_quota(), *_waits(), _losses()],
        [namespaces()],
    )


def _placement() -> Iterator[Builder[Panel]]:
    placed = f"{series.GPUS}{_OWN} * on (node) group_left (pool, capacity) {series.NODE}"
    yield graph(
        "GPUs in use by placement",
        "GPUs of the team's pods on spot nodes and on on-demand nodes.",
        "short",
        (f"sum by (capacity) ({placed})", "{{capacity}}"),
    )
    yield now(
        "Pods with GPUs",
        "Where each pod runs now, and its GPUs.",
        "short",
        f"sum by (pod, node, pool, capacity) ({placed})",
        "GPUs",
    )


def _quota() -> Iterator[Builder[Panel]]:
    used, hard = (
        f'{series.QUOTA}{{namespace="$namespace",type="{kind}"' for kind in ("used", "hard")
    )
    gpus = ',resource="requests.nvidia.com/gpu"'
    yield graph(
        "GPUs of the quota",
        "GPUs that the team's pods request, and those that its smallest quota allows.",
        "short",
        (f"max({used}{gpus}}})", "requested"),
        (f"min({hard}{gpus}}})", "allowed"),
    )
    yield graph(
        "Share of each quota in use",
        "100 % if a resource is used up, so that the API server refuses further pods.",
        "percentunit",
        (f"max by (resource) ({used}}} / ignoring (type) ({hard}}} > 0))", "{{resource}}"),
    )


def _waits() -> Iterator[Builder[Panel]]:
    yield graph(
        "Pods that wait for GPUs",
        "The team's pods that the scheduler finds no node for, and the GPUs that they request.",
        "short",
        (or_zero(f"count({_WAITING})"), "pods"),
        (or_zero(f"sum({_WAITING})"), "GPUs"),
    )
    yield now(
        "How long the team's pods have waited",
        "Each pod that waits now, with the time that it has waited in the last 24 hours.",
        "s",
        waited("pod", _OWN),
        "waited",
    )


def _losses() -> Builder[Panel]:
    return graph(
        "Pods lost with a spot node in the last hour",
        "Pods with GPUs that ran on a spot node when it was evicted or went.",
        "short",
        (or_zero(f"count(count_over_time({series.LOST_POD}{_OWN}[1h]))"), "pods"),
    )
