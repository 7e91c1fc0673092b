"""Checks of the workspaces of logs and metrics."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.rules.draft import Draft

_LOGS = "cloud.monitoring.logs"


def _log_workspace(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    logs = azure.monitoring.logs
    if not logs or not logs.workspace:
        return
    path = f"{_LOGS}.workspace"
    yield from azure_id_rules.check(
        path,
        logs.workspace.text,
        "Microsoft.OperationalInsights/workspaces",
        "a Log Analytics workspace",
    )
    if "retention_days" in logs.model_fields_set:
        yield Problem(
            f"{_LOGS}.retentionDays",
            "is set for a workspace this stack does not make",
            "remove it, or `workspace` for one that is made here",
        )


def _control_plane(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    kept = azure.monitoring.logs.control_plane if azure.monitoring.logs else ()
    for index, category in enumerate(kept):
        if category in kept[:index]:
            yield Problem(
                f"{_LOGS}.controlPlane[{index}]",
                f"{category} is in the list twice",
                "remove one of them",
            )
    if {"kube-audit", "kube-audit-admin"} <= set(kept):
        # learn.microsoft.com/azure/aks/monitor-aks: the second is the first without get and list.
        yield Problem(
            f"{_LOGS}.controlPlane[{kept.index('kube-audit-admin')}]",
            "kube-audit-admin is kept and paid for twice: kube-audit holds it",
            "remove one of them; kube-audit-admin is much the smaller",
            warning=True,
        )


def _metric_workspace(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    metrics = azure.monitoring.metrics
    if metrics and metrics.workspace:
        path = "cloud.monitoring.metrics.workspace"
        yield from azure_id_rules.check(
            path, metrics.workspace.text, "Microsoft.Monitor/accounts", "an Azure Monitor workspace"
        )


NEW_CLUSTER_RULES = (_log_workspace, _control_plane, _metric_workspace)
