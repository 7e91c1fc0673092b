"""Ids of cloud resources, as far as all clouds spell them alike: a path of names."""


def key(id: str) -> str:
    """Return the form to look an id up by: ARM compares ids without regard to case, and no two of Google's differ in it alone."""
    return id.rstrip("/").lower()


def last(id: str) -> str:
    """Return the name of the resource an id points at."""
    return id.rstrip("/").rsplit("/", 1)[-1]


def parent(id: str) -> str:
    """Return the id two segments up: of a pool its cluster, of a subnet its network."""
    return id.rstrip("/").rsplit("/", 2)[0]
