"""Texts with a fixed form in AKS's settings: ids and names."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from config.model.fields import FORMS, form

ArmId = Annotated[
    str,
    form(
        r"(?i)^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/[^/]+(/[^/]+/[^/]+)+$",
        "an Azure resource's id, /subscriptions/.../resourceGroups/.../providers/...",
    ),
]
"""An Azure resource's id, `/subscriptions/.../resourceGroups/.../providers/...`."""

ObjectId = Annotated[
    str,
    form(
        r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        "a GUID, such as 2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11; not a name",
    ),
]
"""A GUID of Microsoft Entra, such as a group's object id."""

# The length apart: \w is every letter of Unicode, and {0,89} takes 30 ms to compile.
_GROUP = r"^[-\w.()]*[-\w()]$"
FORMS[_GROUP] = "a resource group's name: at most 90 letters, digits, -, _, ., ( and ), no . at the end"
ResourceGroup = Annotated[str, StringConstraints(pattern=_GROUP, max_length=90)]
