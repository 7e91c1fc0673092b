"""Rules of access to the API server, of logins and of keys; questions to production stacks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.model.reading import known, written
from config.rules import examples
from config.rules.cluster_rules import Question, ask
from config.rules.draft import Draft
from config.rules.network_rules import refuse_open_to_all

_PATH = "cloud.access"

_MOST_RANGES = 200
"""learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges"""

_ITSELF = IPv4Network("0.0.0.0/32")
"""Same page: stands for the cluster's own outbound address alone."""

_TAKEN = frozenset({
    "a", "actuser", "adm", "admin", "admin1", "admin2", "administrator", "aspnet", "backup", "console", "david",
    "guest", "john", "owner", "root", "server", "sql", "support", "support_388945a0", "sys", "test", "test1", "test2",
    "test3", "user", "user1", "user2", "user3", "user4", "user5",
})  # fmt: skip
"""learn.microsoft.com/rest/api/compute/virtual-machines/create-or-update, OSProfile; that AKS'
scale sets have the same list is [inferred]."""

_FIELDS = {"ssh-rsa": 3, "ssh-ed25519": 2}
"""Number of fields of a public key, by its kind (RFC 4253, 6.6; RFC 8709, 4). AKS refuses a key
that it cannot read (MicrosoftDocs/azure-docs issue 74569)."""

_ED25519 = 32
"""Bytes of such a key (RFC 8032)."""


