"""Rules of alerts in Azure Monitor: what they need, and whom they notify."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules.azure_id_rules import check_id_type
from config.clouds.traits import Cloud
from config.model.reading import part, written
from config.rules.declared_alerts_rules import declared_by
from config.rules.draft import Draft

_GROUPS = "cloud.monitoring.actionGroups"


def _existing_cluster(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if declared_by(draft) == "cloud" and not draft.makes_cluster:
        yield Problem(
            "alerts.declare",
            "is cloud, and the metrics of a cluster this stack does not make go to its owner's "
            "workspace",
            "write `operator`, or `none` and give the owner the output `alerts`",
        )


def _metrics(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if declared_by(draft) == "cloud" and azure.monitoring.metrics is None:
        yield Problem(
            "alerts.declare",
            "is cloud, and no metrics are collected that Azure Monitor could read",
            "set `cloud.monitoring.metrics` to {}; with a Prometheus of yours write `operator`",
        )


def _action_groups(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    groups = part(azure.monitoring, "action_groups") or ()
    if written(azure.monitoring, "action_groups") and declared_by(draft) != "cloud":
        yield Problem(
            _GROUPS,
            "is set, and the stack declares no alerts in Azure Monitor",
            "remove it, or write `alerts: {declare: cloud}`",
        )
    for index, id in enumerate(groups):
        path = f"{_GROUPS}[{index}]"
        yield from check_id_type(path, id, "Microsoft.Insights/actionGroups", "an action group")
        if id.lower() in [before.lower() for before in groups[:index]]:
            yield Problem(path, f"{id} is in the list twice", "remove one of them")


CLOUD_RULES = (_existing_cluster,)
NEW_CLUSTER_RULES = (_metrics, _action_groups)
