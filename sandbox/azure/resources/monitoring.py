"""Monitoring: Log Analytics workspaces, data collection rules and endpoints, their associations, and diagnostic settings.

What the service refuses about associations is documented only in part: texts without a source are UNCONFIRMED. The body of a
diagnostic setting is that of the azure-cli recording test_monitor_diagnostic_settings_workspace.yaml (2023-02).
"""

import copy
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.azure_requests import CLUSTER
from sandbox.azure.resources.azure_resource_type import AzureType
from sandbox.cloud.facts import tables
from sandbox.cloud.provider import Refused
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
    """Check a Log Analytics workspace."""
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
    """Check a data collection rule; its destinations get the numbers that GET tells."""
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


_CATEGORIES = frozenset(tables("azure")["diagnostics"]["categories"])
_GROUPS = {"allLogs": _CATEGORIES, "audit": frozenset(tables("azure")["diagnostics"]["audit"])}
_METRICS = frozenset({"AllMetrics"})

_SINKS = ("workspaceId", "storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId")


class DiagnosticSetting(AzureType):
    """`Microsoft.Insights/diagnosticSettings`, at a cluster."""

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        scope = reference.scope(id)
        reference.require_scope(resources, scope)
        target = resources.get(scope)
        if target is None or target.token != CLUSTER:
            raise Refused(f"the sandbox does not know the log categories of {scope}, only those of clusters")
        if not any(wanted.get(sink) for sink in _SINKS):
            # Seen in public notes on failed deployments; the code is UNCONFIRMED.
            raise arm("BadRequest", "At least one data sink needs to be specified.").as_read()
        if wanted.get("workspaceId"):
            reference.existing(resources, wanted["workspaceId"], WORKSPACE)
        body = copy.deepcopy({**self.service, **wanted})
        for entry in (*body["logs"], *body["metrics"]):
            _check_retention(entry)
        categories = set(_collected(body))
        self._check_sinks(resources, id, scope, body, categories)
        return self.completed(id, body)

    def _check_sinks(self, resources: Resources, id: str, scope: str, body: Body, categories: set[str]) -> None:
        for other in resources.of_type(self.token, below=scope):
            for sink in _SINKS:
                taken = other.body.get(sink)
                if (
                    azure_ids.key(other.id) == azure_ids.key(id)
                    or not taken
                    or azure_ids.key(taken) != azure_ids.key(body.get(sink, ""))
                ):
                    continue
                for category in sorted(categories & set(_collected(other.body))):
                    # Azure/bicep-registry-modules #3407 (2024-10)
                    raise arm(
                        "Conflict",
                        f"Data sink '{body[sink]}' is already used in diagnostic setting '{azure_ids.last(other.id)}' for "
                        f"category '{category}'. Data sinks can't be reused in different settings on the same category "
                        "for the same resource.",
                        status=409,
                    )


def _check_retention(entry: Body) -> None:
    retention = entry.setdefault("retentionPolicy", {"days": 0, "enabled": False})
    if retention["enabled"]:
        # Seen in several public logs; Azure Monitor page migrate-to-azure-storage-lifecycle-policy.
        raise arm("BadRequest", "Diagnostic settings does not support retention for new diagnostic settings.")


def _collected(body: Body) -> Iterator[str]:
    """Yield the categories a setting collects. Raises `Refused` for one that clusters do not have."""
    for known, groups, entries in ((_CATEGORIES, _GROUPS, body["logs"]), (_METRICS, {}, body["metrics"])):
        for entry in entries:
            category, group = entry.get("category"), entry.get("categoryGroup")
            if bool(category) == bool(group):
                # Code and text UNCONFIRMED.
                raise arm("BadRequest", "Exactly one of category and categoryGroup must be specified.").as_read()
            if (category and category not in known) or (group and group not in groups):
                # azurerm #2985 (2019-03)
                raise arm("BadRequest", f"Category '{category or group}' is not supported.")
            if entry["enabled"]:
                yield from {category} if category else groups[group]
