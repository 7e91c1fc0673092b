"""Azure's regions, as far as a rule depends on one."""

from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.cloud.facts import tables


def plain(location: str) -> str:
    """A region's programmatic name: `westeurope` for `West Europe`."""
    return location.replace(" ", "").lower()


def refusal(location: str, arm_type: str) -> AzureRefused | None:
    """ARM's refusal of a region that Azure does not have; none for others.

    `arm_type` is one such as `Microsoft.Network/virtualNetworks`, empty for a resource group.
    Azure/azure-cli #16368 (a resource group), Azure/AKS #5099 (a cluster). The real list is of the regions that have the type.
    """
    names = tables("azure")["regions"]["names"]
    if plain(location) in names:
        return None
    what = f"resource type '{arm_type}'" if arm_type else "resource group"
    of = " for the resource type" if arm_type else ""
    text = (
        f"The provided location '{location}' is not available for {what}. List of available regions{of} is "
        f"'{','.join(names)}'."
    )
    return arm(f"LocationNotAvailableForResource{'Type' if arm_type else 'Group'}", text)


def zones(location: str) -> tuple[str, ...]:
    """The availability zones of a region, by its programmatic name; one that is not known has three."""
    return () if location in tables("azure")["regions"]["without_zones"] else ("1", "2", "3")
