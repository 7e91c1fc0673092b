"""What a stack file can say of an AKS cluster. Names and values are Azure's where Kubernetes has no word.

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
    """What AKS' cluster autoscaler is told, for all pools at once; unset fields come from the release, else from AKS.

    Page cluster-autoscaler, section on the autoscaler profile; all twenty fields. AKS' defaults are in the descriptions.
    """

    expander: Literal["priority", "least-waste", "most-pods", "random"] = Field(
        "priority", description="only priority makes spot pools grow first and keeps a fallback chain's order"
    )
    scan_interval: Seconds | None = Field(None, description="how often pools are looked at; AKS: 10s")
    max_node_provision_time: Minutes | None = Field(
        None, description="how long machines may take to join before another pool is tried; AKS: 15m"
    )
    new_pod_scale_up_delay: Duration | None = Field(None, description="pods younger than this wait; AKS: 0s")
    scale_down_delay_after_add: Minutes | None = Field(None, description="AKS: 10m")
    scale_down_delay_after_delete: Seconds | Minutes | None = Field(None, description="AKS: the scan interval")
    scale_down_delay_after_failure: Minutes | None = Field(None, description="AKS: 3m")
    scale_down_unneeded_time: Minutes | None = Field(None, description="AKS: 10m")
    scale_down_unready_time: Minutes | None = Field(None, description="AKS: 20m")
    scale_down_utilization_threshold: float | None = Field(
        None, gt=0, le=1, description="a node with less of its CPU and memory requested may go; AKS: 0.5"
    )
    max_graceful_termination_sec: int | None = Field(None, ge=0, description="seconds; AKS: 600")
    max_empty_bulk_delete: int | None = Field(None, ge=1, description="nodes at once; AKS: 10")
    balance_similar_node_groups: bool | None = Field(None, description="AKS: false")
    skip_nodes_with_local_storage: bool | None = Field(
        None, description="keep nodes whose pods have emptyDir or hostPath volumes; this program's default: false"
    )
    skip_nodes_with_system_pods: bool | None = Field(None, description="AKS: true")
    ignore_daemonsets_utilization: bool | None = Field(None, description="AKS: false")
    daemonset_eviction_for_empty_nodes: bool | None = Field(None, description="AKS: false")
    daemonset_eviction_for_occupied_nodes: bool | None = Field(None, description="AKS: true")
    ok_total_unready_count: int | None = Field(None, ge=0, description="nodes; AKS: 3")
    max_total_unready_percentage: int | None = Field(
        None, ge=0, le=100, description="per cent of nodes; more (and more than okTotalUnreadyCount) stop it; AKS: 45"
    )


NODE_SUBNET = "nodes"
"""The name of `nodeSubnet`: the subnet of pools that name none, in a network made here."""


class AzureExistingNetwork(Model):
    """A virtual network made by somebody else; pools name its subnets."""

    resource_group: ResourceGroup
    name: str = Field(min_length=1, max_length=80)
    subnet: str = Field(min_length=1, description="where nodes go whose pool names no subnet")


class AzureNetwork(Model):
    """The virtual network of the nodes, and the ranges inside the cluster. All of it is fixed for the cluster's life."""

    existing: AzureExistingNetwork | None = None
    address_space: Cidr = "10.8.0.0/16"
    node_subnet: Cidr = "10.8.0.0/20"
    subnets: dict[Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9][-_.A-Za-z0-9]{0,79}$")], Cidr] = Field(
        {}, description="further subnets by name, for pools that name one"
    )
    pod_cidr: Cidr = "10.244.0.0/16"
    service_cidr: Cidr = "10.0.0.0/16"
    outbound_type: Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting"] = Field(
        "loadBalancer", description="how pods reach the internet (page egress-outboundtype)"
    )
    dataplane: Literal["azure", "cilium"] = "azure"
    policy: Literal["none", "azure", "calico", "cilium"] | None = Field(
        None,
        description="who enforces NetworkPolicy objects (page use-network-policies); unset: nobody, and that is told",
    )


class AzureAccess(Model):
    """Who reaches the API server, and as whom (pages api-server-authorized-ip-ranges, private-clusters, enable-authentication)."""

    private: bool = Field(False, description="an API server without a public address; fixed for the cluster's life")
    private_dns_zone: Literal["system", "none"] | ArmId | None = Field(None, description="with `private`; AKS: system")
    authorized_ranges: tuple[Cidr, ...] = Field((), description="who may reach a public API server; empty: everybody")
    admin_groups: tuple[ObjectId, ...] = Field((), description="Entra groups whose members are cluster administrators")
    tenant_id: ObjectId | None = Field(None, description="of the groups; default: the subscription's")
    azure_rbac: bool = Field(False, description="let Azure role assignments decide inside the cluster as well")
    local_accounts: bool = Field(True, description="false: only Entra logins; needs `adminGroups` or `azureRbac`")
    run_command: bool = Field(True, description="allow `az aks command invoke`")

    @property
    def entra(self) -> bool:
        """Whether logins go through Microsoft Entra."""
        return bool(self.admin_groups) or self.azure_rbac


