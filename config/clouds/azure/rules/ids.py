"""Checks of Azure resource ids: whether one is of the type that is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.problems import Problem


def check(path: str, id: str, type: str, what: str) -> Iterator[Problem]:
    """A problem when an id is not of a type such as Microsoft.Network/privateDnsZones. Azure's ids know no case."""
    # namespace/type/name[/type/name]...
    namespace, *rest = re.split("/providers/", id, flags=re.IGNORECASE)[-1].split("/")
    found = "/".join([namespace, *rest[::2]])
    if found.lower() != type.lower():
        yield Problem(
            path,
            f"is the id of a {found}, not of {what}",
            f"/subscriptions/.../resourceGroups/.../providers/{type}/NAME",
        )
