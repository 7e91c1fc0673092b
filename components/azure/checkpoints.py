"""Checkpoints on Azure: a storage account with a container, and an identity for each profile that may use its own prefix.

A profile's pods prove themselves by tokens of their Kubernetes service accounts (learn.microsoft.com/azure/aks, page
workload-identity-overview). Their role is the program's own: Storage Blob Data Contributor may also delete the container, and
a condition cannot take that away, because it holds for data actions only.

Blob service, container and policy are written one after the other: Azure refuses a write at an account while another runs
(StorageAccountOperationInProgress).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import pulumi

from components.azure import waiting
from components.azure.identity import Grant, Role
from components.azure.placed import Placed
from components.azure.types import (
    BLOB_CONTAINER,
    BLOB_SERVICE,
    CLIENT_CONFIG,
    FEDERATED_CREDENTIAL,
    IDENTITY,
    MANAGEMENT_POLICY,
    RESOURCE_GROUP,
    ROLE_DEFINITION,
    STORAGE_ACCOUNT,
)
from components.resources import Declared, call
from components.workloads import Access, published
from config.clouds.azure.kept import kept_group
from config.clouds.azure.regions import regions
from config.model.workloads import Checkpoints as Settings
from config.model.workloads import ProfileAccess, Workloads

CONTAINER = "checkpoints"


AUDIENCE = "api://AzureADTokenExchange"
"""Page workload-identity-deploy-cluster."""

LABEL = {"azure.workload.identity/use": "true"}
"""AKS gives the token to pods with this label (page workload-identity-overview)."""

ENV = {"AZURE_STORAGE_ANON": "false"}
"""adlfs, fsspec's driver, logged in as nobody before its version 2026.4.0 unless told otherwise (its changelog)."""

_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
_BLOBS = f"{_CONTAINERS}/blobs"
_WRITING = (f"{_BLOBS}/write", f"{_BLOBS}/add/action", f"{_BLOBS}/delete")


def condition(path: str) -> str:
    """The condition of a role assignment: blobs whose names begin with `path`, and lists of such.

    A list names no blob, so its prefix counts (learn.microsoft.com/azure/storage/blobs, page storage-auth-abac-examples, "Read or
    list blobs in named containers with a path" and "Write blobs in named containers with a path").
    """
    others = "".join(f"\n  AND\n  !(ActionMatches{{'{action}'}})" for action in _WRITING)
    return (
        f"(\n (\n  !(ActionMatches{{'{_BLOBS}/read'}} AND NOT SubOperationMatches{{'Blob.List'}}){others}\n )\n OR\n"
        f" (\n  @Resource[{_BLOBS}:path] StringStartsWith '{path}'\n )\n)\nAND\n"
        f"(\n (\n  !(ActionMatches{{'{_BLOBS}/read'}} AND SubOperationMatches{{'Blob.List'}})\n )\n OR\n"
        f" (\n  @Request[{_BLOBS}:prefix] StringStartsWith '{path}'\n )\n)"
    )


def url(account: str) -> str:
    """The container's address as fsspec takes it: of `https://` it makes a filesystem without writes (adlfs, README.md)."""
    return f"abfs://{CONTAINER}@{account}.dfs.core.windows.net/"


def role_title(whose: str) -> str:
    """The name of the stack's own role, of which its GUID is made."""
    return f"kubeflow-spot checkpoints of {whose}"


