"""Settings of clusters and nodes that keep intruders out, which each cloud spells in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policy import clouds
from policy.declared import Declared
from policy.rule import Finding, Rule, Settings

_GKE = "https://docs.cloud.google.com/kubernetes-engine/docs"
_AKS = "https://learn.microsoft.com/azure/aks"


def by_cloud(name: str) -> Callable[[Declared, Settings], Iterator[Finding]]:
    """The checks that the clouds have for a rule."""

    def check(declared: Declared, settings: Settings) -> Iterator[Finding]:
        for cloud in clouds.CLOUDS:
            if name in cloud.checks:
                yield from cloud.checks[name](declared)

    return check


def _rule(
    name: str,
    refuses: str,
    reason: str,
    *sources: str,
    production: bool = True,
    advisory: bool = False,
) -> Rule:
    check = by_cloud(name)
    return Rule(name, refuses, reason, sources, check, production=production, advisory=advisory)


def _logs(resources: Sequence[Declared], settings: Settings) -> Iterator[tuple[Declared, Finding]]:
    for cloud in clouds.CLOUDS:
        yield from cloud.logs(resources)


NODE_METADATA = _rule(
    "node-metadata-open",
    "Nodes whose metadata server answers every pod as it answers the node",
    "One pod that is broken into has the node's rights in the cloud",
    f"{_GKE}/how-to/workload-identity",
    f"{_GKE}/how-to/protecting-cluster-metadata",
    production=False,
)
PUBLIC_NODES = _rule(
    "public-nodes",
    "Production nodes with addresses on the internet",
    "Every open port of a node is then one that the whole internet tries",
    f"{_AKS}/use-node-public-ips",
    f"{_GKE}/concepts/network-isolation",
)
NETWORK_POLICY = _rule(
    "network-policy-missing",
    "A production cluster in which NetworkPolicy objects have no effect",
    "Kubeflow brings such objects and relies on them. Without them every pod reaches every other",
    f"{_AKS}/use-network-policies",
    f"{_GKE}/concepts/dataplane-v2",
)
RUN_COMMAND = _rule(
    "run-command-on",
    "A production cluster in which a role of the cloud runs commands from anywhere",
    "One role of the cloud is enough for it, and neither authorized ranges nor a private address stop it",
    f"{_AKS}/access-private-cluster",
)
SECRETS_KEY = _rule(
    "secrets-key-missing",
    "A production cluster whose Secrets no key of yours encrypts",
    "Whoever has the cloud's own keys can read a copy of etcd. Advisory: it needs a key that exists before the cluster",
    f"{_AKS}/use-kms-etcd-encryption",
    f"{_GKE}/how-to/encrypting-secrets",
    advisory=True,
)
SHIELDED_NODES = _rule(
    "shielded-nodes-off",
    "Production nodes without the checks of Shielded nodes",
    "A machine could pose as a node, or a node could boot what somebody has changed",
    f"{_GKE}/how-to/shielded-gke-nodes",
)
SECURE_BOOT = _rule(
    "secure-boot-off",
    "Production nodes without Secure Boot",
    "A changed kernel survives a restart. Advisory: it refuses drivers that Google has not signed",
    f"{_GKE}/how-to/shielded-gke-nodes",
    advisory=True,
)
WORKLOAD_IDENTITY = _rule(
    "workload-identity-missing",
    "A production cluster whose pods have no identity of their own in the cloud",
    "People then keep long-lived keys in Secrets, or give every node the rights that one pod needs",
    f"{_AKS}/workload-identity-overview",
    f"{_GKE}/how-to/workload-identity",
)
STORAGE = _rule(
    "storage-open",
    "Storage that strangers can be let into, or that a key opens",
    "Checkpoints are the model, and data of its training. A role names who reads them; a key and a public link do not",
    "https://learn.microsoft.com/azure/storage/common/shared-key-authorization-prevent",
    "https://learn.microsoft.com/azure/storage/blobs/anonymous-read-access-prevent",
    "https://docs.cloud.google.com/storage/docs/public-access-prevention",
    production=False,
)
LOGS = Rule(
    name="logs-missing",
    refuses="A production cluster without logs of who did what",
    reason="After a break-in nobody can say what was read or changed",
    sources=(f"{_AKS}/monitor-aks", f"{_GKE}/concepts/about-logs"),
    check_stack=_logs,
    production=True,
)
