"""Azure's regions, as far as a rule depends on one."""

from __future__ import annotations

# https://learn.microsoft.com/azure/reliability/regions-list (2025-03): the regions without availability zones. Which zones a
# subscription may use of the others differs; all three is the usual case.
_WITHOUT_ZONES = frozenset(
    {
        "australiacentral",
        "australiacentral2",
        "australiasoutheast",
        "brazilsoutheast",
        "canadaeast",
        "francesouth",
        "germanynorth",
        "koreasouth",
        "northcentralus",
        "norwaywest",
        "southafricawest",
        "southindia",
        "switzerlandwest",
        "uaecentral",
        "ukwest",
        "westcentralus",
        "westindia",
        "westus",
    }
)


def plain(location: str) -> str:
    """A region's programmatic name: `westeurope` for `West Europe`."""
    return location.replace(" ", "").lower()


def zones(location: str) -> tuple[str, ...]:
    """The availability zones of a region, by its programmatic name; one that is not known has three."""
    return () if location in _WITHOUT_ZONES else ("1", "2", "3")
