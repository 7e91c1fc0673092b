"""Clusters: hardening, which each cloud spells in its own way, protection, tags and releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policy import clouds
from policy.clouds import check_of_clouds
from policy.declared import UNKNOWN, Declared
from policy.rule import Finding, Rule, Setting, Settings, texts

_GKE = "https://docs.cloud.google.com/kubernetes-engine/docs"
_AKS = "https://learn.microsoft.com/azure/aks"

_CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
_CANDIDATE = "next"


def _rule(
    name: str,
    refuses: str,
    reason: str,
    *sources: str,
    production: bool = True,
    advisory: bool = False,
) -> Rule:
    check = check_of_clouds(name)
    return Rule(name, refuses, reason, sources, check, production=production, advisory=advisory)


def _logs(resources: Sequence[Declared], settings: Settings) -> Iterator[tuple[Declared, Finding]]:
    for cloud in clouds.CLOUDS:
        yield from cloud.logs(resources)


def _api_server(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.api_server(declared, settings["mostAddresses"])


def _protection(declared: Declared, settings: Settings) -> Iterator[Finding]:
    if declared.type in [cloud.cluster for cloud in clouds.CLOUDS] and not declared.protected:
        yield Finding(
            "protect",
            "the resource option is not set",
            "declare it with protect=True (`cluster.protect` in this program's stack file)",
        )


def _release(declared: Declared, settings: Settings) -> Iterator[Finding]:
    # The contract with users' tools has the cluster's release.
    contract = declared.type == _CONFIG_MAP and declared.get("metadata.namespace") == "kube-public"
    if contract and declared.get("data.release") == _CANDIDATE:
        remedy = "name a released one in the stack file"
        yield Finding("data.release", "the release may still change", remedy)


def _tags(declared: Declared, settings: Settings) -> Iterator[Finding]:
    paths = (cloud.tags[declared.type] for cloud in clouds.CLOUDS if declared.type in cloud.tags)
    path = next(paths, None)
    tags = declared.get(path) if path else UNKNOWN
    if path is None or tags is UNKNOWN:
        return
    # Azure compares names without case.
    present = {name.lower() for name, value in (tags or {}).items() if value != ""}
    missing = [name for name in settings["names"] if name.lower() not in present]
    if missing:
        remedy = "add them (`cluster.tags` in this program's stack file)"
        yield Finding(path, f"{', '.join(missing)} missing", remedy)


NODE_METADATA = _rule(
    "node-metadata-open",
    "Nodes whose metadata server gives every pod the node's token",
    "An intruder in one pod has the node's rights in the cloud",
    f"{_GKE}/how-to/workload-identity",
    f"{_GKE}/how-to/protecting-cluster-metadata",
    production=False,
)
PUBLIC_NODES = _rule(
    "public-nodes",
    "Production nodes with addresses on the internet",
    "The whole internet then tries every open port of a node",
    f"{_AKS}/use-node-public-ips",
    f"{_GKE}/concepts/network-isolation",
)
NETWORK_POLICY = _rule(
    "network-policy-missing",
    "A production cluster in which NetworkPolicy objects have no effect",
    "Kubeflow relies on such objects. Without them every pod reaches every other",
    f"{_AKS}/use-network-policies",
    f"{_GKE}/concepts/dataplane-v2",
)
RUN_COMMAND = _rule(
    "run-command-on",
    "A production cluster in which a role of the cloud can run commands from anywhere",
    "Neither authorized ranges nor a private address stop it",
    f"{_AKS}/access-private-cluster",
)
SECRETS_KEY = _rule(
    "secrets-key-missing",
    "A production cluster whose Secrets no key of yours encrypts",
    "The cloud's own keys can decrypt a copy of etcd. Advisory: the key must exist first",
    f"{_AKS}/use-kms-etcd-encryption",
    f"{_GKE}/how-to/encrypting-secrets",
    advisory=True,
)
SHIELDED_NODES = _rule(
    "shielded-nodes-off",
    "Production nodes without the checks of Shielded nodes",
    "A machine could pose as a node, or a node could boot a changed kernel",
    f"{_GKE}/how-to/shielded-gke-nodes",
)
SECURE_BOOT = _rule(
    "secure-boot-off",
    "Production nodes without Secure Boot",
    "A changed kernel survives a restart. Advisory: it refuses drivers without Google's signature",
    f"{_GKE}/how-to/shielded-gke-nodes",
    advisory=True,
)
WORKLOAD_IDENTITY = _rule(
    "workload-identity-missing",
    "A production cluster whose pods have no identity of their own in the cloud",
    "People then keep long-lived keys in Secrets, or give every node the rights of one pod",
    f"{_AKS}/workload-identity-overview",
    f"{_GKE}/how-to/workload-identity",
)
STORAGE = _rule(
    "storage-open",
    "Storage that allows public access or access by key",
    "Checkpoints hold the model and training data. A role names its readers; a key does not",
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
PROTECTION = Rule(
    name="cluster-unprotected",
    refuses="A production cluster that an update may delete or replace",
    reason="Some settings cannot change in place, and a replacement deletes all that is in it",
    sources=("https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",),
    check=_protection,
    production=True,
)
API_SERVER = Rule(
    name="api-server-open",
    refuses="A production cluster whose API server the whole internet can reach",
    reason="One leaked credential, or one flaw in the API server, is then enough",
    sources=(f"{_AKS}/api-server-authorized-ip-ranges", f"{_GKE}/concepts/network-isolation"),
    check=_api_server,
    production=True,
    settings={
        "mostAddresses": Setting(
            {
                "type": "integer",
                "minimum": 0,
                "default": 2**24,
                "description": "The most public addresses that all ranges together may hold: by"
                " default as many as one /8.",
            }
        )
    },
)
LOCAL_ACCOUNTS = _rule(
    "local-accounts",
    "A production cluster with logins that belong to no person",
    "Nobody can see who used them, and they still work for people who have left",
    f"{_AKS}/manage-local-accounts-managed-azure-ad",
    f"{_GKE}/how-to/hardening-your-cluster",
)
TAGS = Rule(
    name="owner-missing",
    refuses="A cluster, pool or resource group without its owner and purpose",
    reason="The bill of GPUs comes weeks later, and somebody has to know whom to ask",
    sources=(
        "https://learn.microsoft.com/azure/cloud-adoption-framework/ready/azure-best-practices"
        "/resource-tagging",
        f"{_GKE}/how-to/creating-managing-labels",
    ),
    check=_tags,
    settings={
        "names": texts(["owner", "environment"], "Tags of Azure, resource labels of Google Cloud.")
    },
)
RELEASE = Rule(
    name="release-unreleased",
    refuses="A production cluster of a release that is not released",
    reason="Its file still changes, so two updates of one stack file would differ",
    sources=("https://semver.org/#spec-item-3",),
    check=_release,
    production=True,
)
