"""Settings of an AKS cluster and of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from policy.azure.azure_pools import CLUSTER, declared_pools
from policy.cloud import public_addresses
from policy.declared import UNKNOWN, Declared, at
from policy.rule import Finding

_ACCESS = "apiServerAccessProfile"
_RANGES = f"{_ACCESS}.authorizedIPRanges"
_KMS = "securityProfile.azureKeyVaultKms"

_DIAGNOSTICS = re.compile(r"azure-native:(monitor|insights):DiagnosticSetting")
"""The type of two versions of the provider."""
_AUDIT = ("kube-audit", "kube-audit-admin")
_AUDIT_GROUPS = ("audit", "alllogs")
"""https://learn.microsoft.com/azure/aks/monitor-aks-reference#resource-logs and
https://learn.microsoft.com/azure/azure-monitor/essentials/resource-logs-categories"""


def api_server(declared: Declared, most: int) -> Iterator[Finding]:
    """Yield a public API server whose ranges are missing or hold more than `most` addresses."""
    private = declared.get(f"{_ACCESS}.enablePrivateCluster")
    if declared.type != CLUSTER or private in (True, UNKNOWN):
        return
    ranges = declared.get(_RANGES)
    if ranges is None or ranges == []:
        yield Finding(
            _RANGES,
            "the API server is public and has no ranges",
            "list the callers' ranges, or set enablePrivateCluster: true",
        )
    elif isinstance(ranges, list) and public_addresses(ranges) > most:
        yield Finding(_RANGES, f"more than {most} addresses", "list the callers' ranges")


def local_accounts(declared: Declared) -> Iterator[Finding]:
    """Yield clusters with local accounts, which AKS has unless they are disabled."""
    if declared.type == CLUSTER and declared.get("disableLocalAccounts") not in (True, UNKNOWN):
        yield Finding(
            "disableLocalAccounts",
            "everybody shares one administrator certificate",
            "set it to true, with aadProfile.managed: true for logins by Entra",
        )


def public_nodes(declared: Declared) -> Iterator[Finding]:
    """Yield pools whose nodes have public addresses."""
    for path, inputs in declared_pools(declared):
        if inputs.get("enableNodePublicIP") is True:
            yield Finding(
                f"{path}enableNodePublicIP", "nodes have public addresses", "leave it out"
            )


def network_policy(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster that enforces no NetworkPolicy objects."""
    path = "networkProfile.networkPolicy"
    if declared.type == CLUSTER and _word(declared.get(path)) in (None, "", "none"):
        yield Finding(
            path,
            "NetworkPolicy objects have no effect",
            "set it to calico or cilium (`cloud.network.policy` in this program's stack file)",
        )


def run_command(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster with `az aks command invoke`, which bypasses the authorized ranges."""
    path = f"{_ACCESS}.disableRunCommand"
    if declared.type == CLUSTER and declared.get(path) not in (True, UNKNOWN):
        yield Finding(
            path,
            "run-command bypasses authorized ranges and private addresses",
            "set it to true (`cloud.access.runCommand: false` in this program's stack file)",
        )


def secrets_key(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster that encrypts Secrets without a customer-managed key."""
    if declared.type == CLUSTER and declared.get(f"{_KMS}.enabled") not in (True, UNKNOWN):
        yield Finding(
            _KMS,
            "no key of yours encrypts Secrets in etcd",
            "name one (`cloud.encryption.kms` in this program's stack file)",
        )


def workload_identity(declared: Declared) -> Iterator[Finding]:
    """Yield a cluster whose pods reach Azure by the node's identity or a stored secret only."""
    for path in ("oidcIssuerProfile.enabled", "securityProfile.workloadIdentity.enabled"):
        if declared.type == CLUSTER and declared.get(path) not in (True, UNKNOWN):
            yield Finding(path, "pods have no identity of their own in Azure", "set it to true")


def logs(resources: Sequence[Declared]) -> Iterator[tuple[Declared, Finding]]:
    """Yield the clusters whose audit log no diagnostic setting of the stack keeps."""
    kept = [declared for declared in resources if _keeps_audit(declared)]
    clusters = [declared for declared in resources if declared.type == CLUSTER]
    urns = frozenset(cluster.urn for cluster in clusters)
    for cluster in clusters:
        # Outputs do not name the cluster: a setting that depends on none may belong to any.
        if not any(cluster.urn in setting.needs or not setting.needs & urns for setting in kept):
            finding = Finding(
                "diagnosticSettings",
                "no diagnostic setting keeps the API server's audit log",
                "add one with kube-audit-admin (`cloud.monitoring.logs.controlPlane` in this"
                " program's stack file)",
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
        # In a preview the undeclared one of the two is unknown.
        return _word(category) in _AUDIT
    return _word(group) in _AUDIT_GROUPS if isinstance(group, str) else UNKNOWN in (category, group)


def _word(value: Any) -> Any:
    # Azure compares words without case.
    return value.lower() if isinstance(value, str) else value
