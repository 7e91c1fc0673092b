"""Azure Monitor workspaces, where Prometheus metrics are kept.

The body is that of the azure-cli recording test_monitor_account.yaml (2023-05). The rule and the endpoint in a managed
group, which the service makes for each, are named in it but not there.
"""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked
from sandbox.cloud.state import Body, Resources


class AzureMonitorWorkspace(Tracked):
    """`Microsoft.Monitor/accounts`."""

    token = "azure-native:monitor:AzureMonitorWorkspace"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.Monitor/accounts/{azureMonitorWorkspaceName}"
    )
    # UNCONFIRMED: the specification has no rule for these names.
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "azureMonitorWorkspaceName": NameRule(pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$"),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        name, location = ids.last(id), wanted["location"]
        account = ids.guid("monitor account", ids.key(id))
        subscription = id.split("/")[2]
        insights = f"{ids.group_id(subscription, f'MA_{name}_{location}_managed')}/providers/Microsoft.Insights"
        return {
            "publicNetworkAccess": "Enabled",
            **wanted,
            "accountId": account,
            "metrics": {
                "internalId": f"mac_{account}",
                "prometheusQueryEndpoint": f"https://{name}-{account[:4]}.{location}.prometheus.monitor.azure.com",
            },
            "defaultIngestionSettings": {
                "dataCollectionRuleResourceId": f"{insights}/dataCollectionRules/{name}",
                "dataCollectionEndpointResourceId": f"{insights}/dataCollectionEndpoints/{name}",
            },
        }
