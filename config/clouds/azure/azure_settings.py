"""The settings of an AKS cluster, in Azure's words where Kubernetes has none.

Sources: the AKS pages named beside the models (learn.microsoft.com/azure/aks/<page>), REST API
2025-09-01.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from config.clouds.azure.azure_autoscaler import AzureAutoscaler
from config.clouds.azure.azure_forms import (
    ArmId,
    ArmReference,
    ClusterName,
    ObjectId,
    ResourceGroup,
    ResourceGroupReference,
    TenantId,
)
from config.clouds.azure.azure_network import AzureNetwork
from config.clouds.azure.azure_node_provisioning import AzureNodeProvisioning
from config.clouds.azure.azure_storage_drivers import AzureStorageDrivers
from config.clouds.azure.azure_upgrades import AzureUpgrades
from config.clouds.provider_properties import Properties
from config.model import repairs
from config.model.cluster import CloudSettings
from config.model.fields import Cidr, Model, Reference, optional, worded


class AzureAccess(Model):
    """Access to the API server (pages api-server-authorized-ip-ranges, private-clusters)."""

    private: bool = optional(False, "Whether the API server has only a private address. Immutable.")
    private_dns_zone: Literal["system", "none"] | ArmId | None = optional(
        None,
        "With `private`: a private DNS zone. Default: `system`, AKS' own.",
        "system",
    )
    authorized_ranges: tuple[Cidr, ...] = optional(
        (), "Addresses that may reach a public API server; empty: all.", ["198.18.4.0/24"]
    )
    admin_groups: tuple[ObjectId, ...] = optional(
        (),
        "Object ids of Entra groups whose members administer the cluster.",
        ["2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"],
    )
    tenant_id: TenantId | None = optional(
        None,
        "The Entra tenant of the groups. Default: the subscription's.",
        "2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11",
    )
    azure_rbac: bool = optional(
        False, "Whether Azure role assignments also count inside the cluster."
    )
    local_accounts: bool = optional(
        True, "Whether logins without Entra work; false needs `adminGroups` or `azureRbac`."
    )
    run_command: bool = optional(True, "Whether `az aks command invoke` works.")

    @property
    def entra(self) -> bool:
        """Whether logins go through Microsoft Entra."""
        return bool(self.admin_groups) or self.azure_rbac


class AzureRegistry(Model):
    """The registry that nodes may pull from (page cluster-container-registry-integration)."""

    id: ArmReference = Field(
        description="The registry's resource id. The kubelet's identity gets the role AcrPull.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.ContainerRegistry/registries/example"
        ],
    )


class AzureSsh(Model):
    """A login on the nodes; fixed for the cluster's life."""

    username: str = optional(
        "azureuser",
        "The login's name.",
        "azureuser",
        pattern=worded(
            r"^[a-z][-a-z0-9_]{0,31}$",
            "at most 32 lower-case letters, digits, - and _, a letter first, such as azureuser",
        ),
    )
    public_key: str = Field(
        pattern=worded(
            r"^ssh-(rsa|ed25519) [A-Za-z0-9+/]+=*( .*)?$",
            "the text of the .pub file, not its path: one line of ssh-ed25519 or ssh-rsa",
        ),
        description="The public key.",
        examples=[
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA "
            "ops@example.com"
        ],
    )


class AzureKms(Model):
    """Encryption of Secrets in etcd with a key of yours (page use-kms-etcd-encryption)."""

    key_id: str = Field(
        pattern=worded(
            r"^https://[^/\s]+/keys/[^/\s]+/[^/\s]+$",
            "the key's id, .../keys/<key>/<version>, as `az keyvault key show --query key.kid` "
            "prints it",
        ),
        description="The key, with its version.",
        examples=["https://example.vault.azure.net/keys/etcd/0123456789abcdef0123456789abcdef"],
    )
    vault_id: ArmId | None = optional(
        None,
        "The vault's resource id: the cluster's identity may use its keys. Default: you grant it.",
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
        "Microsoft.KeyVault/vaults/example",
    )
    private: bool = optional(False, "Whether the vault has no public access.")


class AzureEncryption(Model):
    """Encryption beyond Azure's own keys."""

    at_host: bool = optional(
        False,
        "Encrypt temporary disks and caches too. Needs the feature "
        "Microsoft.Compute/EncryptionAtHost (page enable-host-encryption).",
    )
    disk_encryption_set: ArmReference | None = optional(
        None,
        "A disk encryption set: your own key for managed disks (page "
        "azure-disk-customer-managed-keys). Immutable. Default: Azure's key.",
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
        "Microsoft.Compute/diskEncryptionSets/example",
    )
    kms: AzureKms | None = optional(None, "Your own key for Secrets in etcd. Default: Azure's key.")


