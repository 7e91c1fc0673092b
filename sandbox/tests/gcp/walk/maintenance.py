"""Maintenance policies of clusters."""

import dataclasses
from typing import Any

from sandbox.gcp.resources import gcp_maintenance_rules as maintenance
from sandbox.tests.rule_walk import ABSENT, Row

from .requests import Make, cluster

_ALWAYS = {"startTime": "2026-01-05T00:00:00Z", "endTime": "2026-01-06T00:00:00Z", "recurrence": "FREQ=DAILY"}
_PAGE = "page maintenance-windows-and-exclusions"


def _window(hours: Any, days: Any) -> dict[str, Any]:
    return {"startTime": "2026-01-10T02:00:00Z", "endTime": hours, "recurrence": days}


def _excluded(name: str, start: str, end: Any, **options: Any) -> dict[str, Any]:
    moments = {"startTime": f"2026-{start}T00:00:00Z", "endTime": end}
    return {"exclusionName": name, **moments, "exclusionOptions": {"scope": "NO_UPGRADES", **options}}


def _policy(*exclusions: Any, **window: Any) -> Make:
    parts = {"recurringWindow": _ALWAYS, "maintenanceExclusions": list(exclusions), **window}
    return cluster(maintenancePolicy={name: part for name, part in parts.items() if part})


def _after(before: Make, now: Make) -> Make:
    return dataclasses.replace(now, last=before.inputs)


def _at(month_and_day: str) -> str:
    return f"2026-{month_and_day}T00:00:00Z"


def _times(number: int) -> list[dict[str, Any]]:
    return [_excluded(f"x{each}", "03-01", _at("03-02"), scope="NO_MINOR_UPGRADES") for each in range(number)]


_THIRD = _excluded("three", "11-01", _at("11-02"))

ROWS = [
    Row("two kinds of window", maintenance.one_window, "resource_container_cluster.go, ExactlyOneOf")
    .says("can be specified, but `maintenance_policy.0.daily_maintenance_window,maintenance_policy.0.recurring_window`")
    .tries(_policy, dailyMaintenanceWindow=({"startTime": "02:00"}, ABSENT)),
    Row("exclusions without a window", maintenance.one_window, "resource_container_cluster.go, ExactlyOneOf")
    .says("must be specified")
    .tries(_policy, _THIRD, recurringWindow=(None, _ALWAYS)),
    Row("too many exclusions", maintenance.number, "resource_container_cluster.go, MaxItems")
    .says("No more than 20")
    .refuses(_policy(*_times(21)))
    .accepts(_policy(*_times(20))),
    Row("policy removed with its exclusions", maintenance.kept_exclusions, "expandMaintenancePolicy")
    .says("the provider would keep the cluster's maintenance exclusions")
    .given(_policy(_THIRD))
    .refuses(_after(_policy(_THIRD), cluster()))
    .accepts(_after(_policy(_THIRD), _policy()), _after(_policy(), cluster())),
    Row("four without any upgrades", maintenance.exclusions, _PAGE)
    .assumes("at most 3 maintenance exclusions with the scope NO_UPGRADES")
    .tries(
        _policy,
        *(_excluded("one", "01-20", _at("01-21")), _excluded("two", "05-01", _at("05-02")), _THIRD),
        _excluded("four", "08-01", _at("08-02"), scope=("NO_UPGRADES", "NO_MINOR_UPGRADES")),
    ),
    Row("two of a name", maintenance.exclusions, "resource_container_cluster.go: a map by name")
    .assumes("must have different names")
    .refuses(_policy(_THIRD, {**_THIRD, "endTime": _at("11-03")}))
    .accepts(_policy(_THIRD, {**_THIRD, "exclusionName": "other"})),
    Row("no end", maintenance.exclusions, "pulumi-gcp, `end_time`")
    .assumes("exactly one of end_time and end_time_behavior")
    .tries(_policy, _excluded("one", "11-01", (ABSENT, _at("11-02")))),
    Row("nothing until the end of support", maintenance.exclusions, _PAGE)
    .assumes("cannot last until the end of support")
    .tries(
        _policy,
        _excluded(
            *("one", "11-01", ABSENT),
            scope=("NO_UPGRADES", "NO_MINOR_UPGRADES"),
            endTimeBehavior="UNTIL_END_OF_SUPPORT",
        ),
    ),
    Row("end before start", maintenance.exclusions, _PAGE)
    .assumes("must be after start_time")
    .tries(_policy, _excluded("one", "11-02", (_at("11-01"), _at("11-03")))),
    Row("a quarter without upgrades", maintenance.exclusions, _PAGE)
    .assumes("cannot exceed 90 days")
    .tries(_policy, _excluded("one", "03-01", _at("06-30"), scope=("NO_UPGRADES", "NO_MINOR_UPGRADES"))),
    Row("once a week for six hours", maintenance.availability, "page maintenance-windows")
    .says("maintenance policy would go longer than 32d without 48h maintenance availability")
    .tries(
        _policy,
        recurringWindow=_window("2026-01-10T08:00:00Z", ("FREQ=WEEKLY;BYDAY=SA", "FREQ=WEEKLY;BYDAY=SA,SU")),
    ),
    Row("pieces shorter than four hours", maintenance.availability, "page maintenance-windows")
    .says("maintenance policy would go longer than 32d")
    .tries(_policy, recurringWindow=_window(("2026-01-10T05:59:00Z", "2026-01-10T06:00:00Z"), "FREQ=DAILY")),
    Row("31 days without upgrades", maintenance.availability, _PAGE)
    .says("maintenance policy would go longer than 32d")
    .tries(_policy, _excluded("one", "03-01", (_at("04-01"), _at("03-31")))),
    Row("21 days beside a daily window", maintenance.availability, _PAGE)
    .says("maintenance policy would go longer than 32d")
    .tries(
        *(_policy, _excluded("one", "03-01", (_at("03-22"), _at("03-20")))),
        recurringWindow=None,
        dailyMaintenanceWindow={"startTime": "02:00"},
    ),
]
