"""Checks of the Kubernetes version (learn.microsoft.com/azure/aks/supported-kubernetes-versions)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_versions import versions
from config.clouds.traits import Cloud
from config.clouds.versions import number
from config.rules.draft import Draft
from config.rules.version_rules import KEPT, offered

_OFFICIAL, _LONG = "KubernetesOfficial", "AKSLongTermSupport"
"""AKS' names of its support plans."""


def _version(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = draft.own_version()
    if not own:
        return
    path, version = own
    official, long = versions()[_OFFICIAL], versions()[_LONG]
    if not azure.long_term_support and number(long.first) <= number(version) < number(
        official.first
    ):
        # AKS makes a cluster of such a version with that plan only.
        yield Problem(
            path,
            f"is {version}, which AKS offers with long-term support only: without it {official.first} to {official.last} in"
            f" {official.read}; {KEPT}",
            f'for a new cluster "{official.first}" or later, or `tier: Premium` and `longTermSupport: true`',
            warning=True,
        )
    else:
        region = azure.location or "REGION"
        yield from offered(
            path, version, long, cloud.title, f"az aks get-versions --location {region}"
        )


NEW_CLUSTER_RULES = (_version,)