class AzureLogs(Model):
    """Container logs in Log Analytics, which outlive an evicted pod (page monitor-aks)."""

    workspace: ArmReference | None = optional(
        None,
        "An existing Log Analytics workspace's resource id. Default: the stack makes one.",
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
        "Microsoft.OperationalInsights/workspaces/example",
    )
    retention_days: int = optional(
        30, "Days for which a workspace that the stack makes keeps logs.", ge=30, le=730
    )
    control_plane: tuple[
        Literal[
            "cluster-autoscaler",
            "cloud-controller-manager",
            "csi-azuredisk-controller",
            "csi-azurefile-controller",
            "csi-snapshot-controller",
            "kube-apiserver",
            "kube-audit",
            "kube-audit-admin",
            "kube-controller-manager",
            "kube-scheduler",
            "guard",
        ],
        ...,
    ] = optional(("cluster-autoscaler",), "Logs of AKS' own components to keep as well.")


class AzureMetrics(Model):
    """Managed Prometheus."""

    workspace: ArmReference | None = optional(
        None,
        "An existing Azure Monitor workspace's resource id. Default: the stack makes one.",
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
        "Microsoft.Monitor/accounts/example",
    )


class AzureMonitoring(Model):
    """Logs and metrics that outlive a node."""

    logs: AzureLogs | None = optional(
        None, "Container logs in Log Analytics; `{}` takes the defaults."
    )
    metrics: AzureMetrics | None = optional(
        None, "Metrics in managed Prometheus; `{}` takes the defaults."
    )
    action_groups: tuple[ArmId, ...] = optional(
        (),
        "Action groups that each alert notifies, with `alerts.declare: cloud`; empty: alerts are "
        "only shown in Azure.",
        [
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.Insights/actionGroups/example"
        ],
    )


class AzureExistingCluster(Model):
    """An existing AKS cluster: the stack only adds pools and the layer inside."""

    resource_group: ResourceGroup = Field(
        description="The cluster's resource group.", examples=["platform"]
    )
    name: ClusterName = Field(description="The cluster's name.", examples=["shared-aks"])


class Azure(CloudSettings):
    """AKS: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["azure"] = Field(description="The cloud.")
    existing_cluster: AzureExistingCluster | None = optional(
        None, "An existing cluster to add pools to. Default: the stack makes a cluster."
    )
    location: str | None = optional(
        None,
        "The region's short name, such as westeurope. Required for a new cluster.",
        "westeurope",
        pattern=repairs.AZURE_REGION,
    )
    resource_group: ResourceGroup | None = optional(
        None, "The resource group that the stack makes. Default: the cluster's name.", "ml-dev"
    )
    existing_resource_group: ResourceGroupReference | None = optional(
        None, "An existing resource group to use instead.", "platform"
    )
    tier: Literal["Free", "Standard", "Premium"] = optional(
        "Free",
        "Standard has an SLA, Premium also long-term support (page free-standard-pricing-tiers).",
    )
    long_term_support: bool = optional(
        False, "Two years of patches for a Kubernetes version; needs tier Premium."
    )
    network: AzureNetwork = optional(AzureNetwork(), "The network of nodes, pods and Services.")
    access: AzureAccess = optional(AzureAccess(), "Access to the API server.")
    upgrades: AzureUpgrades = optional(AzureUpgrades(), "Upgrades that AKS starts by itself.")
    registry: AzureRegistry | None = optional(
        None, "A container registry that nodes may pull from."
    )
    ssh: AzureSsh | None = optional(None, "A login on the nodes.")
    encryption: AzureEncryption = optional(AzureEncryption(), "Your own keys in place of Azure's.")
    monitoring: AzureMonitoring = optional(
        AzureMonitoring(), "Logs and metrics that outlive a node."
    )
    storage_drivers: AzureStorageDrivers = optional(
        AzureStorageDrivers(), "CSI drivers of volumes that AKS runs."
    )
    autoscaler: AzureAutoscaler = optional(
        AzureAutoscaler(), "The cluster autoscaler's settings where they differ from the release's."
    )
    node_provisioning: AzureNodeProvisioning | None = optional(
        None,
        "Node auto-provisioning (Karpenter) in place of the autoscaler; `{}` takes the defaults.",
    )
    # https://learn.microsoft.com/azure/templates/microsoft.containerservice/managedclusters
    properties: Properties = optional(
        {},
        "Properties of the managed cluster without a key here, in Azure's names.",
        {"workloadAutoScalerProfile": {"verticalPodAutoscaler": {"enabled": True}}},
    )

    @property
    def existing_name(self) -> str | None:
        """The existing cluster's name."""
        return self.existing_cluster.name if self.existing_cluster else None

    @property
    def place(self) -> str | None:
        """The region's short name."""
        return self.location

    @property
    def autoscaled(self) -> bool:
        """Whether the cluster autoscaler grows the pools."""
        return self.node_provisioning is None

    def group(self, cluster: str) -> Reference:
        """Return the name of the resource group of a new cluster of this name."""
        return self.existing_resource_group or Reference(self.resource_group or cluster)


MOST_OF_GROUP_NAME = 90
"""Characters of a resource group's name (page resource-name-rules)."""


def kept_group(group: str, account: str) -> str:
    """Return the group of a storage account, which outlives its line in the stack file."""
    return f"{group}-checkpoints-{account}"
