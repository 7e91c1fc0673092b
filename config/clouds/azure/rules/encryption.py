"""Checks of keys that are not Azure's own."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.azure.rules import ids
from config.clouds.traits import Cloud
from config.draft import Draft
from config.problems import Problem

_KMS = "cloud.encryption.kms"


def _disks(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    found = draft.new_aks.encryption.disk_encryption_set if draft.new_aks else None
    if found:
        path = "cloud.encryption.diskEncryptionSet"
        yield from ids.check(path, found, "Microsoft.Compute/diskEncryptionSets", "a disk encryption set")


def _private_vault(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/use-kms-etcd-encryption
    if draft.new_aks and draft.new_aks.encryption.kms and draft.new_aks.encryption.kms.private:
        yield Problem(
            f"{_KMS}.private",
            "is true: AKS reaches such a vault only by API Server VNet Integration, which this program does not declare",
            "use a vault with public access, or leave out `kms`",
        )


def _vault(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    kms = draft.new_aks.encryption.kms if draft.new_aks else None
    if not kms:
        return
    if kms.vault_id is None:
        # Same page: the identity must have the key's use before the cluster comes, and only the id says where to grant it.
        yield Problem(
            f"{_KMS}.vaultId",
            "is missing: the cluster's identity is not allowed to use the key, without which AKS refuses the cluster",
            "add the vault's id, or grant Key Vault Crypto User yourself",
            warning=True,
        )
        return
    wrong = list(ids.check(f"{_KMS}.vaultId", kms.vault_id, "Microsoft.KeyVault/vaults", "a key vault"))
    yield from wrong
    name, host = kms.vault_id.rpartition("/")[2], kms.key_id.split("/")[2]
    if not wrong and host.split(".")[0].lower() != name.lower():
        yield Problem(f"{_KMS}.vaultId", f"is {name}, but the key is in {host}", "write the id of the key's vault")


RULES = (_disks, _private_vault, _vault)
