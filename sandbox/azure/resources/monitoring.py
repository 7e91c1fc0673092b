"""Monitoring: the rules of Log Analytics workspaces, of data collection rules and endpoints, and of their associations.

What the service refuses about associations is documented only in part: texts without a source are UNCONFIRMED.
"""

import copy
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.azure_resource_type import AzureType
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Resources

WORKSPACE = "azure-native:operationalinsights:Workspace"
ACCOUNT = "azure-native:monitor:AzureMonitorWorkspace"
RULE = "azure-native:monitor:DataCollectionRule"
ENDPOINT = "azure-native:monitor:DataCollectionEndpoint"
ASSOCIATION = "azure-native:monitor:DataCollectionRuleAssociation"

_CLUSTER_TYPE = "Microsoft.ContainerService/managedClusters"

# Azure Monitor page data-collection-endpoint-overview: the one name an endpoint can be associated under.
_ENDPOINT_NAME = "configurationAccessEndpoint"

# The other tiers are those of before 2018, kept for the subscriptions that had them.
_OFFERED = ("PerGB2018", "CapacityReservation", "LACluster")

# By list of destinations: the property with the id, the type it must be of, and the two properties in which GET tells
# the other number of the same thing.
_KEPT_IN = {
    "logAnalytics": ("workspaceResourceId", WORKSPACE, "workspaceId", "customerId"),
    "monitoringAccounts": ("accountResourceId", ACCOUNT, "accountId", "accountId"),
}


def workspace(request: ResourceRequest) -> None:
    """The rules of a Log Analytics workspace."""
    if request.body["sku"]["name"] not in _OFFERED:
        # Azure Monitor page cost-logs, legacy pricing tiers; the code is UNCONFIRMED.
        raise arm(
            "BadRequest",
            "Pricing tier doesn't match the subscription's billing model. Read http://aka.ms/PricingTierWarning for "
            "more details.",
        ).as_read()
    if not 30 <= request.body["retentionInDays"] <= 730:
        # azure-powershell #12524 (2021-09); the code is azurerm #2949's.
        raise arm(
            "BadRequest",
            "The value provided for retention is invalid. the expected value should be between 30 to 730. see "
            "https://docs.microsoft.com/azure/azure-monitor/platform/manage-cost-storage#change-the-data-retention-period"
            " for more information",
        )


def collection_rule(request: ResourceRequest) -> None:
    """The rules of a data collection rule; its destinations get the numbers that GET tells."""
    resources, body = request.resources, request.body
    if "dataCollectionEndpointId" in body:
        reference.existing(resources, body["dataCollectionEndpointId"], ENDPOINT)
    destinations = body.get("destinations", {})
    names = list(_names(destinations))
    if len(set(names)) != len(names):
        # REST text; code UNCONFIRMED.
        raise _invalid("InvalidDestination", "Destination names must be unique.").as_read()
    for flow in body.get("dataFlows", []):
        for name in flow.get("destinations", []):
            if name not in names:
                # Seen with the azure-cli; public file, repository not resolved.
                raise _invalid("InvalidDataFlow", f"'DataFlows' destination name is unknown: {name}.")
    for kind, (property, token, number, source) in _KEPT_IN.items():
        for destination in destinations.get(kind, []):
            destination[number] = reference.existing(resources, destination.get(property, ""), token).body[source]


def _names(destinations: Body) -> Iterator[str]:
    for entries in destinations.values():
        for entry in entries if isinstance(entries, list) else [entries]:
            yield entry.get("name", "")


def _invalid(code: str, detail: str) -> AzureRefused:
    # azure-native prints the message alone, without the `details` that hold the reason: here the reason is shown as well,
    # or nobody could mend the rule.
    text = f"Data collection rule is invalid: ({code}) {detail}"
    return AzureRefused(400, "InvalidPayload", text, "", text)


class Association(AzureType):
    """`Microsoft.Insights/dataCollectionRuleAssociations`, at a cluster."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        scope = reference.scope(id)
        reference.require_scope(resources, scope)
        if azure_ids.arm_type(scope).lower() != _CLUSTER_TYPE.lower():
            # Azure/azure-rest-api-specs #25261 (2023-08). The list is longer: these are the emulated ones.
            raise arm(
                "InvalidResourceType",
                f"Association cannot be created for resource of type '{azure_ids.arm_type(scope)}'. Supported types are: "
                f"{_CLUSTER_TYPE}",
            )
        rule, endpoint = (wanted.get(name) for name in ("dataCollectionRuleId", "dataCollectionEndpointId"))
        if bool(rule) == bool(endpoint):
            text = "Exactly one of dataCollectionRuleId and dataCollectionEndpointId must be specified."
            raise arm("InvalidPayload", text).as_read()
        if bool(endpoint) != (azure_ids.last(id) == _ENDPOINT_NAME):
            text = f"The association of a data collection endpoint, and no other, is named {_ENDPOINT_NAME}."
            raise arm("InvalidAssociationName", text).as_read()
        if rule:
            reference.existing(resources, rule, RULE)
        if endpoint:
            reference.existing(resources, endpoint, ENDPOINT)
        return self.completed(id, copy.deepcopy(wanted))


def associated(resources: Resources, id: str, going: str) -> None:
    """Refuse to remove a rule or an endpoint that a cluster's agents use."""
    for user in reference.users(resources, id):
        record = resources.get(user)
        if record is not None and record.token == ASSOCIATION:
            # That it is refused: azurerm #24785 (2024-02). Code and text are UNCONFIRMED.
            raise arm(
                "AssociationsExist",
                f"{id} is associated with {reference.scope(user)} and cannot be deleted.",
                status=409,
            ).as_read()
