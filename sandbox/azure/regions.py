"""Azure's regions, as far as a rule depends on one."""

from sandbox.cloud.facts import tables


def plain(location: str) -> str:
    """A region's programmatic name: `westeurope` for `West Europe`."""
    return location.replace(" ", "").lower()


def zones(location: str) -> tuple[str, ...]:
    """The availability zones of a region, by its programmatic name; one that is not known has three."""
    return () if location in tables("azure")["regions"]["without_zones"] else ("1", "2", "3")
