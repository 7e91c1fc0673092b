"""Rules of ids of other resources: type, subscription, registry, workspaces of logs and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_forms import GUID
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.reading import written
from config.rules.draft import Draft
from config.rules.text_rules import texts


def check_id_type(path: str, id: str, type: str, what: str) -> Iterator[Problem]:
    """Refuse an id of another type, such as Microsoft.Network/privateDnsZones; ignore case."""
    # namespace/type/name[/type/name]...
    namespace, *rest = re.split("/providers/", id, flags=re.IGNORECASE)[-1].split("/")
    actual = "/".join([namespace, *rest[::2]])
    if actual.lower() != type.lower():
        yield Problem(
            path,
            f"is the id of a {actual}, not of {what}",
            f"/subscriptions/.../resourceGroups/.../providers/{type}/NAME",
        )


def check_subscription(path: str, text: str) -> Iterator[Problem]:
    """Refuse an id with a subscription's name in place of its id."""
    written = re.match(r"/subscriptions/([^/]+)/", text, re.IGNORECASE)
    # MicrosoftDocs/azure-docs issue 77959; what is left of a template `rules.texts` has.
    if written and re.fullmatch(r"[-\w ]+", written[1]) and not re.search(GUID, written[1]):
        yield Problem(
            path,
            f"has the subscription {written[1]!r}, which is not an id",
            "write the subscription's id, a GUID; not its name",
        )


def _subscriptions(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, _, text in texts([("cloud", azure)]):
        yield from check_subscription(path, text)


def _registry(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.registry:
        resource_type = "Microsoft.ContainerRegistry/registries"
        yield from check_id_type(
            "cloud.registry.id", azure.registry.id.text, resource_type, "a container registry"
        )


_LOGS = "cloud.monitoring.logs"


def _log_workspace(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    logs = azure.monitoring.logs
    if not logs or not written(logs, "workspace"):
        return
    if "retention_days" in logs.model_fields_set:
        yield Problem(
            f"{_LOGS}.retentionDays",
            "is set for a workspace this stack does not make",
            "remove it, or `workspace` for one that is made here",
        )
    if logs.workspace:
        resource_type = "Microsoft.OperationalInsights/workspaces"
        yield from check_id_type(
            f"{_LOGS}.workspace", logs.workspace.text, resource_type, "a Log Analytics workspace"
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
        yield from check_id_type(
            path, metrics.workspace.text, "Microsoft.Monitor/accounts", "an Azure Monitor workspace"
        )


NEW_CLUSTER_RULES = (_subscriptions, _registry, _log_workspace, _control_plane, _metric_workspace)
