"""Maintenance windows: each refusal with a near neighbour that is accepted."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.resources import maintenance

from .conftest import Account, Props

TOKEN = "azure-native:containerservice:MaintenanceConfiguration"
UPGRADES, NODES = "aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"
WEEKLY = {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}}
WINDOW: Props = {"schedule": WEEKLY, "startTime": "02:00", "durationHours": 4, "utcOffset": "+01:00"}
SLOTS = [{"day": "Sunday", "hourSlots": [1, 2]}]


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "today", lambda: date(2026, 11, 21))


def inputs(name: str, **parts: Any) -> Props:
    return {"resourceGroupName": "ml", "resourceName": "aks", "configName": name, **parts}


def window(**changes: Any) -> Props:
    return {"maintenanceWindow": {**WINDOW, **changes}}


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


REFUSED: list[tuple[str, str, Props, str, Props]] = [
    ("shorter than four hours", UPGRADES, window(durationHours=3), "3 is not between 4 and 24", window()),
    ("longer than a day", UPGRADES, window(durationHours=25), "not between", window(durationHours=24)),
    ("no hour", NODES, window(startTime="24:00"), "'24:00' is not a valid startTime", window(startTime="23:59")),
    ("short time", NODES, window(startTime="2:00"), "not a valid startTime", window(startTime="02:00")),
    ("offset without sign", NODES, window(utcOffset="01:00"), "not a valid utcOffset", window(utcOffset="-07:00")),
    (
        "two schedules",
        UPGRADES,
        window(schedule={**WEEKLY, "daily": {"intervalDays": 1}}),
        "One and only one of the schedule types",
        window(schedule={"daily": {"intervalDays": 7}}),
    ),
    ("no schedule", UPGRADES, window(schedule={}), "One and only one of the schedule types", window()),
    (
        "too many days",
        UPGRADES,
        window(schedule={"daily": {"intervalDays": 8}}),
        "8 is not between 1 and 7",
        window(schedule={"daily": {"intervalDays": 7}}),
    ),
    (
        "too many weeks",
        UPGRADES,
        window(schedule={"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 5}}),
        "5 is not between 1 and 4",
        window(schedule={"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 4}}),
    ),
    (
        "no such day",
        UPGRADES,
        window(schedule={"absoluteMonthly": {"dayOfMonth": 32, "intervalMonths": 1}}),
        "32 is not between 1 and 31",
        window(schedule={"absoluteMonthly": {"dayOfMonth": 31, "intervalMonths": 6}}),
    ),
    (
        "too many months",
        UPGRADES,
        window(schedule={"relativeMonthly": {"dayOfWeek": "Monday", "weekIndex": "Last", "intervalMonths": 7}}),
        "7 is not between 1 and 6",
        window(schedule={"relativeMonthly": {"dayOfWeek": "Monday", "weekIndex": "Last", "intervalMonths": 6}}),
    ),
    (
        "a day that has passed",
        NODES,
        window(startDate="2026-11-20"),
        "The input 'maintenanceWindow.startDate' 2026-11-20 00:00:00 +0000 cxTimeZone is before the current time",
        window(startDate="2026-11-21"),
    ),
    ("no date", NODES, window(startDate="tomorrow"), "is not a date", window(startDate="2027-01-01")),
    (
        "a span that ends first",
        NODES,
        window(notAllowedDates=[{"start": "2026-12-23", "end": "2026-12-22"}]),
        "before its start",
        window(notAllowedDates=[{"start": "2026-12-23", "end": "2026-12-23"}]),
    ),
    ("a week's slots in a window's place", NODES, {"timeInWeek": SLOTS}, "timeInWeek is only allowed", window()),
    ("nothing", NODES, {}, "exactly one of: maintenanceWindow", window()),
    ("nothing in default", "default", {}, "timeInWeek or maintenanceWindow", {"timeInWeek": SLOTS}),
    ("both in default", "default", {"timeInWeek": SLOTS, **window()}, "exactly one of", window()),
    (
        "a default that is not weekly",
        "default",
        window(schedule={"daily": {"intervalDays": 1}}),
        "takes a weekly schedule",
        window(),
    ),
    (
        "a default every second week",
        "default",
        window(schedule={"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 2}}),
        "intervalWeeks 1 only",
        {"timeInWeek": SLOTS, "notAllowedTime": [{"start": "2026-12-23T00:00:00Z", "end": "2026-12-24T00:00:00Z"}]},
    ),
    (
        "no such hour",
        "default",
        {"timeInWeek": [{"day": "Sunday", "hourSlots": [24]}]},
        "0 to 23",
        {"timeInWeek": SLOTS},
    ),
    ("a slot on no day", "default", {"timeInWeek": [{"hourSlots": [1]}]}, "needs a day", {"timeInWeek": SLOTS}),
]


@pytest.mark.parametrize(("name", "bad", "text", "good"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_window_is_refused_and_its_neighbour_is_not(
    ready: Account, name: str, bad: Props, text: str, good: Props
) -> None:
    with pytest.raises(AzureRefused) as refused:
        ready.create(TOKEN, inputs(name, **bad))
    assert refused.value.code == "InvalidParameter"
    assert text in refused.value.message
    ready.create(TOKEN, inputs(name, **good))


def test_only_three_names_are_taken(ready: Account) -> None:
    with pytest.raises(AzureRefused) as refused:
        ready.create(TOKEN, inputs("nightly", **window()))
    assert refused.value.message == (
        "Only 'default', 'aksManagedAutoUpgradeSchedule' and 'aksManagedNodeOSUpgradeSchedule' are allowed configNames "
        "for maintenance configuration."
    )
    for name in (UPGRADES, NODES, "default"):
        ready.create(TOKEN, inputs(name, **window()))


def test_configuration_belongs_to_a_cluster_and_is_deleted_with_it(ready: Account) -> None:
    with pytest.raises(AzureRefused) as refused:
        ready.create(TOKEN, {**inputs(NODES, **window()), "resourceName": "no"})
    assert refused.value.code == "ParentResourceNotFound"
    cluster = ready.cluster(resourceName="two")
    configuration = ready.create(TOKEN, {**inputs(NODES, **window()), "resourceName": "two"})
    ready.provider.delete(cluster)
    assert ready.provider.read(configuration) is None


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
