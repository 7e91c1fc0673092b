"""Texts with a fixed form in AKS's settings: ids and names."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from config.model.fields import FORMS, MAIL, Reference, Text, form

ArmId = Annotated[
    str,
    form(
        r"(?i)^/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+$",
        "an Azure resource's whole id, /subscriptions/.../resourceGroups/.../providers/...; not its "
        'name or host (`az resource list --name NAME --query "[].id"` shows it)',
        (
            MAIL,
            "an action group's id: `az monitor action-group create -g GROUP -n NAME --action email "
            "NAME {} --query id` makes one that mails to it",
        ),
    ),
]
"""An Azure resource's id, `/subscriptions/.../resourceGroups/.../providers/...`."""

GUID = r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

ObjectId = Annotated[
    str,
    form(
        GUID,
        "an object id of Entra, not a name: `az ad group show --group NAME --query id` prints a group's",
        (
            MAIL,
            "the group's object id, not its mail: `az ad group list --filter \"mail eq '{}'\" --query "
            '"[].id"` prints it',
        ),
    ),
]
"""The object id of a group of Microsoft Entra."""

TenantId = Annotated[
    str,
    form(
        r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        "a tenant's id, a GUID: `az account show --query tenantId` prints it",
    ),
]

ClusterName = Annotated[
    str,
    form(
        r"^[a-zA-Z0-9]([-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$",
        "an AKS cluster's name: at most 63 letters, digits, - and _, no - or _ at an end",
    ),
]
"""REST specification of AKS, `resourceName`."""

NETWORK_NAME = r"^[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,78}[a-zA-Z0-9_])?$"

NetworkName = Annotated[
    str,
    form(
        NETWORK_NAME,
        "a name: at most 80 letters, digits, -, _ and ., a letter or digit first; not an id",
    ),
]
"""The name of a virtual network or a subnet
(learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules)."""

# The length apart: \w is every letter of Unicode, and {0,89} takes 30 ms to compile.
_GROUP = r"^[-\w.()]*[-\w()]$"
FORMS[_GROUP] = (
    "a resource group's name: at most 90 letters, digits, -, _, ., ( and ), no . at the end"
)
ResourceGroup = Annotated[str, StringConstraints(pattern=_GROUP, max_length=90)]

ResourceGroupReference = Annotated[Reference, Text(ResourceGroup)]
NetworkReference = Annotated[Reference, Text(NetworkName)]
ArmReference = Annotated[Reference, Text(ArmId)]