class AzureWindow(Model):
    """A weekly maintenance window (page planned-maintenance)."""

    day: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    start_time: str = Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="such as 02:00, in quotes")
    duration_hours: int = Field(4, ge=4, le=24)
    utc_offset: str = Field("+00:00", pattern=r"^[+-](0[0-9]|1[0-4]):[0-5][0-9]$")
    every_weeks: int = Field(1, ge=1, le=4)


class AzureUpgrades(Model):
    """What AKS upgrades by itself, and when (pages auto-upgrade-cluster, auto-upgrade-node-os-image).

    The channels rapid and stable are no choice: they change the minor version, which the release pins.
    """

    channel: Literal["none", "patch", "node-image"] = "none"
    node_os_channel: Literal["None", "Unmanaged", "SecurityPatch", "NodeImage"] = "NodeImage"
    cluster_window: AzureWindow | None = None
    node_os_window: AzureWindow | None = None


class AzureRegistry(Model):
    """The container registry the nodes may pull from (page cluster-container-registry-integration)."""

    id: ArmId = Field(description="its AcrPull role goes to the kubelet's identity")


class AzureSsh(Model):
    """A login on the nodes; fixed for the cluster's life."""

    username: str = Field("azureuser", pattern=r"^[a-z][-a-z0-9_]{0,31}$")
    public_key: str = Field(
        pattern=r"^ssh-(rsa|ed25519) [A-Za-z0-9+/]+=*( .*)?$", description="one line, ssh-rsa or ssh-ed25519"
    )


class AzureKms(Model):
    """Encrypt Secrets in etcd with a key of yours (page use-kms-etcd-encryption)."""

    key_id: str = Field(
        pattern=r"^https://[^/]+/keys/[^/]+/[^/]+$", description="https://<vault>.vault.azure.net/keys/<key>/<version>"
    )
    vault_id: ArmId | None = Field(None, description="with `private`: the vault's id")
    private: bool = Field(False, description="the vault has no public access")


class AzureEncryption(Model):
    """Encryption beyond Azure's own keys."""

    at_host: bool = Field(
        False,
        description="temporary disks and caches too; the subscription needs the feature Microsoft.Compute/EncryptionAtHost "
        "registered (page enable-host-encryption)",
    )
    disk_encryption_set: ArmId | None = Field(
        None, description="your own key for managed disks (page azure-disk-customer-managed-keys); fixed"
    )
    kms: AzureKms | None = None


class AzureLogs(Model):
    """Container logs in Log Analytics, so that the log of an evicted pod stays readable (page monitor-aks)."""

    workspace: ArmId | None = Field(None, description="an existing workspace; default: one is made")
    retention_days: int = Field(30, ge=30, le=730, description="of the workspace that is made")
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
    ] = Field(("cluster-autoscaler",), description="logs of AKS' own components to keep as well")


class AzureMetrics(Model):
    """Managed Prometheus."""

    workspace: ArmId | None = Field(None, description="an existing Azure Monitor workspace; default: one is made")


class AzureMonitoring(Model):
    """Logs and metrics that outlive a node. Unset: none are kept."""

    logs: AzureLogs | None = None
    metrics: AzureMetrics | None = None


class AzureExistingCluster(Model):
    """An AKS cluster made by somebody else: pools and the layer inside are added, nothing else is touched."""

    resource_group: ResourceGroup
    name: str = Field(min_length=1, max_length=63)


class Azure(CloudSettings):
    """AKS: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["azure"]
    existing_cluster: AzureExistingCluster | None = None
    location: str | None = Field(None, pattern=r"^[a-z0-9]+$", description="a region's short name, such as westeurope")
    resource_group: ResourceGroup | None = Field(None, description="made here; default: the cluster's name")
    existing_resource_group: ResourceGroup | None = Field(None, description="instead: one made by somebody else")
    tier: Literal["Free", "Standard", "Premium"] = Field(
        "Free", description="Standard has an SLA, Premium long-term support as well (page free-standard-pricing-tiers)"
    )
    long_term_support: bool = Field(False, description="two years of patches for a version; needs tier Premium")
    network: AzureNetwork = AzureNetwork()
    access: AzureAccess = AzureAccess()
    upgrades: AzureUpgrades = AzureUpgrades()
    registry: AzureRegistry | None = None
    ssh: AzureSsh | None = None
    encryption: AzureEncryption = AzureEncryption()
    monitoring: AzureMonitoring = AzureMonitoring()
    autoscaler: AzureAutoscaler = AzureAutoscaler()

    @property
    def existing_name(self) -> str | None:
        """The existing cluster's name."""
        return self.existing_cluster.name if self.existing_cluster else None


class AzurePins(Model):
    """What a release pins for AKS."""

    azure_autoscaler: AzureAutoscaler = Field(
        title="AKS' cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(AzureAutoscaler),
    )


def pinned_autoscaler(release: Release) -> AzureAutoscaler:
    """The autoscaler's settings that a release pins."""
    assert isinstance(release, AzurePins)
    return release.azure_autoscaler
