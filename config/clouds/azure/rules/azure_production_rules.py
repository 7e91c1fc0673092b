"""Questions to a production stack that leaves to AKS' defaults who gets in and what is kept (docs/adr/0011).

They warn and never refuse, and nothing is decided in the file's stead: several of these settings change a running cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.rules.draft import Draft
from config.rules.production_rules import undecided


def _ranges(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not {"private", "authorized_ranges"} & azure.access.model_fields_set:
        yield from undecided(
            draft,
            "cloud.access.authorizedRanges",
            "everybody on the internet may try the API server",
            "`authorizedRanges: [203.0.113.0/24]` with your own ranges, or for a new cluster `private: true`",
            "`authorizedRanges: []`",
        )


def _local_accounts(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "local_accounts" not in azure.access.model_fields_set:
        yield from undecided(
            draft,
            "cloud.access.localAccounts",
            "there is an administrator's certificate that is nobody's",
            "`localAccounts: false`, with `adminGroups` or `azureRbac: true`, once people have their roles",
            "`localAccounts: true`",
        )


def _run_command(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "run_command" not in azure.access.model_fields_set:
        yield from undecided(
            draft,
            "cloud.access.runCommand",
            "`az aks command invoke` gets past ranges and private addresses",
            "`runCommand: false`",
            "`runCommand: true`",
        )


def _key(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if "kms" not in azure.encryption.model_fields_set:
        yield from undecided(
            draft,
            "cloud.encryption.kms",
            "Secrets in etcd have no key of yours",
            "`kms: {keyId: ..., vaultId: ...}` of a vault with purge protection",
            "`kms: null`",
        )


def _logs(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    logs = azure.monitoring.logs
    if "logs" not in azure.monitoring.model_fields_set or (
        logs and "control_plane" not in logs.model_fields_set
    ):
        yield from undecided(
            draft,
            "cloud.monitoring.logs.controlPlane",
            "nobody can tell afterwards who did what",
            "`logs: {controlPlane: [cluster-autoscaler, guard, kube-audit-admin]}`",
            "`logs: {controlPlane: [cluster-autoscaler]}`" if logs else "`logs: null`",
        )


def _boot(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.system_pool and "secure_boot" not in nodes_of(draft.system_pool).model_fields_set:
        yield from undecided(
            draft,
            "systemPool.azure.secureBoot",
            "nodes boot what nobody has signed",
            "`azure: {secureBoot: true, vtpm: true}` for a new cluster, on pools without GPUs as well",
            "`azure: {secureBoot: false}`",
        )


NEW_CLUSTER_RULES = (_ranges, _local_accounts, _run_command, _key, _logs, _boot)
