"""Logins that belong to no person."""

from __future__ import annotations

from collections.abc import Iterator

from policy import azure, gcp
from policy.declared import UNKNOWN, Declared
from policy.rule import Finding, Rule, Settings

_GKE = {
    "masterAuth.clientCertificateConfig.issueClientCertificate": "a client certificate that never asks who uses it",
    "enableLegacyAbac": "every service account may do everything",
}


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    # AKS has them unless they are switched off.
    if declared.type == azure.CLUSTER and declared.get("disableLocalAccounts") not in (True, UNKNOWN):
        yield Finding(
            "disableLocalAccounts",
            "one administrator's certificate that is the same for everybody",
            "set it to true, with aadProfile.managed: true so that people can log in",
        )
    if declared.type == gcp.CLUSTER:
        for path, problem in _GKE.items():
            if declared.get(path) is True:
                yield Finding(path, problem, "set it to false")


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
