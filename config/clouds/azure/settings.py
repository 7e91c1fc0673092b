"""The settings of an AKS cluster. Names and values are Azure's where Kubernetes has no word.

Sources: the AKS pages named beside the models (learn.microsoft.com/azure/aks/<page>), REST API 2025-09-01.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from config.model.cloud import CloudSettings
from config.model.fields import FORMS, Cidr, Duration, Minutes, Model, Seconds, form
from config.model.release import Release, all_of

ArmId = Annotated[
    str,
    form(
        r"(?i)^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/[^/]+(/[^/]+/[^/]+)+$",
        "an Azure resource's id, /subscriptions/.../resourceGroups/.../providers/...",
    ),
]
"""An Azure resource's id, `/subscriptions/.../resourceGroups/.../providers/...`."""

ObjectId = Annotated[
    str,
    form(
        r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        "a GUID, such as 2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11; not a name",
    ),
]
"""A GUID of Microsoft Entra, such as a group's object id."""

# The length apart: \w is every letter of Unicode, and {0,89} takes 30 ms to compile.
_GROUP = r"^[-\w.()]*[-\w()]$"
FORMS[_GROUP] = "a resource group's name: at most 90 letters, digits, -, _, ., ( and ), no . at the end"
ResourceGroup = Annotated[str, StringConstraints(pattern=_GROUP, max_length=90)]


class AzureAutoscaler(Model):
    """Settings of AKS' cluster autoscaler, for all pools at once; unset keys come from the release, else from AKS.

    Page cluster-autoscaler, section on the autoscaler profile; all twenty fields. AKS' defaults are in the descriptions.
    """

    expander: Literal["priority", "least-waste", "most-pods", "random"] = Field(
        "priority",
        description="How the autoscaler chooses the pool to grow. Only `priority` grows spot pools first and keeps the order "
        "of a fallback chain.",
    )
    scan_interval: Seconds | None = Field(
        None, description="Time between two looks at the pools. AKS' own default: 10s.", examples=["10s"]
    )
    max_node_provision_time: Minutes | None = Field(
        None,
        description="Time a new machine may take to join the cluster before another pool is tried. AKS' own default: 15m.",
        examples=["10m"],
    )
    new_pod_scale_up_delay: Duration | None = Field(
        None,
        description="Age of a pending pod before the autoscaler grows a pool for it. AKS' own default: 0s.",
        examples=["30s"],
    )
    scale_down_delay_after_add: Minutes | None = Field(
        None, description="Time after a new node before nodes are removed. AKS' own default: 10m.", examples=["10m"]
    )
    scale_down_delay_after_delete: Seconds | Minutes | None = Field(
        None,
        description="Time after a removed node before the next is removed. AKS' own default: the scan interval.",
        examples=["10s"],
    )
    scale_down_delay_after_failure: Minutes | None = Field(
        None,
        description="Time after a failed removal before the next is tried. AKS' own default: 3m.",
        examples=["3m"],
    )
    scale_down_unneeded_time: Minutes | None = Field(
        None, description="Time a node must be unneeded before it is removed. AKS' own default: 10m.", examples=["5m"]
    )
    scale_down_unready_time: Minutes | None = Field(
        None,
        description="Time an unready node must be unneeded before it is removed. AKS' own default: 20m.",
        examples=["20m"],
    )
    scale_down_utilization_threshold: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of its CPU or memory that pods request, below which a node counts as unneeded. AKS' own default: 0.5.",
        examples=[0.5],
    )
    max_graceful_termination_sec: int | None = Field(
        None,
        ge=0,
        description="Seconds that pods get to end when their node is removed. AKS' own default: 600.",
        examples=[600],
    )
    max_empty_bulk_delete: int | None = Field(
        None, ge=1, description="Most empty nodes that are removed at once. AKS' own default: 10.", examples=[10]
    )
    balance_similar_node_groups: bool | None = Field(
        None, description="Keep pools of equal machines at equal size. AKS' own default: false."
    )
    skip_nodes_with_local_storage: bool | None = Field(
        None,
        description="Keep nodes whose pods have emptyDir or hostPath volumes. The releases say false.",
    )
    skip_nodes_with_system_pods: bool | None = Field(
        None, description="Keep nodes with pods of kube-system that no DaemonSet made. AKS' own default: true."
    )
    ignore_daemonsets_utilization: bool | None = Field(
        None, description="Leave pods of DaemonSets out of a node's utilization. AKS' own default: false."
    )
    daemonset_eviction_for_empty_nodes: bool | None = Field(
        None, description="Evict pods of DaemonSets before an empty node is removed. AKS' own default: false."
    )
    daemonset_eviction_for_occupied_nodes: bool | None = Field(
        None, description="Evict pods of DaemonSets before a node with other pods is removed. AKS' own default: true."
    )
    ok_total_unready_count: int | None = Field(
        None,
        ge=0,
        description="Number of unready nodes with which the autoscaler always goes on. Default: the release's, or more where "
        "the pools' bounds need it. AKS' own default: 3.",
        examples=[10],
    )
    max_total_unready_percentage: int | None = Field(
        None,
        ge=0,
        le=100,
        description="Per cent of unready nodes above which, together with okTotalUnreadyCount, the autoscaler stops for every "
        "pool. Default: the release's, or more where the pools' bounds need it. AKS' own default: 45.",
        examples=[60],
    )


