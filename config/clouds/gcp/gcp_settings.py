"""The settings of a GKE cluster. Names and values are Google's where Kubernetes has no word.

Sources: the GKE pages named beside the models (docs.cloud.google.com/kubernetes-engine/docs/<page>), and the argument classes
of pulumi-gcp 10. Where AKS has the same thing it has the same key (`config.clouds.azure.azure_settings`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from config.clouds.gcp.gcp_autoscaler import GcpAutoscaler
from config.clouds.gcp.gcp_forms import (
    ClusterName,
    GcpZone,
    KmsKeyReference,
    Location,
    ProjectId,
    RegistryLocation,
    RegistryRepository,
    ResourceReference,
    ServiceAccountReference,
)
from config.model.cluster import CloudSettings
from config.model.fields import Cidr, Model, Some, Unreadable, worded


class GcpExistingNetwork(Model):
    """An existing VPC network, perhaps in a Shared VPC's host project (page cluster-shared-vpc)."""

    project: ProjectId | None = Field(
        None,
        description="A Shared VPC's host project. Default: the cluster's project.",
        examples=["corp-network"],
    )
    name: ResourceReference = Field(description="The network's name.", examples=["corp-vpc"])
    subnet: ResourceReference = Field(
        description="The subnet of the nodes, in the cluster's region.", examples=["gke-nodes"]
    )
    pod_range: ResourceReference = Field(
        description="The name of the subnet's secondary range of pods.", examples=["gke-pods"]
    )
    service_range: ResourceReference = Field(
        description="The name of the subnet's secondary range of Services.",
        examples=["gke-services"],
    )
    grant_access: bool = Field(
        True,
        description="In a Shared VPC: whether the stack gives Google's service agents their roles in the host project; "
        "false: the project's owner has done so.",
    )


class GcpNetwork(Model):
    """The VPC-native network of the nodes and the ranges inside the cluster (page alias-ips), most of it for the cluster's life."""

    existing: GcpExistingNetwork | None = Field(
        None, description="An existing network to use. Default: the stack makes one."
    )
    node_subnet: Cidr = Field(
        "10.8.0.0/20",
        description="Addresses of the nodes: one address a node.",
        examples=["10.8.0.0/20"],
    )
    pod_cidr: Cidr = Field(
        "10.16.0.0/14",
        description="Addresses of pods: a /24 for each node with 110 pods.",
        examples=["10.16.0.0/14"],
    )
    service_cidr: Cidr = Field(
        "10.20.0.0/20",
        description="Addresses of Services inside the cluster.",
        examples=["10.20.0.0/20"],
    )
    control_plane_cidr: Cidr | None = Field(
        None,
        description="A /28 for the control plane of old clusters. Default: none; GKE needs none from 1.29 on (page "
        "private-clusters).",
        examples=["172.16.0.0/28"],
    )
    private_nodes: bool = Field(True, description="Whether nodes have private addresses only.")
    outbound_type: Literal["cloudNat", "none"] = Field(
        "cloudNat",
        description="How private nodes reach the internet: `cloudNat` (the stack makes it), or `none`: by your own means or "
        "not at all.",
    )
    dataplane: Literal["v2", "legacy"] = Field(
        "v2",
        description="What routes packets between pods: `v2` is Cilium and enforces NetworkPolicy (page dataplane-v2).",
    )
    flow_log_sampling: float | None = Field(
        None,
        gt=0,
        le=1,
        description="The share of flows between nodes that VPC Flow Logs keep; Google bills them by volume, and traffic of "
        "training is much. Default: no flow logs.",
        examples=[0.1],
    )


