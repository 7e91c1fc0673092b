"""Data collection endpoints: where agents send what they collect.

The body is that of the azure-cli-extensions recording test_amcs_data_collection_endpoint.yaml (2022-04).
"""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.resources.collection_association import require_unassociated
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Resources


class DataCollectionEndpoint(Tracked):
    """`Microsoft.Insights/dataCollectionEndpoints`."""

    token = "azure-native:monitor:DataCollectionEndpoint"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Insights/dataCollectionEndpoints/{dataCollectionEndpointName}"
    )
    # azure-cli cuts the names it makes at 44 characters; for the rest there is no rule in the specification (UNCONFIRMED).
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "dataCollectionEndpointName": NameRule(
            longest=44, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]$", shortest=3
        ),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        guid = ids.guid("collection endpoint", ids.key(id)).replace("-", "")
        host = f"https://{ids.last(id)}-{guid[:4]}.{wanted['location']}-1"
        return {
            **wanted,
            "immutableId": f"dce-{guid}",
            "configurationAccess": {"endpoint": f"{host}.handler.control.monitor.azure.com"},
            "logsIngestion": {"endpoint": f"{host}.ingest.monitor.azure.com"},
            "metricsIngestion": {"endpoint": f"{host}.metrics.ingest.monitor.azure.com"},
        }

    def check_delete(self, resources: Resources, id: str) -> None:
        require_unassociated(resources, id)