def _private(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = azure.access
    if written(access, "authorized_ranges") and access.private:
        # learn.microsoft.com/azure/aks/private-clusters
        yield Problem(
            f"{_PATH}.authorizedRanges",
            "is set for a private API server, which has no public address",
            "remove it, or `private`",
        )
    if written(access, "private_dns_zone") and not access.private:
        yield Problem(
            f"{_PATH}.privateDnsZone",
            "has no use without `private: true`",
            "add `private: true`, or remove it",
        )


def _zone(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.access.private_dns_zone in (None, "system", "none"):
        return
    zone = str(azure.access.private_dns_zone)
    yield from azure_id_rules.check_id_type(
        f"{_PATH}.privateDnsZone", zone, "Microsoft.Network/privateDnsZones", "a private DNS zone"
    )
    name, region = zone.rpartition("/")[2], azure.location
    # learn.microsoft.com/azure/aks/private-clusters; after the region, other clouds' names differ.
    if region and not re.match(rf"([-\w]{{1,32}}\.)?privatelink\.{region}\.", name, re.IGNORECASE):
        yield Problem(
            f"{_PATH}.privateDnsZone",
            f"{name} is not a zone that AKS takes in {region}",
            f"use the id of privatelink.{region}.azmk8s.io, or of a zone below it",
        )


def _ranges(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    ranges = azure.access.authorized_ranges
    if len(ranges) > _MOST_RANGES:
        yield Problem(
            f"{_PATH}.authorizedRanges",
            f"has {len(ranges)} ranges",
            f"at most {_MOST_RANGES}; join some into larger ones",
        )
    for index, text in enumerate(ranges):
        path = f"{_PATH}.authorizedRanges[{index}]"
        try:
            addresses = IPv4Network(text)
        except ValueError as reason:
            yield Problem(
                path, f"{text!r} is not a range: {reason}", "write for example 203.0.113.0/24"
            )
            continue
        if not addresses.prefixlen or examples.caller(text):
            continue  # `_everybody` and `rules.examples` have these
        # Same page: public ranges. A public API server never sees a private address.
        if not addresses.is_global and addresses != _ITSELF:
            yield Problem(
                path,
                f"{text} is not public: callers of a public API server have public addresses",
                "write the public address callers come from, or make the cluster `private`",
            )


def _everybody(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.access.authorized_ranges:
        yield from refuse_open_to_all(f"{_PATH}.authorizedRanges", azure.access.authorized_ranges)


def _way_out(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.access.authorized_ranges and azure.network.outbound_type != "loadBalancer":
        yield Problem(
            f"{_PATH}.authorizedRanges",
            f"must hold the nodes' outbound address: outboundType {azure.network.outbound_type} "
            "adds none",
            "make sure that it does, else nodes cannot join",
            warning=True,
        )


def _logins(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    access = azure.access
    if access.entra:
        return
    if not known(lambda: access.local_accounts, True):
        # learn.microsoft.com/azure/aks/local-accounts
        ways = [
            "`azureRbac: true` beside it",
            "`adminGroups: [ID]` with object ids of Entra groups",
        ]
        if "azure_rbac" in access.model_fields_set:  # it is false
            ways = [f"{ways[1]}, for Kubernetes' own roles", "`azureRbac: true`"]
        remedy = f"write {', or '.join(ways)}; or remove it, for logins without Entra"
        yield Problem(
            f"{_PATH}.localAccounts", "is false without Entra: nobody could log in", remedy
        )
    if written(access, "tenant_id"):
        yield Problem(
            f"{_PATH}.tenantId",
            "has no use without Entra logins",
            "add `adminGroups` or `azureRbac: true`, or remove it",
        )


def _username(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.ssh and azure.ssh.username in _TAKEN:
        yield Problem(
            "cloud.ssh.username",
            f"is {azure.ssh.username}, which Azure lets nobody choose on its virtual machines",
            "another name, such as azureuser",
            warning=True,
        )


def _public_key(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not azure.ssh:
        return
    kind, body, *_ = azure.ssh.public_key.split()
    fields = _fields(body)
    if not fields or (fields[0] == kind.encode() and len(fields) != _FIELDS[kind]):
        what = "is cut, or no SSH key: what it says of its own length does not agree"
    elif fields[0] != kind.encode():
        what = f"begins with {kind}, and is a key of another kind"
    elif kind == "ssh-ed25519" and len(fields[1]) != _ED25519:
        what = (
            f"is no ssh-ed25519 key: it has {len(fields[1])} bytes, and such a key has {_ED25519}"
        )
    else:
        return
    yield Problem(
        "cloud.ssh.publicKey",
        what,
        "write the whole line of the file, such as ~/.ssh/id_ed25519.pub",
    )


def _fields(body: str) -> list[bytes] | None:
    """Return the fields of a public key; None if lengths disagree (RFC 4253, 6.6; RFC 4251, 5)."""
    try:
        left = base64.b64decode(body, validate=True)
    except binascii.Error:
        return None
    fields: list[bytes] = []
    while left:
        size = int.from_bytes(left[:4], "big")
        if len(left) < 4 + size:
            return None
        fields.append(left[4 : 4 + size])
        left = left[4 + size :]
    return fields


_KMS = "cloud.encryption.kms"


def _disks(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    disk_set = azure.encryption.disk_encryption_set
    if disk_set:
        path = "cloud.encryption.diskEncryptionSet"
        yield from azure_id_rules.check_id_type(
            path, disk_set.text, "Microsoft.Compute/diskEncryptionSets", "a disk encryption set"
        )


def _private_vault(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/use-kms-etcd-encryption
    if azure.encryption.kms and azure.encryption.kms.private:
        yield Problem(
            f"{_KMS}.private",
            "is true: such a vault needs API Server VNet Integration, which is not supported here",
            "use a vault with public access, or leave out `kms`",
        )


def _vault(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    kms = azure.encryption.kms
    if not kms:
        return
    if kms.vault_id is None:
        # Same page: the identity needs the key before the cluster comes; only the id says where to
        # grant it.
        yield Problem(
            f"{_KMS}.vaultId",
            "is missing: AKS refuses the cluster until its identity may use the key",
            "add the vault's id, or grant Key Vault Crypto User yourself",
            warning=True,
        )
        return
    wrong = list(
        azure_id_rules.check_id_type(
            f"{_KMS}.vaultId", kms.vault_id, "Microsoft.KeyVault/vaults", "a key vault"
        )
    )
    yield from wrong
    name, host = kms.vault_id.rpartition("/")[2], kms.key_id.split("/")[2]
    if not wrong and host.split(".")[0].lower() != name.lower():
        yield Problem(
            f"{_KMS}.vaultId",
            f"is {name}, but the key is in {host}",
            "write the id of the key's vault",
        )


_AUDIT = "nobody can tell afterwards who did what"
_AUDITED = "`logs: {controlPlane: [cluster-autoscaler, guard, kube-audit-admin]}`"

_questions = ask(
    Question(
        "cloud.access.authorizedRanges",
        lambda azure, _: not {"private", "authorized_ranges"} & azure.access.model_fields_set,
        "everybody on the internet may try the API server",
        "`authorizedRanges: [203.0.113.0/24]` with your own ranges, or for a new cluster "
        "`private: true`",
        "`authorizedRanges: []`",
    ),
    Question(
        "cloud.access.localAccounts",
        lambda azure, _: "local_accounts" not in azure.access.model_fields_set,
        "there is an administrator's certificate that belongs to nobody",
        "`localAccounts: false`, with `adminGroups` or `azureRbac: true`, once people have roles",
        "`localAccounts: true`",
    ),
    Question(
        "cloud.access.runCommand",
        lambda azure, _: "run_command" not in azure.access.model_fields_set,
        "`az aks command invoke` gets past ranges and private addresses",
        "`runCommand: false`",
        "`runCommand: true`",
    ),
    Question(
        "cloud.encryption.kms",
        lambda azure, _: "kms" not in azure.encryption.model_fields_set,
        "Secrets in etcd have no key of yours",
        "`kms: {keyId: ..., vaultId: ...}` of a vault with purge protection",
        "`kms: null`",
    ),
    Question(
        "cloud.monitoring.logs.controlPlane",
        lambda azure, _: "logs" not in azure.monitoring.model_fields_set,
        _AUDIT,
        _AUDITED,
        "`logs: null`",
    ),
    Question(
        "cloud.monitoring.logs.controlPlane",
        lambda azure, _: (
            azure.monitoring.logs and "control_plane" not in azure.monitoring.logs.model_fields_set
        ),
        _AUDIT,
        _AUDITED,
        "`logs: {controlPlane: [cluster-autoscaler]}`",
    ),
    Question(
        "systemPool.azure.secureBoot",
        lambda _, draft: (
            draft.system_pool and "secure_boot" not in nodes_of(draft.system_pool).model_fields_set
        ),
        "nodes boot unsigned software",
        "`azure: {secureBoot: true, vtpm: true}` for a new cluster, on pools without GPUs as well",
        "`azure: {secureBoot: false}`",
    ),
)


NEW_CLUSTER_RULES = (
    _private,
    _zone,
    _ranges,
    _way_out,
    _logins,
    _username,
    _public_key,
    _everybody,
    _disks,
    _private_vault,
    _vault,
    _questions,
)
