"""GKE's release channels. Sources: README.md beside this file."""

from __future__ import annotations

from functools import cache

from config.clouds.machines import rows
from config.clouds.versions import Versions, number


@cache
def channels() -> dict[str, Versions]:
    """The Kubernetes versions of each release channel, by its name."""
    return {row.pop("channel"): Versions(**row) for row in rows(__file__, "channels")}


@cache
def all_channels() -> Versions:
    """The versions of all channels together."""
    every = channels().values()
    first, last = (
        min((each.first for each in every), key=number),
        max((each.last for each in every), key=number),
    )
    return Versions(first, last, max(each.read for each in every))
