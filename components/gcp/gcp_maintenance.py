"""Maintenance of a cluster: the window in which GKE may upgrade, and exclusions."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from pulumi_gcp import container

from components.gcp.gcp_live import LiveCluster, block
from components.resources import wire
from config.clouds.gcp.gcp_maintenance import DAYS, GcpExclusion, GcpMaintenance, moment

_DAILY = GcpMaintenance.model_fields["duration_hours"].default
"""Hours of GKE's own daily window (docs.cloud.google.com, DailyMaintenanceWindow)."""


def policy(
    spec: GcpMaintenance | None, live: LiveCluster, reset: Collection[str]
) -> container.ClusterMaintenancePolicyArgs | None:
    """Return the window and the exclusions; None: at any time. `reset`: what the last update set.

    Without a policy the provider keeps the exclusions that the cluster has, and shows none
    (resource_container_cluster.go, expandMaintenancePolicy). A window that is always open removes
    them, and stays: to remove it in turn would be another update.
    """
    if spec is None:
        now = block(live.answer, "maintenancePolicies")
        always = _recurring(GcpMaintenance())
        stays = wire(always).items() <= block(now, "recurringWindows").items()
        # Exclusions made by hand, such as a freeze, stay.
        left = "maintenance" in reset and now.get("maintenanceExclusions")
        if not left and not stays:
            return None
        return container.ClusterMaintenancePolicyArgs(recurring_window=always)
    args = container.ClusterMaintenancePolicyArgs(
        maintenance_exclusions=[_exclusion(each) for each in spec.exclusions] or None
    )
    if spec.start_time and not spec.days and spec.duration_hours == _DAILY:
        args.daily_maintenance_window = (
            container.ClusterMaintenancePolicyDailyMaintenanceWindowArgs(
                start_time=f"{spec.opens[0]:%H:%M}"
            )
        )
    else:
        args.recurring_window = _recurring(spec)
    return args


def _recurring(spec: GcpMaintenance) -> container.ClusterMaintenancePolicyRecurringWindowArgs:
    """Return the window by its first opening; days are those of UTC (page maintenance-windows)."""
    days = ",".join(DAYS[day.weekday()][:2].upper() for day in spec.opens)
    return container.ClusterMaintenancePolicyRecurringWindowArgs(
        start_time=_written(spec.opens[0]),
        end_time=_written(spec.opens[0] + spec.open_for),
        recurrence=f"FREQ=WEEKLY;BYDAY={days}" if spec.days else "FREQ=DAILY",
    )


def _written(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _exclusion(
    spec: GcpExclusion,
) -> container.ClusterMaintenancePolicyMaintenanceExclusionArgs:
    return container.ClusterMaintenancePolicyMaintenanceExclusionArgs(
        exclusion_name=spec.name,
        start_time=_written(moment(spec.start)),
        end_time=_written(moment(spec.end)) if spec.end else None,
        exclusion_options=container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgs(
            scope=spec.scope, end_time_behavior=spec.end_time_behavior
        ),
    )
