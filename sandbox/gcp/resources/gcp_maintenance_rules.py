"""Rules of a cluster's maintenance policy: the provider's, then GKE's.

Sources: terraform-provider-google-beta, services/container/resource_container_cluster.go; the pages
maintenance-windows-and-exclusions and maintenance-windows. Words without a source beside them are UNCONFIRMED.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sandbox.cloud import rules
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_requests import ClusterRequest, ClusterRule

_WINDOWS = {
    "dailyMaintenanceWindow": "maintenance_policy.0.daily_maintenance_window",
    "recurringMaintenanceWindow": "maintenance_policy.0.recurring_maintenance_window",
    "recurringWindow": "maintenance_policy.0.recurring_window",
}
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = timedelta(days=1)
_ROLLING = 32 * _DAY


def one_window(request: ClusterRequest) -> Refused | None:
    # The provider's schema: ExactlyOneOf; words of terraform-plugin-sdk, validateExactlyOneAttribute.
    policy = request.body.get("maintenancePolicy")
    named = [path for name, path in _WINDOWS.items() if name in (policy or {})]
    if policy is None or len(named) == 1:
        return None
    listed = ",".join(_WINDOWS.values())
    if not named:
        return Refused(f'"{min(_WINDOWS.values())}": one of `{listed}` must be specified')
    also = ",".join(named)
    return Refused(f'"{named[0]}": only one of `{listed}` can be specified, but `{also}` were specified.')


def number(request: ClusterRequest) -> Refused | None:
    # The provider's schema: MaxItems; words of terraform-plugin-sdk, validate.
    if len(_exclusions(request)) > 20:
        return Refused(
            'Too many maintenance_exclusion blocks: No more than 20 "maintenance_exclusion" blocks are allowed'
        )
    return None


def kept_exclusions(request: ClusterRequest) -> Refused | None:
    # The sandbox's own refusal. expandMaintenancePolicy sends the live exclusions where the block is gone, and
    # flattenMaintenancePolicy shows nothing of a policy without a window: they would stay unseen.
    now = ((request.current or {}).get("maintenancePolicy") or {}).get("maintenanceExclusions")
    if now and not request.body.get("maintenancePolicy"):
        return Refused("the provider would keep the cluster's maintenance exclusions, and show none: remove them first")
    return None


@rules.as_read
def exclusions(request: ClusterRequest) -> GcpRefused | None:
    found = _exclusions(request)
    all_upgrades = [each for each in found if _scope(each) == "NO_UPGRADES"]
    # Page maintenance-windows-and-exclusions, "Limitations".
    if len(all_upgrades) > 3:
        return bad_request("A cluster can have at most 3 maintenance exclusions with the scope NO_UPGRADES.")
    names = [each["exclusionName"] for each in found]
    if len(set(names)) < len(names):
        return bad_request("Maintenance exclusions must have different names.")
    for each in found:
        name, until = each["exclusionName"], (each.get("exclusionOptions") or {}).get("endTimeBehavior")
        # pulumi-gcp, `end_time`: exactly one of the two.
        if bool(each.get("endTime")) == bool(until):
            return bad_request(
                f"Maintenance exclusion {name!r}: exactly one of end_time and end_time_behavior is needed."
            )
        if until:
            if _scope(each) == "NO_UPGRADES":
                return bad_request(f"Maintenance exclusion {name!r}: NO_UPGRADES cannot last until the end of support.")
            continue
        start, end = _time(each["startTime"]), _time(each["endTime"])
        if end <= start:
            return bad_request(f"Maintenance exclusion {name!r}: end_time must be after start_time.")
        # Copies of the page say 30 days, later ones 90: refused is what both refuse.
        if _scope(each) == "NO_UPGRADES" and end - start > 90 * _DAY:
            return bad_request(f"Maintenance exclusion {name!r}: NO_UPGRADES cannot exceed 90 days.")
    return None


def availability(request: ClusterRequest) -> GcpRefused | None:
    # Page maintenance-windows: 48 hours in a 32-day rolling window, of pieces of at least four hours. The words are
    # those that people report of google_container_cluster; which 32 days GKE looks at is UNCONFIRMED.
    policy = request.body.get("maintenancePolicy")
    if not policy:
        return None
    shut = [
        (_time(each["startTime"]), _time(each["endTime"]))
        for each in _exclusions(request)
        if _scope(each) == "NO_UPGRADES"
    ]
    starts = [start for start, _ in shut] or [datetime.fromisoformat("2026-01-05T00:00:00Z")]
    for around in starts:
        pieces = list(_pieces(policy, around - _ROLLING - _DAY, around + 3 * _ROLLING, sorted(shut)))
        for begins in {around, *(end for _, end in pieces if end <= around + _ROLLING)}:
            inside = [min(end, begins + _ROLLING) - max(start, begins) for start, end in pieces]
            if sum((each for each in inside if each >= _DAY / 6), timedelta()) < 2 * _DAY:
                return bad_request(
                    "maintenance policy would go longer than 32d without 48h maintenance availability of >=4h contiguous "
                    f"duration (in time range [{begins:%Y-%m-%dT%H:%M:%SZ}, {begins + _ROLLING:%Y-%m-%dT%H:%M:%SZ}])"
                )
    return None


def _pieces(policy: Body, first: datetime, last: datetime, shut: list[Any]) -> Iterator[tuple[datetime, datetime]]:
    """Yield the times at which upgrades are allowed; neighbours that touch are one."""
    merged: list[tuple[datetime, datetime]] = []
    for opens, closes in _opened(policy, first, last):
        if merged and opens <= merged[-1][1]:
            opens = merged.pop()[0]
        merged.append((opens, closes))
    for opens, closes in merged:
        for begins, ends in shut:
            if begins < closes and opens < ends:
                if opens < begins:
                    yield opens, begins
                opens = max(opens, ends)
        if opens < closes:
            yield opens, closes


def _opened(policy: Body, first: datetime, last: datetime) -> Iterator[tuple[datetime, datetime]]:
    if "dailyMaintenanceWindow" in policy:
        start = _time(f"2026-01-05T{policy['dailyMaintenanceWindow']['startTime']}:00Z")
        length, days = _DAY / 6, _DAYS
    else:
        window = policy["recurringWindow"]
        start = _time(window["startTime"])
        length = _time(window["endTime"]) - start
        named = re.fullmatch(r"FREQ=WEEKLY;BYDAY=(.+)", window["recurrence"])
        days = tuple(named[1].split(",")) if named else _DAYS
    day = start + (first - start) // _DAY * _DAY
    while day <= last:
        if _DAYS[day.weekday()] in days:
            yield day, day + length
        day += _DAY


def _exclusions(request: ClusterRequest) -> list[Body]:
    return (request.body.get("maintenancePolicy") or {}).get("maintenanceExclusions") or []


def _scope(exclusion: Body) -> str:
    # The default (MaintenanceExclusionOptions.Scope).
    return (exclusion.get("exclusionOptions") or {}).get("scope") or "NO_UPGRADES"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


RULES: tuple[ClusterRule, ...] = (one_window, number, kept_exclusions, exclusions, availability)
