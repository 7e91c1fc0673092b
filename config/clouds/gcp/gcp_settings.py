"""The settings of a GKE cluster, in Google's words where Kubernetes has none.

Sources: the GKE pages named beside the models
(docs.cloud.google.com/kubernetes-engine/docs/<page>), and the argument classes of pulumi-gcp 10.
Keys that AKS has too are the same (`config.clouds.azure.azure_settings`).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

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
from config.clouds.gcp.gcp_maintenance import GcpMaintenance
from config.clouds.gcp.gcp_storage_drivers import GcpStorageDrivers
from config.clouds.provider_properties import Properties
from config.model.cluster import CloudSettings
from config.model.fields import Cidr, Model, Some, Unreadable, optional, worded


class GcpExistingNetwork(Model):
    """An existing VPC network, perhaps in a Shared VPC's host project (page cluster-shared-vpc)."""

    project: ProjectId | None = optional(
        None, "A Shared VPC's host project. Default: the cluster's project.", "corp-network"
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
    grant_access: bool = optional(
        True,
        "In a Shared VPC: whether the stack grants Google's service agents their roles, or the "
        "owner.",
    )


class GcpNetwork(Model):
    """The VPC-native network of nodes, pods and Services (page alias-ips); mostly immutable."""

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read an existing network's name, or its resource name in a host project."""
        named = re.fullmatch(r"(?:.*projects/([\w-]+)/global/networks/)?([a-z][\w-]+)", text)
        if not named:
            return None
        return {"existing": {"project": named[1], "name": named[2]} if named[1] else {"name": text}}

    existing: GcpExistingNetwork | None = optional(
        None, "An existing network to use. Default: the stack makes one."
    )
    node_subnet: Cidr = optional(
        "10.8.0.0/20", "Addresses of the nodes: one address a node.", "10.8.0.0/20"
    )
    pod_cidr: Cidr = optional(
        "10.16.0.0/14", "Addresses of pods: a /24 for each node with 110 pods.", "10.16.0.0/14"
    )
    service_cidr: Cidr = optional(
        "10.20.0.0/20", "Addresses of Services inside the cluster.", "10.20.0.0/20"
    )
    control_plane_cidr: Cidr | None = optional(
        None,
        "A /28 for an old cluster's control plane; not needed from 1.29 on (page "
        "private-clusters).",
        "172.16.0.0/28",
    )
    private_nodes: bool = optional(True, "Whether nodes have only private addresses.")
    outbound_type: Literal["cloudNat", "none"] = optional(
        "cloudNat",
        "How private nodes reach the internet: `none` means by your own means or not at all.",
    )
    dataplane: Literal["v2", "legacy"] = optional(
        "v2",
        "What routes packets: `v2` is Cilium and enforces NetworkPolicy (page dataplane-v2).",
    )
    flow_log_sampling: float | None = optional(
        None,
        "The share of flows between nodes that VPC Flow Logs keep; Google bills by volume, which "
        "is high with training. Default: no flow logs.",
        0.1,
        gt=0,
        le=1,
    )


class GcpAccess(Model):
    """Access to the API server (pages network-isolation, authorized-networks)."""

    dns_endpoint: bool = optional(
        True, "Whether the API server has a DNS name, reached from anywhere and guarded by IAM."
    )
    ip_endpoint: Literal["public", "private", "none"] = optional(
        "public", "The API server's address: on the internet, in the network only, or none."
    )
    authorized_ranges: tuple[Cidr, ...] = optional(
        (), "Addresses that may reach the API server's address; empty: all.", ["198.18.4.0/24"]
    )
    roles_for_everybody: Literal["allowed", "authenticated", "refused"] = optional(
        "allowed",
        "Whether new RoleBindings may name everybody (page best-practices/rbac): `authenticated` "
        "refuses system:anonymous and system:unauthenticated; `refused` also "
        "system:authenticated, which has every Google account.",
    )
    security_group: str | None = optional(
        None,
        "The Google group gke-security-groups@DOMAIN, whose member groups RoleBindings can name.",
        "gke-security-groups@example.com",
        pattern=r"^gke-security-groups@[^@\s/]+\.[^@\s/]+$",
    )


class GcpFallback(Model):
    """The order in which GPU pools are tried (page about-custom-compute-classes)."""

    mode: Literal["compute-class", "affinity"] | None = optional(
        None,
        "`compute-class`: a ComputeClass holds the order; `affinity`: plain pools, GKE takes the "
        "cheapest. Default: compute-class when a GPU pool has a `fallback`, in a new cluster from "
        "Kubernetes 1.36 on.",
    )
    class_name: str = optional(
        "kubeflow-spot",
        "The ComputeClass' name; two stacks in one cluster need two names.",
        "kubeflow-spot",
        pattern=worded(
            r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
            "at most 63 of a-z, 0-9 and -, no - first or last, such as kubeflow-spot",
        ),
    )
    active_migration: bool = optional(
        False,
        "Move running pods back to a better pool; this evicts training that writes no checkpoints.",
    )
    consolidation_delay_minutes: Annotated[int, Field(ge=1)] | None = optional(
        None, "Minutes until an unused node of a GPU pool is removed. Default: GKE's own.", 5
    )
    when_unsatisfiable: Literal["DoNotScaleUp", "ScaleUpAnyway"] = optional(
        "DoNotScaleUp", "When no pool can grow: wait, or let GKE add nodes of its own choice."
    )


class GcpLogging(Model):
    """Logs in Cloud Logging, those of evicted pods among them (page about-logs)."""

    off: ClassVar[str] = "{components: []}"

    components: tuple[
        Literal["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"],
        ...,
    ] = optional(("SYSTEM_COMPONENTS", "WORKLOADS"), "Components whose logs are kept; empty: none.")


class GcpMonitoring(Model):
    """Metrics in Cloud Monitoring (page about-metrics)."""

    off: ClassVar[str] = "{components: [], managedPrometheus: false}"

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
    ] = optional(
        ("SYSTEM_COMPONENTS", "DCGM"),
        "Components whose metrics are kept; DCGM is GKE's exporter of GPU metrics; empty: none.",
    )
    managed_prometheus: bool = optional(
        True,
        "Whether Google's Prometheus collects these metrics and those that PodMonitorings name.",
    )


