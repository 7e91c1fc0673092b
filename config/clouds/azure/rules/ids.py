"""Checks of the type of Azure resource ids."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.problems import Problem


def check(path: str, id: str, type: str, what: str) -> Iterator[Problem]:
    """A problem when an id is not of a type such as Microsoft.Network/privateDnsZones. Azure compares ids without case."""
    # namespace/type/name[/type/name]...
    namespace, *rest = re.split("/providers/", id, flags=re.IGNORECASE)[-1].split("/")
    actual = "/".join([namespace, *rest[::2]])
    if actual.lower() != type.lower():
        yield Problem(
            path,
            f"is the id of a {actual}, not of {what}",
            f"/subscriptions/.../resourceGroups/.../providers/{type}/NAME",
        )