NODE_SUBNET = "nodes"
"""The name of `nodeSubnet`: the subnet of pools that name none, in a network made here."""


class AzureExistingNetwork(Model):
    """An existing virtual network; pools name its subnets."""

    resource_group: ResourceGroup = Field(description="The network's resource group.", examples=["corp-network"])
    name: str = Field(min_length=1, max_length=80, description="The network's name.", examples=["corp-vnet"])
    subnet: str = Field(
        min_length=1, description="The subnet of nodes whose pool names no subnet.", examples=["aks-nodes"]
    )


class AzureNetwork(Model):
    """The virtual network of the nodes, and the ranges inside the cluster. All of it is fixed for the cluster's life."""

    existing: AzureExistingNetwork | None = Field(
        None, description="An existing virtual network to use. Default: the stack makes one."
    )
    address_space: Cidr = Field(
        "10.8.0.0/16", description="Addresses of the network that the stack makes.", examples=["10.8.0.0/16"]
    )
    node_subnet: Cidr = Field(
        "10.8.0.0/20",
        description="Addresses of the subnet `nodes`, for pools that name no subnet: one address a node.",
        examples=["10.8.0.0/20"],
    )
    subnets: dict[Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9][-_.A-Za-z0-9]{0,79}$")], Cidr] = Field(
        {},
        description="Further subnets: name and addresses, for pools that name one.",
        examples=[{"gpu": "10.8.16.0/20"}],
    )
    pod_cidr: Cidr = Field(
        "10.244.0.0/16",
        description="Addresses of pods, in an overlay network: a /24 for each node.",
        examples=["10.244.0.0/16"],
    )
    service_cidr: Cidr = Field(
        "10.0.0.0/16", description="Addresses of Services inside the cluster.", examples=["10.0.0.0/16"]
    )
    outbound_type: Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting"] = Field(
        "loadBalancer",
        description="How pods reach the internet: `loadBalancer`, `userAssignedNATGateway` (the stack makes it), or "
        "`userDefinedRouting` (a route table in an existing network; page egress-outboundtype).",
    )
    dataplane: Literal["azure", "cilium"] = Field(
        "azure", description="What routes packets between pods: Azure's own, or Cilium (needs `policy: cilium`)."
    )
    policy: Literal["none", "azure", "calico", "cilium"] | None = Field(
        None,
        description="What enforces NetworkPolicy objects (page use-network-policies). Default: nothing, with a warning.",
    )


class AzureAccess(Model):
    """Access to the API server (pages api-server-authorized-ip-ranges, private-clusters, enable-authentication)."""

    private: bool = Field(
        False, description="Whether the API server has a private address only. Fixed for the cluster's life."
    )
    private_dns_zone: Literal["system", "none"] | ArmId | None = Field(
        None,
        description="With `private`: the id of a private DNS zone, `system` (AKS makes one) or `none`. AKS' own default: system.",
        examples=["system"],
    )
    authorized_ranges: tuple[Cidr, ...] = Field(
        (), description="Addresses that may reach a public API server; empty: all.", examples=[["198.18.4.0/24"]]
    )
    admin_groups: tuple[ObjectId, ...] = Field(
        (),
        description="Object ids of Entra groups whose members administrate the cluster.",
        examples=[["2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"]],
    )
    tenant_id: ObjectId | None = Field(
        None,
        description="The Entra tenant of the groups. Default: the subscription's.",
        examples=["2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"],
    )
    azure_rbac: bool = Field(False, description="Whether Azure role assignments also count inside the cluster.")
    local_accounts: bool = Field(
        True, description="Whether logins without Entra work; false needs `adminGroups` or `azureRbac`."
    )
    run_command: bool = Field(True, description="Whether `az aks command invoke` works.")

    @property
    def entra(self) -> bool:
        """Whether logins go through Microsoft Entra."""
        return bool(self.admin_groups) or self.azure_rbac


