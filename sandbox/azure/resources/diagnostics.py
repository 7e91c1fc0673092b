"""Diagnostic settings: which logs of a cluster's control plane are kept, and where.

The body is that of the azure-cli recording test_monitor_diagnostic_settings_workspace.yaml (2023-02).
"""

import copy
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources import reference
from sandbox.azure.resources.azure_requests import CLUSTER
from sandbox.azure.resources.azure_resource_type import AzureType
from sandbox.azure.resources.monitoring import WORKSPACE
from sandbox.cloud.facts import tables
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Resources

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
    """The categories a setting collects. Raises `Refused` for one that clusters do not have."""
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
