"""Checkpoints on Azure: a storage account with a container, and an identity for each profile that
may use its own prefix.

A profile's pods prove themselves by tokens of their Kubernetes service accounts
(learn.microsoft.com/azure/aks, page workload-identity-overview). Their role is the program's own:
Storage Blob Data Contributor may also delete the container, and a condition cannot take that away,
because it holds for data actions only.

Blob service, container and policy are written one after the other: Azure refuses a write at an
account while another runs (StorageAccountOperationInProgress).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_azure_native import authorization, managedidentity, resources, storage

from components.azure import waiting
from components.azure.azure_identity import Grant, Role
from components.azure.placed import Placed
from components.workloads import Access, published
from config.clouds.azure.azure_settings import kept_group
from config.clouds.azure.azure_tables import regions
from config.model.workloads import Checkpoints as Settings
from config.model.workloads import ProfileAccess, Workloads

CONTAINER = "checkpoints"


AUDIENCE = "api://AzureADTokenExchange"
"""Page workload-identity-deploy-cluster."""

LABEL = {"azure.workload.identity/use": "true"}
"""AKS gives the token to pods with this label (page workload-identity-overview)."""

ENV = {"AZURE_STORAGE_ANON": "false"}
"""Without it adlfs, fsspec's driver, is anonymous before 2026.4.0 (its changelog)."""

_CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
_BLOBS = f"{_CONTAINERS}/blobs"
_WRITING = (f"{_BLOBS}/write", f"{_BLOBS}/add/action", f"{_BLOBS}/delete")


def condition(path: str) -> str:
    """Return the condition of a role assignment: blobs below `path`, and lists of them.

    A list names no blob, so its prefix counts (learn.microsoft.com/azure/storage/blobs, page
    storage-auth-abac-examples, "Read or list blobs in named containers with a path" and "Write
    blobs in named containers with a path").
    """
    others = "".join(f"\n  AND\n  !(ActionMatches{{'{action}'}})" for action in _WRITING)
    return (
        f"(\n (\n  !(ActionMatches{{'{_BLOBS}/read'}} AND NOT "
        f"SubOperationMatches{{'Blob.List'}}){others}\n )\n OR\n"
        f" (\n  @Resource[{_BLOBS}:path] StringStartsWith '{path}'\n )\n)\nAND\n"
        f"(\n (\n  !(ActionMatches{{'{_BLOBS}/read'}} AND SubOperationMatches{{'Blob.List'}})\n "
        ")\n OR\n"
        f" (\n  @Request[{_BLOBS}:prefix] StringStartsWith '{path}'\n )\n)"
    )


def url(account: str) -> str:
    """Return the container's address for fsspec: `https://` would be read-only (adlfs, README)."""
    return f"abfs://{CONTAINER}@{account}.dfs.core.windows.net/"


def role_title(whose: str) -> str:
    """Return the name of the stack's own role, from which its GUID is derived."""
    return f"kubeflow-spot checkpoints of {whose}"