class GcpAccess(Model):
    """Access to the API server (pages network-isolation, authorized-networks, google-groups-rbac)."""

    dns_endpoint: bool = Field(
        True,
        description="Whether the API server is reached by its DNS name from anywhere, guarded by IAM.",
    )
    ip_endpoint: Literal["public", "private", "none"] = Field(
        "public",
        description="The API server's address: on the internet, in the network only, or none.",
    )
    authorized_ranges: tuple[Cidr, ...] = Field(
        (),
        description="Addresses that may reach the API server's address; empty: all.",
        examples=[["198.18.4.0/24"]],
    )
    roles_for_everybody: Literal["allowed", "authenticated", "refused"] = Field(
        "allowed",
        description="Whether new RoleBindings may name everybody (page best-practices/rbac): `authenticated` refuses "
        "system:anonymous and system:unauthenticated; `refused` also system:authenticated, which has every Google account.",
    )
    security_group: str | None = Field(
        None,
        pattern=r"^gke-security-groups@[^@\s/]+\.[^@\s/]+$",
        description="The Google group gke-security-groups@DOMAIN: RoleBindings can name its member groups. Default: none.",
        examples=["gke-security-groups@example.com"],
    )


class GcpFallback(Model):
    """The order in which GPU pools are tried (page about-custom-compute-classes). GKE has no priority expander."""

    mode: Literal["compute-class", "affinity"] | None = Field(
        None,
        description="`compute-class`: a ComputeClass holds the order; `affinity`: plain pools, GKE takes the cheapest. "
        "Default: compute-class when a GPU pool has a `fallback`, in a cluster of this stack from Kubernetes 1.36 on.",
    )
    class_name: str = Field(
        "kubeflow-spot",
        pattern=worded(
            r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
            "at most 63 lower-case letters, digits and -, first and last a letter or digit, such as kubeflow-spot",
        ),
        description="The ComputeClass' name; two stacks in one cluster need two names.",
        examples=["kubeflow-spot"],
    )
    active_migration: bool = Field(
        False,
        description="Move running pods back to a better pool; this evicts training that writes no checkpoints.",
    )
    consolidation_delay_minutes: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Minutes until an unused node of a GPU pool goes. Unset: GKE's own time.",
        examples=[5],
    )
    when_unsatisfiable: Literal["DoNotScaleUp", "ScaleUpAnyway"] = Field(
        "DoNotScaleUp",
        description="When no pool can grow: wait, or let GKE add nodes of its own choice.",
    )


class GcpLogging(Model):
    """Logs in Cloud Logging, those of evicted pods among them (page about-logs)."""

    components: tuple[
        Literal["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"],
        ...,
    ] = Field(
        ("SYSTEM_COMPONENTS", "WORKLOADS"),
        description="Components whose logs are kept; empty: none.",
    )


class GcpMonitoring(Model):
    """Metrics in Cloud Monitoring (page about-metrics)."""

    components: tuple[
        Literal[
            "SYSTEM_COMPONENTS",
            "APISERVER",
            "SCHEDULER",
            "CONTROLLER_MANAGER",
            "STORAGE",
            "HPA",
            "POD",
            "DAEMONSET",
            "DEPLOYMENT",
            "STATEFULSET",
            "KUBELET",
            "CADVISOR",
            "DCGM",
            "JOBSET",
        ],
        ...,
    ] = Field(
        ("SYSTEM_COMPONENTS", "DCGM"),
        description="Components whose metrics are kept; DCGM is GKE's own exporter of GPU metrics; empty: none.",
    )
    managed_prometheus: bool = Field(
        True,
        description="Whether Google's Prometheus collects these metrics and those that PodMonitorings name.",
    )


class GcpRegistry(Model):
    """An Artifact Registry repository the nodes may pull from."""

    project: ProjectId | None = Field(
        None,
        description="The repository's project. Default: the cluster's project.",
        examples=["corp-images"],
    )
    location: RegistryLocation = Field(
        description="The repository's location: a region or a multi-region.",
        examples=["europe-west4"],
    )
    repository: RegistryRepository = Field(
        description="The repository's name.", examples=["ml-images"]
    )


