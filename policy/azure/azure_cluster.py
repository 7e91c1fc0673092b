"""Settings of an AKS cluster and of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from policy.azure.azure_pools import CLUSTER, written
from policy.declared import UNKNOWN, Declared, at
from policy.ranges import public_addresses
from policy.rule import Finding

_ACCESS = "apiServerAccessProfile"
_RANGES = f"{_ACCESS}.authorizedIPRanges"
_KMS = "securityProfile.azureKeyVaultKms"

_DIAGNOSTICS = re.compile(r"azure-native:(monitor|insights):DiagnosticSetting")
"""The package's name of it changed."""
_AUDIT = ("kube-audit", "kube-audit-admin")
_AUDIT_GROUPS = ("audit", "alllogs")
"""https://learn.microsoft.com/azure/aks/monitor-aks-reference#resource-logs and
https://learn.microsoft.com/azure/azure-monitor/essentials/resource-logs-categories"""


def api_server(declared: Declared, most: int) -> Iterator[Finding]:
    """A public API server whose ranges are missing or hold more than `most` addresses."""
    if declared.type != CLUSTER or declared.get(f"{_ACCESS}.enablePrivateCluster") in (
        True,
        UNKNOWN,
    ):
        return
    ranges = declared.get(_RANGES)
    if ranges is None or ranges == []:
        yield Finding(
            _RANGES,
            "a public API server without ranges",
            "list who may reach it, or set enablePrivateCluster: true",
        )
    elif isinstance(ranges, list) and public_addresses(ranges) > most:
        yield Finding(_RANGES, f"ranges of more than {most} addresses", "list who may reach it")


def accounts(declared: Declared) -> Iterator[Finding]:
    """Local accounts, which AKS has unless they are switched off."""
    if declared.type == CLUSTER and declared.get("disableLocalAccounts") not in (True, UNKNOWN):
        yield Finding(
            "disableLocalAccounts",
            "one administrator's certificate that is the same for everybody",
            "set it to true, with aadProfile.managed: true so that people can log in",
        )


def public_nodes(declared: Declared) -> Iterator[Finding]:
    """Nodes with addresses on the internet."""
    for path, inputs in written(declared):
        if inputs.get("enableNodePublicIP") is True:
            yield Finding(
                f"{path}enableNodePublicIP", "every node has a public address", "leave it out"
            )


def network_policy(declared: Declared) -> Iterator[Finding]:
    """A cluster in which nothing enforces NetworkPolicy objects."""
    path = "networkProfile.networkPolicy"
    if declared.type == CLUSTER and _word(declared.get(path)) in (None, "", "none"):
        yield Finding(
            path,
            "nothing enforces NetworkPolicy objects",
            "set it to calico or cilium (`cloud.network.policy` in a stack file of this program)",
        )


def run_command(declared: Declared) -> Iterator[Finding]:
    """`az aks command invoke`, which passes by the ranges."""
    path = f"{_ACCESS}.disableRunCommand"
    if declared.type == CLUSTER and declared.get(path) not in (True, UNKNOWN):
        yield Finding(
            path,
            "commands run in the cluster from anywhere, past ranges and private addresses",
            "set it to true (`cloud.access.runCommand: false` in a stack file of this program)",
        )


def secrets_key(declared: Declared) -> Iterator[Finding]:
    """Secrets in etcd without a key of one's own."""
    if declared.type == CLUSTER and declared.get(f"{_KMS}.enabled") not in (True, UNKNOWN):
        yield Finding(
            _KMS,
            "Secrets in etcd have no key of yours",
            "name one (`cloud.encryption.kms` in a stack file of this program)",
        )


def workload_identity(declared: Declared) -> Iterator[Finding]:
    """A cluster whose pods can get to Azure by their node's identity or a stored secret only."""
    for path in ("oidcIssuerProfile.enabled", "securityProfile.workloadIdentity.enabled"):
        if declared.type == CLUSTER and declared.get(path) not in (True, UNKNOWN):
            yield Finding(path, "pods have no identity of their own in Azure", "set it to true")


def logs(resources: Sequence[Declared]) -> Iterator[tuple[Declared, Finding]]:
    """Clusters whose audit log no diagnostic setting of the stack keeps."""
    kept = [declared for declared in resources if _keeps_audit(declared)]
    clusters = [declared for declared in resources if declared.type == CLUSTER]
    urns = frozenset(cluster.urn for cluster in clusters)
    for cluster in clusters:
        # A setting's outputs do not say whose it is. One that takes a value from no cluster may be of any.
        if not any(cluster.urn in setting.needs or not setting.needs & urns for setting in kept):
            finding = Finding(
                "diagnosticSettings",
                "nothing keeps the API server's audit log",
                "add one with kube-audit-admin (`cloud.monitoring.logs.controlPlane` in a stack file of this program)",
            )
            yield cluster, finding


def _keeps_audit(declared: Declared) -> bool:
    if not _DIAGNOSTICS.fullmatch(declared.type):
        return False
    kept = declared.get("logs")
    return kept is UNKNOWN or any(
        _is_audit(log) for log in (kept if isinstance(kept, list) else ())
    )


def _is_audit(log: Any) -> bool:
    if log is UNKNOWN or at(log, "enabled") not in (True, UNKNOWN):
        return log is UNKNOWN
    category, group = at(log, "category"), at(log, "categoryGroup")
    if isinstance(category, str):
        # In a preview the other one, which is not declared, is unknown.
        return _word(category) in _AUDIT
    return _word(group) in _AUDIT_GROUPS if isinstance(group, str) else UNKNOWN in (category, group)


def _word(value: Any) -> Any:
    # Azure's words are compared without case.
    return value.lower() if isinstance(value, str) else value
