"""Logins that belong to no person."""

from __future__ import annotations

from collections.abc import Iterator

from policy import clouds
from policy.declared import Declared
from policy.rule import Finding, Rule, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.accounts(declared)


ACCOUNTS = Rule(
    name="local-accounts",
    refuses="A production cluster with logins that belong to no person",
    reason="Nobody can tell who used them, and they outlive whoever leaves",
    sources=(
        "https://learn.microsoft.com/azure/aks/manage-local-accounts-managed-azure-ad",
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster",
    ),
    check=_check,
    production=True,
)
