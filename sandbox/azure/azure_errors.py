"""Refusals of Azure: the error bodies, and the line that azure-native prints for them.

AKS's own errors are not wrapped, ARM's are (azurerm PR 31129, microsoft/tyger #121; azure-cli recording of 2025-07-01).
azure-native prints `Status=<n> Code="<code>" Message="<msg>"` where the message of an unwrapped body is the whole body
(read in its client; the rendered line itself was not seen, so it is [inferred]).

Where a rule says "code: list", the code is one of AKS' own in a public list of about 2021 whose repository could not be named
(package `apierror`, "Copyright (c) Microsoft Corporation", MIT). The words around such a code are ours: the rule is marked
`as_read`, and what the user sees ends in "(as the sandbox reads it)".
"""

import json
from collections.abc import Iterable

from sandbox.azure import azure_ids
from sandbox.cloud.provider import Refused

NAMING_RULES = "Please see https://aka.ms/aks-naming-rules for more details."


class AzureRefused(Refused):
    """A refusal with the parts a caller may want: HTTP status, code, the service's message and the target."""

    def __init__(self, status: int, code: str, message: str, target: str, shown: str) -> None:
        super().__init__(f'Status={status} Code="{code}" Message="{shown}"')
        self.status, self.code, self.message, self.target = status, code, message, target


def aks(code: str, message: str, target: str = "", *, status: int = 400, subcode: str = "") -> AzureRefused:
    """Return an error of the AKS resource provider; its body prints whole."""
    body = {"code": code, "details": None, "message": message, "subcode": subcode, "target": target}
    return AzureRefused(status, code, message, target, json.dumps(body))


def arm(code: str, message: str, *, status: int = 400) -> AzureRefused:
    """Return an error in ARM's envelope `{"error": {"code", "message"}}`, of which azure-native prints the message."""
    return AzureRefused(status, code, message, "", message)


def operation_failed(details: Iterable[tuple[str, str]]) -> str:
    """Return the report of azure-native on an operation that was accepted and failed later; `details` are codes and messages."""
    # jenkins-infra/helpdesk #3584, kaito-project/kaito #2075; printed whole as an unwrapped body is [inferred].
    code = "ResourceOperationFailure"
    body = {
        "code": code,
        "details": [{"code": inner, "message": message} for inner, message in details],
        "message": "The resource operation completed with terminal provisioning state 'Failed'.",
    }
    return f'Code="{code}" Message="{json.dumps(body)}"'


def internal(error: Exception) -> str:
    """Return the text of an operation that failed on this machine, after it was accepted."""
    return f'Code="InternalServerError" Message="{error}"'


def resource_not_found(id: str) -> AzureRefused:
    """Return ARM's 404 for a resource, which names the path after `providers`, and its group."""
    # azure-cli recording test_aks_create_spot_node_pool.yaml
    return arm(
        "ResourceNotFound",
        f"The Resource '{id.rsplit('/providers/', 1)[-1]}' under resource group '{azure_ids.group_name(id)}' was not found. "
        "For more details please go to https://aka.ms/ARMResourceNotFoundFix",
        status=404,
    )


def location_required() -> AzureRefused:
    return arm("LocationRequired", "The location property is required for this definition.")


def location_taken(id: str, current: str, wanted: str) -> AzureRefused:
    text = (
        f"The resource '{azure_ids.last(id)}' already exists in location '{current}' in resource group "
        f"'{azure_ids.group_name(id)}'. A resource with the same name cannot be created in location '{wanted}'. "
        "Please select a new resource name."
    )
    return arm("InvalidResourceLocation", text, status=409)


def parent_not_found(child_type: str, parent_name: str) -> AzureRefused:
    # https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-parent-resource
    return arm(
        "ParentResourceNotFound",
        f"Failed to perform 'write' on resource(s) of type '{child_type}', because the parent resource "
        f"'{parent_name}' could not be found.",
        status=404,
    )
