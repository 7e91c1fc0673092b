"""Associations: which data collection rule or endpoint a cluster's agents use.

What the service refuses about them is documented only in part: texts without a source are UNCONFIRMED.
"""

from __future__ import annotations

import copy
from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.resource_type import Kind, NameRule
from sandbox.cloud.state import Body, Resources

_RULE = "azure-native:monitor:DataCollectionRule"
_ENDPOINT = "azure-native:monitor:DataCollectionEndpoint"
_CLUSTER_TYPE = "Microsoft.ContainerService/managedClusters"

# Azure Monitor page data-collection-endpoint-overview: the one name an endpoint can be associated under.
_ENDPOINT_NAME = "configurationAccessEndpoint"


class DataCollectionRuleAssociation(Kind):
    """`Microsoft.Insights/dataCollectionRuleAssociations`, at a cluster."""

    token = "azure-native:monitor:DataCollectionRuleAssociation"
    path = "/{resourceUri}/providers/Microsoft.Insights/dataCollectionRuleAssociations/{associationName}"
    names: ClassVar[dict[str, NameRule]] = {}
    located = False

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        scope = reference.scope(id)
        reference.require_scope(resources, scope)
        if ids.arm_type(scope).lower() != _CLUSTER_TYPE.lower():
            # Azure/azure-rest-api-specs #25261 (2023-08). The list is longer: these are the emulated ones.
            raise arm(
                "InvalidResourceType",
                f"Association cannot be created for resource of type '{ids.arm_type(scope)}'. Supported types are: "
                f"{_CLUSTER_TYPE}",
            )
        rule, endpoint = (wanted.get(name) for name in ("dataCollectionRuleId", "dataCollectionEndpointId"))
        if bool(rule) == bool(endpoint):
            text = "Exactly one of dataCollectionRuleId and dataCollectionEndpointId must be specified."
            raise arm("InvalidPayload", text)
        if bool(endpoint) != (ids.last(id) == _ENDPOINT_NAME):
            text = f"The association of a data collection endpoint, and no other, is named {_ENDPOINT_NAME}."
            raise arm("InvalidAssociationName", text)
        if rule:
            reference.existing(resources, rule, _RULE)
        if endpoint:
            reference.existing(resources, endpoint, _ENDPOINT)
        return {**copy.deepcopy(wanted), "name": ids.last(id), "type": self.arm_type, "provisioningState": "Succeeded"}


def require_unassociated(resources: Resources, id: str) -> None:
    """Refuse to remove a rule or an endpoint that a cluster's agents use."""
    for user in reference.users(resources, id):
        found = resources.get(user)
        if found is not None and found.token == DataCollectionRuleAssociation.token:
            # That it is refused: azurerm #24785 (2024-02). Code and text are UNCONFIRMED.
            raise arm(
                "AssociationsExist",
                f"{id} is associated with {reference.scope(user)} and cannot be deleted.",
                status=409,
            )
