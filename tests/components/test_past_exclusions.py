"""Maintenance exclusions that are over warn; the rules of stack files read no clock."""

from datetime import UTC, datetime

from components import past_exclusions
from config.clouds.azure.azure_upgrades import AzureUpgrades
from config.clouds.gcp.gcp_maintenance import GcpMaintenance

EXCLUDED = {"day": "Sunday", "startTime": "02:00", "exclusions": [{"start": "2026-12-18", "end": "2027-01-04"}]}
GKE = [
    {"name": "year", "start": "2026-12-18T00:00:00Z", "end": "2027-01-04T00:00:00Z"},
    {"name": "minor", "start": "2026-12-18T00:00:00Z", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"},
]


def test_an_exclusion_warns_from_its_end_on() -> None:
    aks = AzureUpgrades.model_validate({"nodeOsWindow": EXCLUDED}).ends
    gke = GcpMaintenance.model_validate({"exclusions": GKE}).ends
    for now, warned in ((datetime(2027, 1, 4, tzinfo=UTC), []), (datetime(2027, 1, 5, tzinfo=UTC), [aks, gke])):
        found = [*past_exclusions.problems([*aks, *gke], now)]
        assert [(each.path, each.what) for each in found] == [(path, "ended on 2027-01-04") for ((path, _),) in warned]
        assert all(each.warning for each in found)
    assert [path for path, _ in [*aks, *gke]] == [
        "cloud.upgrades.nodeOsWindow.exclusions[0]",
        "cloud.maintenance.exclusions[0]",
    ]