class Checkpoints(pulumi.ComponentResource):
    """The storage, unless it exists, and the identities of the profiles."""

    published: Mapping[str, Any]
    """As outputs and contract show it."""

    def __init__(
        self,
        name: str,
        workloads: Workloads,
        placed: Placed,
        *,
        group: str,
        keep_group: bool,
        issuer: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`group` is the name of the cluster's resource group; `keep_group`: it exists without the stack and outlives it.

        `issuer` is the URL of the cluster's issuer of tokens.
        """
        super().__init__("kubeflow-spot:azure:Checkpoints", name, None, opts)
        wanted = workloads.checkpoints
        assert wanted
        child = pulumi.ResourceOptions(parent=self)
        container: pulumi.Input[str]
        foreign = ""
        if wanted.existing:
            account, container = wanted.existing.rpartition("/")[2], _container_id(wanted.existing)
            foreign = self._foreign(wanted.existing)
        else:
            assert wanted.name
            account = wanted.name
            container = self._storage(name, wanted, placed, group, keep_group)
        self._hooks = waiting.hooks(name) if workloads.profiles else None
        role = self._role(f"{name}-{account}", foreign, f"{group}/{placed.cluster} in {account}", container)
        accesses = [
            self._access(name, profile, placed, role, foreign, container, issuer, child)
            for profile in workloads.profiles
        ]
        self.published = published(url(account), accesses)
        self.register_outputs({})

    def _storage(self, name: str, wanted: Settings, placed: Placed, group: str, keep_group: bool) -> pulumi.Output[str]:
        """The id of the container. Everything that holds data stays when the stack goes."""
        kept = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        holder: pulumi.Input[str] = placed.resource_group
        if not keep_group:
            assert wanted.name
            inputs = {
                "resourceGroupName": kept_group(group, wanted.name),
                "location": placed.location,
                "tags": placed.tags,
            }
            holder = Declared(RESOURCE_GROUP, f"{name}-checkpoints", inputs, kept).name
        account = Declared(
            STORAGE_ACCOUNT,
            f"{name}-checkpoints",
            {
                "accountName": wanted.name,
                "resourceGroupName": holder,
                "location": placed.location,
                "tags": placed.tags,
                "kind": "StorageV2",
                "sku": {"name": "Standard_ZRS" if regions().get(placed.location) == "yes" else "Standard_LRS"},
                "accessTier": "Hot",
                "allowBlobPublicAccess": False,
                "allowCrossTenantReplication": False,
                # A key of the account reads everything, whatever roles say (page shared-key-authorization-prevent).
                "allowSharedKeyAccess": False,
                "defaultToOAuthAuthentication": True,
                "enableHttpsTrafficOnly": True,
                "minimumTlsVersion": "TLS1_2",
            },
            # To copies in other zones an account is converted, not updated (page redundancy-migration); the list of regions
            # with zones may be another one by then.
            pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(ignore_changes=["sku"])),
        )
        of_account = {"accountName": account.name, "resourceGroupName": holder}
        days = {"enabled": True, "days": wanted.soft_delete_days}
        service = Declared(
            BLOB_SERVICE,
            f"{name}-checkpoints",
            {
                **of_account,
                "blobServicesName": "default",
                "deleteRetentionPolicy": days,
                "containerDeleteRetentionPolicy": days,
            },
            kept,
            outputs=(),
        )
        container = Declared(
            BLOB_CONTAINER,
            f"{name}-checkpoints",
            {**of_account, "containerName": CONTAINER, "publicAccess": "None"},
            pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=[service])),
            outputs=(),
        )
        if wanted.expire_after_days:
            Declared(
                MANAGEMENT_POLICY,
                f"{name}-checkpoints",
                {**of_account, "managementPolicyName": "default", "policy": _expiry(wanted.expire_after_days)},
                pulumi.ResourceOptions(parent=self, depends_on=[container]),
                outputs=(),
            )
        return container.id

    def _foreign(self, existing: str) -> str:
        """The cluster's subscription, where the account with this id is in another one; else empty."""
        own = str(call(CLIENT_CONFIG, {}, pulumi.InvokeOptions(parent=self))["subscriptionId"])
        return own if existing.split("/")[2].lower() != own.lower() else ""

    def _role(self, name: str, foreign: str, whose: str, container: pulumi.Input[str]) -> tuple[Role, Declared]:
        """The role of the profiles: blobs, and whether the container is there.

        `foreign` as of `_foreign`; `whose`: group, cluster and account.

        Clients ask for the container's properties before they read (adlfs, `exists`). At a container the action lists nothing:
        a list of containers asks for it at the account, and a list of blobs is a data action.
        """
        # Title and GUID are unique in the tenant, as they must be: the account is one in the whole cloud, and group and cluster are
        # one in the account's subscription. From another subscription may come clusters with the same names.
        title = role_title("/".join(filter(None, [foreign, whose])))
        role = Role("checkpoints", str(uuid.uuid5(uuid.NAMESPACE_URL, title)))
        scope = pulumi.Output.from_input(container).apply(lambda id: "/".join(id.split("/")[:5]))
        declared = Declared(
            ROLE_DEFINITION,
            # Of another account it is another resource: a replacement is deleted first, and a role that is assigned cannot be.
            "-".join(filter(None, [name, foreign])),
            {
                "roleDefinitionId": role.guid,
                "roleName": title,
                "roleType": "CustomRole",
                "description": "Reads and writes blobs; conditions say which.",
                "scope": scope,
                "assignableScopes": [scope],
                "permissions": [
                    {
                        "actions": [f"{_CONTAINERS}/read"],
                        "notActions": [],
                        "dataActions": [f"{_BLOBS}/read", *_WRITING],
                        "notDataActions": [],
                    }
                ],
            },
            pulumi.ResourceOptions(parent=self),
            outputs=(),
        )
        return role, declared

    def _access(
        self,
        name: str,
        profile: ProfileAccess,
        placed: Placed,
        role: tuple[Role, Declared],
        foreign: str,
        container: pulumi.Input[str],
        issuer: pulumi.Input[str],
        child: pulumi.ResourceOptions,
    ) -> Access:
        title = f"{name}-{profile.namespace}"
        identity = Declared(
            IDENTITY,
            title,
            {"resourceName": f"{placed.cluster}-{profile.namespace}", **placed.inputs},
            child,
            outputs=("name", "clientId", "principalId"),
        )
        # Writes at one identity are refused while another runs (ConcurrentFederatedIdentityCredentialsWrites
        # ForSingleManagedIdentity, hashicorp/terraform-provider-azurerm issue 19968): one after the other.
        before: list[pulumi.Resource] = []
        for account in profile.service_accounts:
            credential = Declared(
                FEDERATED_CREDENTIAL,
                # Neither namespaces nor accounts have a `/`, while both may have hyphens.
                f"{title}/{account}",
                {
                    # At least 3 characters, and an account may have 1.
                    "federatedIdentityCredentialResourceName": f"sa-{account}",
                    "resourceName": identity.name,
                    "resourceGroupName": placed.resource_group,
                    "issuer": issuer,
                    "subject": f"system:serviceaccount:{profile.namespace}:{account}",
                    "audiences": [AUDIENCE],
                },
                pulumi.ResourceOptions(parent=self, depends_on=before, hooks=self._hooks),
                outputs=(),
            )
            # All of them, not the last alone: of those that go together, any two may be no neighbours.
            before = [*before, credential]
        # Of another role it is another resource, so that the new right is there before the old one goes.
        grant = Grant(role[0], container, at=foreign, condition=condition(profile.path), after=(role[1],))
        principal = identity.output("principalId")
        grant.to(title, principal, parent=self, replace_with=[identity], known_principal=False, hooks=self._hooks)
        return Access(profile, labels=LABEL, env={"AZURE_CLIENT_ID": identity.output("clientId"), **ENV})


def _container_id(account: str) -> str:
    return f"{account}/blobServices/default/containers/{CONTAINER}"


def _expiry(days: int) -> dict[str, Any]:
    """The policy that deletes blobs (page lifecycle-management-overview)."""
    definition = {
        "actions": {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": days}}},
        "filters": {"blobTypes": ["blockBlob", "appendBlob"], "prefixMatch": [f"{CONTAINER}/"]},
    }
    return {"rules": [{"name": "expire", "enabled": True, "type": "Lifecycle", "definition": definition}]}