class AzureWindow(Model):
    """A weekly maintenance window (page planned-maintenance)."""

    day: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] = Field(
        description="The day on which the window opens."
    )
    start_time: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="The time it opens, in quotes.", examples=["02:00"]
    )
    duration_hours: int = Field(4, ge=4, le=24, description="Hours it stays open.")
    utc_offset: str = Field(
        "+00:00",
        pattern=r"^[+-](0[0-9]|1[0-4]):[0-5][0-9]$",
        description="The time zone of `startTime`, as an offset from UTC.",
        examples=["+02:00"],
    )
    every_weeks: int = Field(1, ge=1, le=4, description="Weeks from one window to the next.")


class AzureUpgrades(Model):
    """Upgrades by AKS itself, and when they happen (pages auto-upgrade-cluster, auto-upgrade-node-os-image).

    The channels rapid and stable are no choice: they change the minor version, which the release pins.
    """

    channel: Literal["none", "patch", "node-image"] = Field(
        "none", description="Whether AKS installs patches of the Kubernetes version (`patch`) by itself."
    )
    node_os_channel: Literal["None", "Unmanaged", "SecurityPatch", "NodeImage"] = Field(
        "NodeImage",
        description="How nodes get security updates: `NodeImage` weekly new images, `SecurityPatch` patches only, `Unmanaged` "
        "the operating system's own updates, `None` none.",
    )
    cluster_window: AzureWindow | None = Field(
        None, description="When AKS may upgrade the cluster. Default: at any time."
    )
    node_os_window: AzureWindow | None = Field(
        None, description="When AKS may replace node images. Default: at any time."
    )


class AzureRegistry(Model):
    """The container registry the nodes may pull from (page cluster-container-registry-integration)."""

    id: ArmId = Field(
        description="The registry's resource id. The kubelet's identity gets the role AcrPull on it.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.ContainerRegistry/registries/example"
        ],
    )


class AzureSsh(Model):
    """A login on the nodes; fixed for the cluster's life."""

    username: str = Field(
        "azureuser", pattern=r"^[a-z][-a-z0-9_]{0,31}$", description="The login's name.", examples=["azureuser"]
    )
    public_key: str = Field(
        pattern=r"^ssh-(rsa|ed25519) [A-Za-z0-9+/]+=*( .*)?$",
        description="The public key, one line of ssh-rsa or ssh-ed25519.",
        examples=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA ops@example.com"],
    )


class AzureKms(Model):
    """Encryption of Secrets in etcd with a key of yours (page use-kms-etcd-encryption)."""

    key_id: str = Field(
        pattern=r"^https://[^/]+/keys/[^/]+/[^/]+$",
        description="The key's id with its version, https://<vault>.vault.azure.net/keys/<key>/<version>.",
        examples=["https://example.vault.azure.net/keys/etcd/0123456789abcdef0123456789abcdef"],
    )
    vault_id: ArmId | None = Field(
        None,
        description="The vault's resource id: the cluster's identity gets the use of its keys. Default: you grant it.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.KeyVault/vaults/example"
        ],
    )
    private: bool = Field(False, description="Whether the vault has no public access.")


class AzureEncryption(Model):
    """Encryption beyond Azure's own keys."""

    at_host: bool = Field(
        False,
        description="Encrypt temporary disks and caches as well. The subscription needs the feature "
        "Microsoft.Compute/EncryptionAtHost (page enable-host-encryption).",
    )
    disk_encryption_set: ArmId | None = Field(
        None,
        description="The resource id of a disk encryption set: your own key for managed disks (page "
        "azure-disk-customer-managed-keys). Fixed for the cluster's life. Default: Azure's key.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.Compute/diskEncryptionSets/example"
        ],
    )
    kms: AzureKms | None = Field(None, description="A key of yours for Secrets in etcd. Default: Azure's key.")


