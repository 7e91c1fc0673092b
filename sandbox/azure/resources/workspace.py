"""Log Analytics workspaces, where logs are kept.

Defaults are those of the azure-cli recordings test_monitor_diagnostic_settings_workspace.yaml (2023-02) and
test_monitor_log_analytics_workspace_default.yaml; dates of theirs are left out, as nothing reads them.
"""

from __future__ import annotations

from typing import ClassVar

from sandbox.azure import ids
from sandbox.azure.errors import arm
from sandbox.azure.resources.resource_type import GROUP_NAME, NameRule, Tracked, merged
from sandbox.cloud.state import Body, Resources

# The others are tiers of before 2018, kept for the subscriptions that had them.
_OFFERED = ("PerGB2018", "CapacityReservation", "LACluster")


class Workspace(Tracked):
    """`Microsoft.OperationalInsights/workspaces`."""

    token = "azure-native:operationalinsights:Workspace"
    path = (
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
        "/providers/Microsoft.OperationalInsights/workspaces/{workspaceName}"
    )
    names: ClassVar[dict[str, NameRule]] = {
        "resourceGroupName": GROUP_NAME,
        "workspaceName": NameRule(longest=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]+[A-Za-z0-9]$", shortest=4),
    }
    force_new = frozenset({"location"})

    def made(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        if wanted.get("sku", {}).get("name", "PerGB2018") not in _OFFERED:
            # Azure Monitor page cost-logs, legacy pricing tiers; the code is UNCONFIRMED.
            raise arm(
                "BadRequest",
                "Pricing tier doesn't match the subscription's billing model. Read http://aka.ms/PricingTierWarning for "
                "more details.",
            )
        if not 30 <= wanted.get("retentionInDays", 30) <= 730:
            # azure-powershell #12524 (2021-09); the code is azurerm #2949's.
            raise arm(
                "BadRequest",
                "The value provided for retention is invalid. the expected value should be between 30 to 730. see "
                "https://docs.microsoft.com/azure/azure-monitor/platform/manage-cost-storage#change-the-data-retention-period"
                " for more information",
            )
        defaults = {
            "sku": {"name": "PerGB2018"},
            "retentionInDays": 30,
            "features": {"enableLogAccessUsingOnlyResourcePermissions": True},
            "workspaceCapping": {"dailyQuotaGb": -1, "dataIngestionStatus": "RespectQuota"},
            "publicNetworkAccessForIngestion": "Enabled",
            "publicNetworkAccessForQuery": "Enabled",
        }
        body: Body = merged(defaults, wanted)
        return {**body, "customerId": ids.guid("workspace", ids.key(id))}