class Checkpoints(pulumi.ComponentResource):
    """The storage, unless it exists, and the identities of the profiles.

    It deliberately deletes no storage: everything that holds data outlives the stack
    (docs/adr/0024).
    """

    published: Mapping[str, Any]
    """The storage and its profiles for outputs and contract."""

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
        """`group` is the name of the cluster's resource group; `keep_group`: it exists without the
        stack and outlives it.

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
        self._hooks = waiting.error_hooks(name) if workloads.profiles else None
        role = self._role(
            f"{name}-{account}", foreign, f"{group}/{placed.cluster} in {account}", container
        )
        accesses = [
            self._access(name, profile, placed, role, foreign, container, issuer, child)
            for profile in workloads.profiles
        ]
        self.published = published(url(account), accesses)
        self.register_outputs({})

    def _storage(
        self, name: str, wanted: Settings, placed: Placed, group: str, keep_group: bool
    ) -> pulumi.Output[str]:
        """Declare the storage, which outlives the stack; return the container's id."""
        kept = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        holder: pulumi.Input[str] = placed.resource_group
        if not keep_group:
            assert wanted.name
            holder = resources.ResourceGroup(
                f"{name}-checkpoints",
                resource_group_name=kept_group(group, wanted.name),
                location=placed.location,
                tags=placed.tags,
                opts=kept,
            ).name
        account = storage.StorageAccount(
            f"{name}-checkpoints",
            account_name=wanted.name,
            resource_group_name=holder,
            location=placed.location,
            tags=placed.tags,
            kind="StorageV2",
            sku=storage.SkuArgs(
                name="Standard_ZRS" if regions().get(placed.location) == "yes" else "Standard_LRS"
            ),
            access_tier=storage.AccessTier.HOT,
            allow_blob_public_access=False,
            allow_cross_tenant_replication=False,
            # A key of the account reads everything, whatever roles say (page
            # shared-key-authorization-prevent).
            allow_shared_key_access=False,
            default_to_o_auth_authentication=True,
            enable_https_traffic_only=True,
            minimum_tls_version="TLS1_2",
            # Zone-redundant storage needs a conversion, not an update (page redundancy-migration),
            # and the list of regions with zones may have changed by then.
            opts=pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(ignore_changes=["sku"])),
        )
        days = storage.DeleteRetentionPolicyArgs(enabled=True, days=wanted.soft_delete_days)
        service = storage.BlobServiceProperties(
            f"{name}-checkpoints",
            account_name=account.name,
            resource_group_name=holder,
            blob_services_name="default",
            delete_retention_policy=days,
            container_delete_retention_policy=days,
            opts=kept,
        )
        container = storage.BlobContainer(
            f"{name}-checkpoints",
            account_name=account.name,
            resource_group_name=holder,
            container_name=CONTAINER,
            public_access=storage.PublicAccess.NONE,
            opts=pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=[service])),
        )
        if wanted.expire_after_days:
            storage.ManagementPolicy(
                f"{name}-checkpoints",
                account_name=account.name,
                resource_group_name=holder,
                management_policy_name="default",
                policy=_expiry(wanted.expire_after_days),
                opts=pulumi.ResourceOptions(parent=self, depends_on=[container]),
            )
        return container.id

    def _foreign(self, existing: str) -> str:
        """Return the cluster's subscription if the account is in another one, else ""."""
        own = authorization.get_client_config(pulumi.InvokeOptions(parent=self)).subscription_id
        return own if existing.split("/")[2].lower() != own.lower() else ""

    def _role(
        self, name: str, foreign: str, whose: str, container: pulumi.Input[str]
    ) -> tuple[Role, authorization.RoleDefinition]:
        """Declare the role of the profiles: blobs, and the container's properties.

        `foreign`: see `_foreign`; `whose`: group, cluster and account.

        Clients read the container's properties first (adlfs, `exists`). At a container that action
        lists nothing: a list of containers needs it at the account, and a list of blobs is a data
        action.
        """
        # Title and GUID must be unique in the tenant. The account's name is unique in the whole
        # cloud, group and cluster in the account's subscription. A cluster in another subscription
        # may have the same names.
        title = role_title("/".join(filter(None, [foreign, whose])))
        role = Role("checkpoints", str(uuid.uuid5(uuid.NAMESPACE_URL, title)))
        scope = pulumi.Output.from_input(container).apply(lambda id: "/".join(id.split("/")[:5]))
        permission = authorization.PermissionArgs(
            actions=[f"{_CONTAINERS}/read"],
            not_actions=[],
            data_actions=[f"{_BLOBS}/read", *_WRITING],
            not_data_actions=[],
        )
        declared = authorization.RoleDefinition(
            # The account is part of the logical name: an assigned role cannot be deleted, so
            # another account gets another role instead of a replacement.
            "-".join(filter(None, [name, foreign])),
            role_definition_id=role.guid,
            role_name=title,
            role_type="CustomRole",
            description="Reads and writes blobs; conditions say which.",
            scope=scope,
            assignable_scopes=[scope],
            permissions=[permission],
            opts=pulumi.ResourceOptions(parent=self),
        )
        return role, declared

    def _access(
        self,
        name: str,
        profile: ProfileAccess,
        placed: Placed,
        role: tuple[Role, authorization.RoleDefinition],
        foreign: str,
        container: pulumi.Input[str],
        issuer: pulumi.Input[str],
        child: pulumi.ResourceOptions,
    ) -> Access:
        title = f"{name}-{profile.namespace}"
        identity = managedidentity.UserAssignedIdentity(
            title,
            resource_name_=f"{placed.cluster}-{profile.namespace}",
            **placed.inputs,
            opts=child,
        )
        # Writes at one identity are refused while another runs
        # (ConcurrentFederatedIdentityCredentialsWrites ForSingleManagedIdentity,
        # hashicorp/terraform-provider-azurerm issue 19968): one after the other.
        before: list[pulumi.Resource] = []
        for account in profile.service_accounts:
            credential = managedidentity.FederatedIdentityCredential(
                # Neither namespaces nor accounts have a `/`, while both may have hyphens.
                f"{title}/{account}",
                # At least 3 characters, and an account may have 1.
                federated_identity_credential_resource_name=f"sa-{account}",
                resource_name_=identity.name,
                resource_group_name=placed.resource_group,
                issuer=issuer,
                subject=f"system:serviceaccount:{profile.namespace}:{account}",
                audiences=[AUDIENCE],
                opts=pulumi.ResourceOptions(parent=self, depends_on=before, hooks=self._hooks),
            )
            # All earlier ones: two credentials that are deleted together may not be neighbours.
            before = [*before, credential]
        # Another role makes another resource, so that the new right exists before the old one is
        # deleted.
        grant = Grant(
            role[0], container, at=foreign, condition=condition(profile.path), after=(role[1],)
        )
        grant.to(
            title,
            identity.principal_id,
            parent=self,
            replace_with=[identity],
            known_principal=False,
            hooks=self._hooks,
        )
        return Access(profile, labels=LABEL, env={"AZURE_CLIENT_ID": identity.client_id, **ENV})


def _container_id(account: str) -> str:
    return f"{account}/blobServices/default/containers/{CONTAINER}"


def _expiry(days: int) -> storage.ManagementPolicySchemaArgs:
    """Return the policy that deletes blobs (page lifecycle-management-overview)."""
    age = storage.DateAfterModificationArgs(days_after_modification_greater_than=days)
    definition = storage.ManagementPolicyDefinitionArgs(
        actions=storage.ManagementPolicyActionArgs(
            base_blob=storage.ManagementPolicyBaseBlobArgs(delete=age)
        ),
        filters=storage.ManagementPolicyFilterArgs(
            blob_types=["blockBlob", "appendBlob"], prefix_match=[f"{CONTAINER}/"]
        ),
    )
    rule = storage.ManagementPolicyRuleArgs(
        name="expire", enabled=True, type="Lifecycle", definition=definition
    )
    return storage.ManagementPolicySchemaArgs(rules=[rule])
