"""Data collection rules: what is collected, and where it goes.

The body is that of the azure-cli-extensions recording test_amcs_data_collection_rule.yaml (2022-04). Streams are not
compared with the data sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import AzureRefused
from sandbox.azure.resources import reference
from sandbox.azure.resources.collection_association import require_unassociated
from sandbox.azure.resources.collection_endpoint import DataCollectionEndpoint
from sandbox.azure.resources.monitor_account import AzureMonitorWorkspace
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.azure.resources.workspace import Workspace
from sandbox.cloud.state import Body, Resources

# By list of destinations: the property with the id, the type it must be of, and the two properties in which GET tells
# the other number of the same thing.
_KEPT_IN = {
    "logAnalytics": ("workspaceResourceId", Workspace.token, "workspaceId", "customerId"),
    "monitoringAccounts": ("accountResourceId", AzureMonitorWorkspace.token, "accountId", "accountId"),
}


class DataCollectionRule(Tracked):
    """`Microsoft.Insights/dataCollectionRules`."""

    token = "azure-native:monitor:DataCollectionRule"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Insights/dataCollectionRules/{dataCollectionRuleName}"
    )
    # UNCONFIRMED: the specification has no rule for these names.
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "dataCollectionRuleName": NameRule(longest=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$"),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        if "dataCollectionEndpointId" in wanted:
            reference.existing(resources, wanted["dataCollectionEndpointId"], DataCollectionEndpoint.token)
        destinations = wanted.get("destinations", {})
        names = list(_names(destinations))
        if len(set(names)) != len(names):
            raise _invalid("InvalidDestination", "Destination names must be unique.")  # REST text; code UNCONFIRMED
        for flow in wanted.get("dataFlows", []):
            for name in flow.get("destinations", []):
                if name not in names:
                    # Seen with the azure-cli; public file, repository not resolved.
                    raise _invalid("InvalidDataFlow", f"'DataFlows' destination name is unknown: {name}.")
        for kind, (property, token, number, told) in _KEPT_IN.items():
            for destination in destinations.get(kind, []):
                destination[number] = reference.existing(resources, destination.get(property, ""), token).body[told]
        return {**wanted, "immutableId": "dcr-" + ids.guid("collection rule", ids.key(id)).replace("-", "")}

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unassociated(resources, id)


def _names(destinations: Body) -> Iterator[str]:
    for found in destinations.values():
        for one in found if isinstance(found, list) else [found]:
            yield one.get("name", "")


def _invalid(code: str, detail: str) -> AzureRefused:
    # azure-native prints the message alone, without the `details` that hold the reason: here the reason is shown as well,
    # or nobody could mend the rule.
    text = f"Data collection rule is invalid: ({code}) {detail}"
    return AzureRefused(400, "InvalidPayload", text, "", text)
