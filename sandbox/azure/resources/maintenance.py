"""Maintenance windows of a cluster: when AKS may upgrade it and its nodes.

Sources: AKS page planned-maintenance, and limits and patterns of the REST specification (MaintenanceWindow and its
schedules). Texts without a source beside them are UNCONFIRMED.
"""

import copy
import re
from datetime import UTC, date, datetime
from typing import Any

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_resource_type import AzureType, require_group, require_parent
from sandbox.cloud.state import Body, Resources

_DEFAULT = "default"
_NAMES = (_DEFAULT, "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")

_INTERVALS = {
    "daily": {"intervalDays": (1, 7)},
    "weekly": {"intervalWeeks": (1, 4)},
    "absoluteMonthly": {"intervalMonths": (1, 6), "dayOfMonth": (1, 31)},
    "relativeMonthly": {"intervalMonths": (1, 6)},
}
_START = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_OFFSET = re.compile(r"[-+]\d{2}:\d{2}")


class MaintenanceConfiguration(AzureType):
    """`Microsoft.ContainerService/managedClusters/maintenanceConfigurations`."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        require_parent(resources, id, self.arm_type)
        name = azure_ids.last(id)
        if name not in _NAMES:
            # Azure/ARO-HCP PR 3260 (2025-11)
            raise _invalid(
                "Only 'default', 'aksManagedAutoUpgradeSchedule' and 'aksManagedNodeOSUpgradeSchedule' are allowed "
                "configNames for maintenance configuration.",
                "configName",
            )
        _check_parts(name, wanted)
        body = copy.deepcopy(wanted)
        for index, slot in enumerate(body.get("timeInWeek", [])):
            _check_slot(slot, f"timeInWeek[{index}]")
        if "maintenanceWindow" in body:
            before = (current or {}).get("maintenanceWindow", {})
            body["maintenanceWindow"] = _window(name, body["maintenanceWindow"], before)
        return self.completed(id, body)


def _check_parts(name: str, wanted: Body) -> None:
    window = "maintenanceWindow" in wanted
    weekly = [part for part in ("timeInWeek", "notAllowedTime") if part in wanted]
    if name != _DEFAULT and weekly:
        text = f"{weekly[0]} is only allowed in the maintenance configuration '{_DEFAULT}'."
        raise _invalid(text, weekly[0]).as_read()
    if window == bool(weekly):
        needed = "timeInWeek or maintenanceWindow" if name == _DEFAULT else "maintenanceWindow"
        raise _invalid(
            f"Maintenance configuration '{name}' needs exactly one of: {needed}.", "maintenanceWindow"
        ).as_read()


def _check_slot(slot: Body, path: str) -> None:
    hours = slot.get("hourSlots", [])
    if "day" not in slot or not hours or not all(0 <= hour <= 23 for hour in hours):
        raise _invalid("A time in week needs a day, and hour slots from 0 to 23.", path).as_read()


def _window(name: str, window: Body, before: Body) -> Body:
    path = "maintenanceWindow"
    # `schedule` and `startTime` are required in the SDK, so Check has seen to them; the duration's default is the SDK's.
    body = {"durationHours": 24, "utcOffset": "+00:00", **window}
    _check_schedule(name, body["schedule"])
    _check_range(body["durationHours"], 4, 24, f"{path}.durationHours")
    for field, pattern in (("startTime", _START), ("utcOffset", _OFFSET)):
        if not pattern.fullmatch(body[field]):
            raise _invalid(f"'{body[field]}' is not a valid {field}.", f"{path}.{field}").as_read()
    # Without one the service takes the day of creation, and a day that has passed is refused even when it is the one
    # that was sent before (azurerm #22762, PR 23985).
    if "startDate" in window:
        start = _day(window["startDate"], f"{path}.startDate")
        if start < today():
            text = (
                f"The input 'maintenanceWindow.startDate' {start} 00:00:00 +0000 cxTimeZone is before the current time"
            )
            raise _invalid(text, f"{path}.startDate")
    else:
        body["startDate"] = before.get("startDate", str(today()))
    for index, span in enumerate(body.get("notAllowedDates", [])):
        where = f"{path}.notAllowedDates[{index}]"
        if _day(span["end"], where) < _day(span["start"], where):
            raise _invalid("The end of a date span is before its start.", where).as_read()
    return body


def _check_schedule(name: str, schedule: Body) -> None:
    path = "maintenanceWindow.schedule"
    if len(schedule) != 1:
        # "One and only one of the schedule types should be specified" (REST text)
        raise _invalid("One and only one of the schedule types should be specified.", path).as_read()
    ((kind, settings),) = schedule.items()
    for field, (least, most) in _INTERVALS[kind].items():
        _check_range(settings[field], least, most, f"{path}.{kind}.{field}")
    # azure-cli PR 33431 (2026-05): so since API version 2025-03-01.
    if name == _DEFAULT and (kind != "weekly" or settings["intervalWeeks"] != 1):
        text = f"Maintenance configuration '{_DEFAULT}' takes a weekly schedule with intervalWeeks 1 only."
        raise _invalid(text, path).as_read()


def _check_range(value: Any, least: int, most: int, path: str) -> None:
    if not least <= value <= most:
        raise _invalid(f"{value} is not between {least} and {most}.", path).as_read()


def _day(text: str, path: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _invalid(f"'{text}' is not a date of the form YYYY-MM-DD.", path).as_read() from None


def today() -> date:
    return datetime.now(UTC).date()


def _invalid(text: str, target: str) -> AzureRefused:
    return aks("InvalidParameter", text, target)
