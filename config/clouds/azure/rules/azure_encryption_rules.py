"""Checks of customers' keys."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.rules.draft import Draft

_KMS = "cloud.encryption.kms"


def _disks(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    disk_set = azure.encryption.disk_encryption_set
    if disk_set:
        path = "cloud.encryption.diskEncryptionSet"
        yield from azure_id_rules.check(
            path, disk_set.text, "Microsoft.Compute/diskEncryptionSets", "a disk encryption set"
        )


def _private_vault(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # learn.microsoft.com/azure/aks/use-kms-etcd-encryption
    if azure.encryption.kms and azure.encryption.kms.private:
        yield Problem(
            f"{_KMS}.private",
            "is true: AKS reaches such a vault only by API Server VNet Integration, which this program does not declare",
            "use a vault with public access, or leave out `kms`",
        )


def _vault(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    kms = azure.encryption.kms
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
    wrong = list(
        azure_id_rules.check(
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


NEW_CLUSTER_RULES = (_disks, _private_vault, _vault)