class GcpEncryption(Model):
    """Keys of yours in place of Google's (pages encrypting-secrets, using-cmek)."""

    secrets_key: KmsKeyReference | None = Field(
        None,
        description="The Cloud KMS key that encrypts Secrets in etcd. Default: Google's key.",
        examples=["projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/etcd"],
    )
    boot_disk_key: KmsKeyReference | None = Field(
        None,
        description="The Cloud KMS key that encrypts the nodes' boot disks; fixed for a pool's life. Default: Google's key.",
        examples=["projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/disks"],
    )
    grant_access: bool = Field(
        True,
        description="Whether the stack lets Google's service agents use the keys; false: the keys' owner has done so.",
    )


class GcpMaintenance(Model):
    """The daily time at which GKE may upgrade (page maintenance-windows-and-exclusions)."""

    start_time: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="The time in UTC, in quotes, at which a window of four hours opens each day.",
        examples=["02:00"],
    )


class GcpExistingCluster(Model):
    """An existing GKE cluster: the stack adds pools and the layer inside, and touches nothing else."""

    location: Location = Field(
        description="The cluster's region, or its zone when it is a zonal one.",
        examples=["europe-west4"],
    )
    name: ClusterName = Field(description="The cluster's name.", examples=["shared-gke"])


class Gcp(CloudSettings):
    """GKE: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["gcp"] = Field(description="The cloud.")
    project: ProjectId = Field(
        description="The project's id; not its number or its name.", examples=["my-project"]
    )
    existing_cluster: GcpExistingCluster | None = Field(
        None, description="An existing cluster to add pools to. Default: the stack makes a cluster."
    )
    location: Location | None = Field(
        None,
        description="The region of a regional cluster, or the zone of a zonal one. Required for a new cluster.",
        examples=["europe-west4"],
    )
    zones: tuple[GcpZone, ...] = Field(
        (),
        description="Zones of nodes whose pool names none; empty: GKE chooses.",
        examples=[["europe-west4-a", "europe-west4-b"]],
    )
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = Field(
        "REGULAR",
        description="The channel in which GKE upgrades the cluster (page release-channels).",
    )
    network: GcpNetwork = Field(
        GcpNetwork(), description="The network of nodes, pods and Services."
    )
    access: GcpAccess = Field(GcpAccess(), description="Access to the API server.")
    service_account: ServiceAccountReference | None = Field(
        None,
        description="An existing service account for the nodes. Default: the stack makes one of least privilege.",
        examples=["nodes@my-project.iam.gserviceaccount.com"],
    )
    registries: tuple[GcpRegistry, ...] = Field(
        (), description="Repositories the nodes may pull from."
    )
    encryption: GcpEncryption = Field(
        GcpEncryption(), description="Keys of yours in place of Google's."
    )
    maintenance: GcpMaintenance | None = Field(
        None, description="The daily time at which GKE may upgrade. Default: at any time."
    )
    autoscaler: GcpAutoscaler = Field(
        GcpAutoscaler(),
        description="The cluster autoscaler's settings where they differ from the release's.",
    )
    fallback: GcpFallback = Field(
        GcpFallback(), description="The order in which GPU pools are tried."
    )
    logging: GcpLogging = Field(GcpLogging(), description="Logs that Cloud Logging keeps.")
    monitoring: GcpMonitoring = Field(
        GcpMonitoring(), description="Metrics that Cloud Monitoring keeps."
    )

    @property
    def existing_name(self) -> str | None:
        """The existing cluster's name."""
        return self.existing_cluster.name if self.existing_cluster else None

    @property
    def place(self) -> str | None:
        """The location of the new or the existing cluster."""
        return self.existing_cluster.location if self.existing_cluster else self.location

    @property
    def region(self) -> str | None:
        """The region of the cluster, also of a zonal one."""
        return "-".join(self.place.split("-")[:2]) if self.place else None

    @property
    def zonal(self) -> bool:
        """Whether the control plane is in one zone."""
        return self.place is not None and self.place.count("-") == 2

    @property
    def zone_count(self) -> int:
        """The zones of a pool that names none: GKE takes three of a region (page regional-clusters)."""
        if isinstance(self.zones, Some):
            raise Unreadable("zones")
        return len(self.zones) or (1 if self.zonal else 3)
