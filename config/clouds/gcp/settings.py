"""What a stack file can say of a GKE cluster. Names and values are Google's where Kubernetes has no word.

Sources: the GKE pages named beside the models (docs.cloud.google.com/kubernetes-engine/docs/<page>), and the argument classes
of pulumi-gcp 10. Where AKS has the same thing it has the same key (`config.clouds.azure.settings`).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from config.model.cloud import CloudSettings
from config.model.fields import Cidr, Model, form
from config.model.pool import AnyPool, Pool, PoolOptions
from config.model.release import Release, all_of

ProjectId = Annotated[
    str,
    form(
        r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$",
        "a project's id: 6 to 30 lower-case letters, digits and -, a letter first; not its number or its name",
    ),
]
"""docs.cloud.google.com/resource-manager/docs/creating-managing-projects"""

Location = Annotated[
    str,
    form(
        r"^[a-z]+-[a-z]+[0-9]{1,2}(-[a-z][a-z0-9]{0,4})?$",
        "a region such as europe-west4 (a regional cluster) or a zone such as europe-west4-a (a zonal one)",
    ),
]

GcpZone = Annotated[str, form(r"^[a-z]+-[a-z]+[0-9]{1,2}-[a-z][a-z0-9]{0,4}$", "a zone, such as europe-west4-a")]

Resource = Annotated[
    str, form(r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$", "a name: at most 63 lower-case letters, digits and -")
]
"""The name of a Compute Engine resource (RFC 1035)."""

KmsKey = Annotated[
    str,
    form(
        r"^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$",
        "a key of Cloud KMS, projects/.../locations/.../keyRings/.../cryptoKeys/...",
    ),
]

ServiceAccount = Annotated[
    str,
    form(r"^[^@\s]+@[^@\s]+\.gserviceaccount\.com$", "a service account, NAME@PROJECT.iam.gserviceaccount.com"),
]


class GcpExistingNetwork(Model):
    """A VPC network made by somebody else, perhaps in a Shared VPC's host project (page cluster-shared-vpc)."""

    project: ProjectId | None = Field(None, description="of a Shared VPC; default: the cluster's project")
    name: Resource
    subnet: Resource = Field(description="where the nodes go; in the cluster's region")
    pod_range: Resource = Field(description="the name of the subnet's secondary range of pods")
    service_range: Resource = Field(description="the name of the subnet's secondary range of Services")
    grant_access: bool = Field(
        True,
        description="of a Shared VPC: give Google's service agents their roles in its project; false: its owner has done so",
    )


class GcpNetwork(Model):
    """The VPC-native network of the nodes and the ranges inside the cluster (page alias-ips). Fixed for the cluster's life."""

    existing: GcpExistingNetwork | None = None
    node_subnet: Cidr = "10.8.0.0/20"
    pod_cidr: Cidr = Field("10.16.0.0/14", description="a /24 of it goes to each node with 110 pods")
    service_cidr: Cidr = "10.20.0.0/20"
    control_plane_cidr: Cidr | None = Field(
        None,
        description="a /28 for the control plane of old clusters; GKE needs none from 1.29 (page private-clusters)",
    )
    private_nodes: bool = Field(True, description="nodes without public addresses")
    outbound_type: Literal["cloudNat", "none"] = Field(
        "cloudNat", description="how private nodes reach the internet; none: you see to it, or they do not"
    )
    dataplane: Literal["v2", "legacy"] = Field(
        "v2", description="v2: Cilium, enforces NetworkPolicy (page dataplane-v2)"
    )


class GcpAccess(Model):
    """Who reaches the API server (pages network-isolation, authorized-networks, google-groups-rbac)."""

    dns_endpoint: bool = Field(True, description="reachable by its DNS name from anywhere, guarded by IAM")
    ip_endpoint: Literal["public", "private", "none"] = Field(
        "public", description="its address: on the internet, in the network only, or none at all"
    )
    authorized_ranges: tuple[Cidr, ...] = Field((), description="who may reach the address; empty: everybody")
    security_group: str | None = Field(
        None,
        pattern=r"^gke-security-groups@[^@\s]+\.[^@\s]+$",
        description="gke-security-groups@DOMAIN: its member groups can be named in RoleBindings",
    )


class GcpAutoscaler(Model):
    """What GKE's cluster autoscaler can be told: little (page cluster-autoscaler). Unset: the release's."""

    profile: Literal["balanced", "optimize-utilization"] | None = Field(
        None,
        description="optimize-utilization removes nodes sooner and sets pods' schedulerName, which Kueue and Volcano notice; "
        "GKE: balanced",
    )


class GcpFallback(Model):
    """How GPU pools are tried in order (page about-custom-compute-classes). GKE has no priority expander."""

    mode: Literal["compute-class", "affinity"] | None = Field(
        None,
        description="compute-class: a ComputeClass holds the order; affinity: plain pools, GKE takes what is cheapest; "
        "default: compute-class when a GPU pool has a `fallback`, in a cluster of this stack from Kubernetes 1.36 on",
    )
    class_name: str = Field(
        "kubeflow-spot",
        pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        description="the ComputeClass; two stacks in one cluster need two names",
    )
    active_migration: bool = Field(
        False, description="move running pods back to a better pool: evicts training that is not checkpointed"
    )
    when_unsatisfiable: Literal["DoNotScaleUp", "ScaleUpAnyway"] = Field(
        "DoNotScaleUp", description="when no pool can grow: wait, or let GKE add nodes of its own choice"
    )