class AzureLogs(Model):
    """Container logs in Log Analytics, so that the log of an evicted pod stays readable (page monitor-aks)."""

    workspace: ArmId | None = Field(
        None,
        description="The resource id of an existing Log Analytics workspace. Default: the stack makes one.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.OperationalInsights/workspaces/example"
        ],
    )
    retention_days: int = Field(30, ge=30, le=730, description="Days that a workspace made by the stack keeps logs.")
    control_plane: tuple[
        Literal[
            "cluster-autoscaler",
            "kube-apiserver",
            "kube-audit",
            "kube-audit-admin",
            "kube-controller-manager",
            "kube-scheduler",
            "guard",
        ],
        ...,
    ] = Field(("cluster-autoscaler",), description="Logs of AKS' own components to keep as well.")


class AzureMetrics(Model):
    """Managed Prometheus."""

    workspace: ArmId | None = Field(
        None,
        description="The resource id of an existing Azure Monitor workspace. Default: the stack makes one.",
        examples=[
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/"
            "Microsoft.Monitor/accounts/example"
        ],
    )


class AzureMonitoring(Model):
    """Logs and metrics that outlive a node."""

    logs: AzureLogs | None = Field(
        None, description="Container logs in Log Analytics; `{}` takes the defaults. Default: none are kept."
    )
    metrics: AzureMetrics | None = Field(
        None, description="Metrics in managed Prometheus; `{}` takes the defaults. Default: none are kept."
    )


class AzureExistingCluster(Model):
    """An existing AKS cluster: the stack adds pools and the layer inside, and touches nothing else."""

    resource_group: ResourceGroup = Field(description="The cluster's resource group.", examples=["platform"])
    name: str = Field(min_length=1, max_length=63, description="The cluster's name.", examples=["shared-aks"])


class Azure(CloudSettings):
    """AKS: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["azure"] = Field(description="The cloud.")
    existing_cluster: AzureExistingCluster | None = Field(
        None, description="An existing cluster to add pools to. Default: the stack makes a cluster."
    )
    location: str | None = Field(
        None,
        pattern=r"^[a-z0-9]+$",
        description="The region's short name, such as westeurope. Required for a new cluster.",
        examples=["westeurope"],
    )
    resource_group: ResourceGroup | None = Field(
        None,
        description="The name of the resource group that the stack makes. Default: the cluster's name.",
        examples=["ml-dev"],
    )
    existing_resource_group: ResourceGroup | None = Field(
        None,
        description="An existing resource group to use instead. Default: the stack makes one.",
        examples=["platform"],
    )
    tier: Literal["Free", "Standard", "Premium"] = Field(
        "Free",
        description="The control plane's tier: Standard has an SLA, Premium long-term support as well (page "
        "free-standard-pricing-tiers).",
    )
    long_term_support: bool = Field(
        False, description="Two years of patches for a Kubernetes version; needs tier Premium."
    )
    network: AzureNetwork = Field(AzureNetwork(), description="The network of nodes, pods and Services.")
    access: AzureAccess = Field(AzureAccess(), description="Access to the API server.")
    upgrades: AzureUpgrades = Field(AzureUpgrades(), description="Upgrades that AKS starts by itself.")
    registry: AzureRegistry | None = Field(
        None, description="A container registry the nodes may pull from. Default: none."
    )
    ssh: AzureSsh | None = Field(None, description="A login on the nodes. Default: none.")
    encryption: AzureEncryption = Field(AzureEncryption(), description="Keys of yours in place of Azure's.")
    monitoring: AzureMonitoring = Field(AzureMonitoring(), description="Logs and metrics that outlive a node.")
    autoscaler: AzureAutoscaler = Field(
        AzureAutoscaler(), description="The cluster autoscaler's settings where they differ from the release's."
    )

    @property
    def existing_name(self) -> str | None:
        """The existing cluster's name."""
        return self.existing_cluster.name if self.existing_cluster else None


class AzurePins(Model):
    """The pins of a release for AKS."""

    azure_autoscaler: AzureAutoscaler = Field(
        title="AKS' cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(AzureAutoscaler),
    )


def pinned_autoscaler(release: Release) -> AzureAutoscaler:
    """The autoscaler's settings that a release pins."""
    assert isinstance(release, AzurePins)
    return release.azure_autoscaler