class GcpRegistry(Model):
    """An Artifact Registry repository the nodes may pull from."""

    project: ProjectId | None = optional(
        None, "The repository's project. Default: the cluster's project.", "corp-images"
    )
    location: RegistryLocation = Field(
        description="The repository's location.",
        examples=["europe-west4"],
    )
    repository: RegistryRepository = Field(
        description="The repository's name.", examples=["ml-images"]
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read the address of a repository, or of Container Registry, which is one by now."""
        path = text.removeprefix("https://")
        if new := re.fullmatch(r"([a-z0-9-]+)-docker\.pkg\.dev/([^/]+)/([^/]+)(/.*)?", path):
            return {"project": new[2], "location": new[1], "repository": new[3]}
        if old := re.fullmatch(r"((?:(asia|eu|us)\.)?gcr\.io)/([^/]+)(/.*)?", path):
            place = {"eu": "europe", None: "us"}.get(old[2], old[2])
            return {"project": old[3], "location": place, "repository": old[1]}
        return None


class GcpEncryption(Model):
    """Keys of yours in place of Google's (pages encrypting-secrets, using-cmek)."""

    secrets_key: KmsKeyReference | None = optional(
        None,
        "The Cloud KMS key that encrypts Secrets in etcd. Default: Google's key.",
        "projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/etcd",
    )
    boot_disk_key: KmsKeyReference | None = optional(
        None,
        "The Cloud KMS key of the nodes' boot disks; immutable on a pool. Default: Google's.",
        "projects/corp-keys/locations/europe-west4/keyRings/ml/cryptoKeys/disks",
    )
    grant_access: bool = optional(
        True,
        "Whether the stack lets Google's service agents use the keys; false: the keys' owner does.",
    )


class GcpExistingCluster(Model):
    """An existing GKE cluster: the stack only adds pools and the layer inside."""

    location: Location = Field(
        description="The cluster's place.",
        examples=["europe-west4"],
    )
    name: ClusterName = Field(description="The cluster's name.", examples=["shared-gke"])


class Gcp(CloudSettings):
    """GKE: a new cluster with what it needs, or pools in an existing one."""

    provider: Literal["gcp"] = Field(description="The cloud.")
    project: ProjectId = Field(
        description="The project's id; not its number or its name.", examples=["my-project"]
    )
    existing_cluster: GcpExistingCluster | None = optional(
        None, "An existing cluster to add pools to. Default: the stack makes a cluster."
    )
    location: Location | None = optional(
        None,
        "The cluster's place. Required for a new cluster.",
        "europe-west4",
    )
    zones: tuple[GcpZone, ...] = optional(
        (),
        "Zones of nodes whose pool names none; empty: GKE chooses.",
        ["europe-west4-a", "europe-west4-b"],
    )
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = optional(
        "REGULAR", "The channel in which GKE upgrades the cluster (page release-channels)."
    )
    network: GcpNetwork = optional(GcpNetwork(), "The network of nodes, pods and Services.")
    access: GcpAccess = optional(GcpAccess(), "Access to the API server.")
    service_account: ServiceAccountReference | None = optional(
        None,
        "An existing service account for the nodes. Default: the stack makes one.",
        "nodes@my-project.iam.gserviceaccount.com",
    )
    registries: tuple[GcpRegistry, ...] = optional((), "Repositories that nodes may pull from.")
    encryption: GcpEncryption = optional(GcpEncryption(), "Your own keys in place of Google's.")
    maintenance: GcpMaintenance | None = optional(
        None, "When GKE may upgrade, and when not. Default: at any time."
    )
    storage_drivers: GcpStorageDrivers = optional(
        GcpStorageDrivers(), "CSI drivers of volumes that GKE runs."
    )
    autoscaler: GcpAutoscaler = optional(
        GcpAutoscaler(), "The cluster autoscaler's settings where they differ from the release's."
    )
    fallback: GcpFallback = optional(GcpFallback(), "The order in which GPU pools are tried.")
    logging: GcpLogging = optional(GcpLogging(), "Logs that Cloud Logging keeps.")
    monitoring: GcpMonitoring = optional(GcpMonitoring(), "Metrics that Cloud Monitoring keeps.")
    # https://www.pulumi.com/registry/packages/gcp/api-docs/container/cluster/
    properties: Properties = optional(
        {},
        "Properties of the cluster without a key here, in the names of Pulumi's `Cluster`.",
        {"verticalPodAutoscaling": {"enabled": True}},
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
        """The zones of a pool that names none: three of a region (page regional-clusters)."""
        if isinstance(self.zones, Some):
            raise Unreadable("zones")
        return len(self.zones) or (1 if self.zonal else 3)