class GcpLogging(Model):
    """Which logs Cloud Logging keeps, those of evicted pods among them (page about-logs)."""

    components: tuple[
        Literal["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"], ...
    ] = Field(("SYSTEM_COMPONENTS", "WORKLOADS"), description="empty: none")


class GcpMonitoring(Model):
    """Which metrics Cloud Monitoring keeps (page about-metrics)."""

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
    ] = Field(("SYSTEM_COMPONENTS", "DCGM"), description="DCGM: GKE's own exporter of GPU metrics; empty: none")
    managed_prometheus: bool = Field(
        True, description="Google's Prometheus collects them, and what PodMonitorings name"
    )


class GcpRegistry(Model):
    """An Artifact Registry repository the nodes may pull from."""

    project: ProjectId | None = Field(None, description="default: the cluster's project")
    location: str = Field(min_length=2, description="of the repository, such as europe or europe-west4")
    repository: Resource


class GcpEncryption(Model):
    """Keys of yours in place of Google's (pages encrypting-secrets, using-cmek)."""

    secrets_key: KmsKey | None = Field(None, description="encrypts Secrets in etcd")
    boot_disk_key: KmsKey | None = Field(None, description="encrypts the nodes' boot disks; fixed for a pool's life")
    grant_access: bool = Field(
        True, description="let Google's service agents use the keys; false: the keys' owner has done so"
    )


class GcpMaintenance(Model):
    """The daily time at which GKE may upgrade (page maintenance-windows-and-exclusions)."""

    start_time: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="UTC, such as 02:00, in quotes; four hours"
    )


class GcpExistingCluster(Model):
    """A GKE cluster made by somebody else: pools and the layer inside are added, nothing else is touched."""

    location: Location
    name: str = Field(min_length=1, max_length=40)


class GcpNodes(PoolOptions):
    """What is Google's own about the nodes of a pool."""

    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] | None = Field(
        None, description="of the boot disk; default: the machine family's first choice"
    )
    image_type: Literal["COS_CONTAINERD", "UBUNTU_CONTAINERD"] = "COS_CONTAINERD"
    secure_boot: bool = Field(False, description="of Shielded nodes; refuses drivers that are not signed by Google")
    integrity_monitoring: bool = True


class GcpPool(GcpNodes):
    """What is Google's own about a pool."""

    min_nodes_per_zone: int | None = Field(None, ge=0, description="instead of minNodes")
    max_nodes_per_zone: int | None = Field(None, ge=1, description="instead of maxNodes")
    location_policy: Literal["any", "balanced"] | None = Field(
        None, description="which zones grow first; GKE: any for spot, which takes what is there, else balanced"
    )
    driver_version: Literal["default", "latest"] = Field(
        "default", description="the NVIDIA driver GKE installs; latest on Container-Optimized OS only"
    )
    shutdown_grace_seconds: int | None = Field(
        None,
        ge=30,
        le=120,
        description="the notice of a spot node, of which the last 15 s are for system pods; GKE: 30 (page spot-vms)",
    )
    device_plugin: Literal["gke", "nvidia"] = Field(
        "gke",
        description="nvidia: GKE's own is kept off these nodes, for the GPU Operator's; needs devicePlugin.install never",
    )
    compute_class: bool = Field(True, description="false: not in the ComputeClass; for pools that pods name themselves")

    zone_bounds: ClassVar[tuple[str, str] | None] = ("min_nodes_per_zone", "max_nodes_per_zone")


def nodes_of(pool: AnyPool) -> GcpNodes | None:
    """What a pool's or the system pool's key `gcp` says of its nodes."""
    return pool.options if isinstance(pool.options, GcpNodes) else None


def options_of(pool: Pool) -> GcpPool | None:
    """What a pool's key `gcp` says."""
    return pool.options if isinstance(pool.options, GcpPool) else None


class Gcp(CloudSettings):
    """GKE: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["gcp"]
    project: ProjectId
    existing_cluster: GcpExistingCluster | None = None
    location: Location | None = Field(None, description="a region (regional cluster) or a zone (zonal cluster)")
    zones: tuple[GcpZone, ...] = Field((), description="where nodes run whose pool names none; default: GKE's choice")
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = Field(
        "REGULAR", description="who upgrades the cluster, and how soon (page release-channels)"
    )
    network: GcpNetwork = GcpNetwork()
    access: GcpAccess = GcpAccess()
    service_account: ServiceAccount | None = Field(
        None, description="the nodes' identity, made by somebody else; default: one of least privilege is made"
    )
    registries: tuple[GcpRegistry, ...] = Field((), description="repositories the nodes may pull from")
    encryption: GcpEncryption = GcpEncryption()
    maintenance: GcpMaintenance | None = None
    autoscaler: GcpAutoscaler = GcpAutoscaler()
    fallback: GcpFallback = GcpFallback()
    logging: GcpLogging = GcpLogging()
    monitoring: GcpMonitoring = GcpMonitoring()

    @property
    def existing_name(self) -> str | None:
        """The existing cluster's name."""
        return self.existing_cluster.name if self.existing_cluster else None

    @property
    def place(self) -> str | None:
        """The cluster's location, whoever makes it."""
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
        return len(self.zones) or (1 if self.zonal else 3)


class GcpPins(Model):
    """What a release pins for GKE."""

    gcp_autoscaler: GcpAutoscaler = Field(
        title="GKE's cluster autoscaler",
        description="what a stack does not set in cloud.autoscaler",
        json_schema_extra=all_of(GcpAutoscaler),
    )


def pinned_autoscaler(release: Release) -> GcpAutoscaler:
    """The autoscaler's settings that a release pins."""
    assert isinstance(release, GcpPins)
    return release.gcp_autoscaler
