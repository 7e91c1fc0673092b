"""Maintenance windows: each refusal with a near neighbour that is accepted."""

from datetime import date
from typing import Any

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.resources import maintenance
from sandbox.tests.rule_walk import ABSENT, chosen

from .conftest import Account, Props, refusal

TOKEN = "azure-native:containerservice:MaintenanceConfiguration"
UPGRADES, NODES = "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"
WEEKLY = {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}}
WINDOW: Props = {"schedule": WEEKLY, "startTime": "02:00", "durationHours": 4, "utcOffset": "+01:00"}
ONE = "One and only one of the schedule types"
SLOTS = [{"day": "Sunday", "hourSlots": [1, 2]}]


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "today", lambda: date(2026, 11, 21))


def inputs(name: str, **parts: Any) -> Props:
    return {"resourceGroupName": "ml", "resourceName": "aks", "configName": name, **parts}


def window(**changes: Any) -> Props:
    return {"maintenanceWindow": {**WINDOW, **changes}}


def weeks(interval: Any) -> Props:
    return window(schedule={"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": interval}})


def either(refused: Props, accepted: Props) -> Props:
    """Return whole configurations as pairs."""
    return {name: (refused.get(name, ABSENT), accepted.get(name, ABSENT)) for name in refused | accepted}


def test_window_comes_back_with_its_defaults(ready: Account) -> None:
    configuration = ready.create(TOKEN, inputs(NODES, maintenanceWindow={"schedule": WEEKLY, "startTime": "23:59"}))
    assert configuration.id.endswith(f"/managedClusters/aks/maintenanceConfigurations/{NODES}")
    assert configuration.old_outputs == {
        "name": NODES,
        "type": "Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
        "maintenanceWindow": {
            "schedule": WEEKLY,
            "startTime": "23:59",
            "durationHours": 24,
            "utcOffset": "+00:00",
            "startDate": "2026-11-21",
        },
        "azureApiVersion": "2025-09-01",
    }


SPAN = {"start": "2026-12-23T00:00:00Z", "end": "2026-12-24T00:00:00Z"}

# Pairs of a refused value and of one that is accepted.
REFUSED: list[tuple[str, str, str, Props]] = [
    ("shorter than four hours", UPGRADES, "3 is not between 4 and 24", window(durationHours=(3, 4))),
    ("longer than a day", UPGRADES, "not between", window(durationHours=(25, 24))),
    ("no hour", NODES, "'24:00' is not a valid startTime", window(startTime=("24:00", "23:59"))),
    ("short time", NODES, "not a valid startTime", window(startTime=("2:00", "02:00"))),
    ("offset without sign", NODES, "not a valid utcOffset", window(utcOffset=("01:00", "-07:00"))),
    ("two schedules", UPGRADES, ONE, window(schedule={**WEEKLY, "daily": ({"intervalDays": 1}, ABSENT)})),
    ("no schedule", UPGRADES, ONE, window(schedule=({}, {"daily": {"intervalDays": 7}}))),
    ("too many days", UPGRADES, "8 is not between 1 and 7", window(schedule={"daily": {"intervalDays": (8, 7)}})),
    ("too many weeks", UPGRADES, "5 is not between 1 and 4", weeks((5, 4))),
    (
        *("no such day", UPGRADES, "32 is not between 1 and 31"),
        window(schedule={"absoluteMonthly": {"dayOfMonth": (32, 31), "intervalMonths": (1, 6)}}),
    ),
    (
        *("too many months", UPGRADES, "7 is not between 1 and 6"),
        window(schedule={"relativeMonthly": {"dayOfWeek": "Monday", "weekIndex": "Last", "intervalMonths": (7, 6)}}),
    ),
    (
        *("a day that has passed", NODES),
        "The input 'maintenanceWindow.startDate' 2026-11-20 00:00:00 +0000 cxTimeZone is before the current time",
        window(startDate=("2026-11-20", "2026-11-21")),
    ),
    ("no date", NODES, "is not a date", window(startDate=("tomorrow", "2027-01-01"))),
    (
        *("a span that ends first", NODES, "before its start"),
        window(notAllowedDates=[{"start": "2026-12-23", "end": ("2026-12-22", "2026-12-23")}]),
    ),
    (
        "a week's slots in a window's place",
        NODES,
        "timeInWeek is only allowed",
        either({"timeInWeek": SLOTS}, window()),
    ),
    ("nothing", NODES, "exactly one of: maintenanceWindow", either({}, window())),
    ("nothing in default", "default", "timeInWeek or maintenanceWindow", {"timeInWeek": (ABSENT, SLOTS)}),
    ("both in default", "default", "exactly one of", {"timeInWeek": SLOTS, "maintenanceWindow": (WINDOW, ABSENT)}),
    (
        "a default that is not weekly",
        "default",
        "takes a weekly schedule",
        window(schedule=({"daily": {"intervalDays": 1}}, WEEKLY)),
    ),
    (
        "a default every second week",
        "default",
        "intervalWeeks 1 only",
        either(weeks(2), {"timeInWeek": SLOTS, "notAllowedTime": [SPAN]}),
    ),
    ("no such hour", "default", "0 to 23", {"timeInWeek": ([{"day": "Sunday", "hourSlots": [24]}], SLOTS)}),
    ("a slot on no day", "default", "needs a day", {"timeInWeek": [{"day": (ABSENT, "Sunday"), "hourSlots": [1]}]}),
]


@pytest.mark.parametrize(("name", "text", "parts"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_window_is_refused_and_its_neighbour_is_not(ready: Account, name: str, text: str, parts: Props) -> None:
    refused = refusal(ready.create, TOKEN, inputs(name, **chosen(parts, "refused")))
    assert refused.code == "InvalidParameter"
    assert text in refused.message
    ready.create(TOKEN, inputs(name, **chosen(parts, "accepted")))


def test_only_three_names_are_taken(ready: Account) -> None:
    assert refusal(ready.create, TOKEN, inputs("nightly", **window())).message == (
        "Only 'default', 'aksManagedAutoUpgradeSchedule' and 'aksManagedNodeOSUpgradeSchedule' are allowed configNames "
        "for maintenance configuration."
    )
    for name in (UPGRADES, NODES, "default"):
        ready.create(TOKEN, inputs(name, **window()))


def test_start_date_stays_what_it_was_and_is_not_drift(ready: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = ready.create(TOKEN, inputs(NODES, **window()))
    monkeypatch.setattr(maintenance, "today", lambda: date(2026, 12, 1))
    longer = ready.update(configuration, inputs(NODES, **window(durationHours=8)))
    assert longer.old_outputs["maintenanceWindow"]["startDate"] == "2026-11-21"
    assert ready.refresh(longer).old_inputs == longer.old_inputs
    # A date of one's own that has passed is refused at the next change (azurerm #22762).
    with pytest.raises(AzureRefused, match="is before the current time"):
        ready.update(longer, inputs(NODES, **window(startDate="2026-11-21")))


def test_update_replaces_the_schedule(ready: Account) -> None:
    configuration = ready.create(TOKEN, inputs(UPGRADES, **window()))
    daily = {"daily": {"intervalDays": 2}}
    updated = ready.update(configuration, inputs(UPGRADES, **window(schedule=daily)))
    assert updated.old_outputs["maintenanceWindow"]["schedule"] == daily
    assert ready.diff(updated, inputs(NODES, **window(schedule=daily))).replaces == {"configName"}
