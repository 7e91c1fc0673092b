"""The vocabulary of a stack file: one frozen model per object, in Kubernetes' words.

Checks that need one field only are written on the field; checks across fields are in `config.rules`. Deliberately knows no
cloud's API: a cloud's words live in `config.clouds.traits` and `components.<cloud>`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from config.clouds.azure.settings import Azure
from config.clouds.existing.settings import Existing
from config.clouds.gcp.settings import Gcp, GcpNodes, GcpPool
from config.model.fields import LabelKey, LabelValue, Model, Namespace, Unreadable, Zone
from config.model.gpu import DcgmExporter, GpuSharing
from config.model.scheduling import Scheduling
from config.releases.release import KubernetesVersion, Overridden, Release


class Capacity(StrEnum):
    """How a machine is bought. Kubernetes has no word for it; `spot` and `on-demand` are the autoscalers' common ones."""

    SPOT = "spot"
    PREEMPTIBLE = "preemptible"
    """Google's older kind of spot: gone after 24 hours at the latest."""
    ON_DEMAND = "on-demand"


class Effect(StrEnum):
    """https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Taint(Model):
    """A Kubernetes node taint."""

    key: LabelKey
    value: Annotated[LabelValue, Field(min_length=1)]
    effect: Effect = Effect.NO_SCHEDULE

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"


class Toleration(Model):
    """A Kubernetes toleration of one taint, or of all taints of a key."""

    key: str
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str | None = None
    effect: Effect | None = None

    def as_manifest(self) -> dict[str, str]:
        """As a pod's spec has it."""
        manifest: dict[str, str] = self.model_dump(mode="json", exclude_none=True)
        return manifest


class Spot(Model):
    """How a spot pool is bought; fixed for the life of the pool on Azure (learn.microsoft.com/azure/aks/spot-node-pool)."""

    eviction_policy: Literal["Delete", "Deallocate"] = "Delete"
    max_price: float = Field(
        -1,
        allow_inf_nan=False,
        description="US dollars per machine and hour, at most five decimals; -1: never evicted for price",
    )


class OsDisk(Model):
    """A node's system disk. Unset: the cloud's own choice for the machine."""

    type: Literal["Managed", "Ephemeral"] | None = Field(
        None, description="Ephemeral: on the machine's local disk; faster, free, gone with the machine"
    )
    size_gb: int | None = Field(None, ge=30, le=2048, description="GB")


class Upgrade(Model):
    """How an on-demand pool's nodes are exchanged for newer ones. Spot pools have no surge."""

    max_surge: str | None = Field(
        None, pattern=r"^(0|[1-9][0-9]*%?)$", description='nodes or a share of them, such as "1" or "33%"'
    )
    max_unavailable: str | None = Field(
        None,
        pattern=r"^(0|[1-9][0-9]*%?)$",
        description="nodes or a share of them; for pools whose quota leaves no room",
    )


class OnDemand(Model):
    """An on-demand twin of a spot pool: the same machine, bought on demand."""

    max_nodes: int = Field(ge=1)
    name: str | None = Field(None, description="default: the spot pool's name, cut to fit, with `od`")


class Fallback(Model):
    """One step of the chain tried when a spot pool cannot grow: another spot pool, or the on-demand twin."""

    pool: str | None = Field(None, min_length=1)
    on_demand: OnDemand | None = None


class Pool(Model):
    """A group of equal machines that the cluster autoscaler grows and shrinks."""

    name: str
    machine: str = Field(min_length=1, description="the cloud's machine size, such as Standard_NC4as_T4_v3")
    capacity: Capacity = Capacity.ON_DEMAND
    min_nodes: int | None = Field(
        None, ge=0, description="of the whole pool; default 0 for GPU and spot pools, 1 for others"
    )
    max_nodes: int | None = Field(None, ge=1, description="of the whole pool; required, but for gcp.maxNodesPerZone")
    gpus: int | None = Field(
        None, ge=0, description="per machine; from the catalogue unless it does not know the machine"
    )
    gpu_model: LabelValue | None = Field(None, description="such as nvidia-t4; from the catalogue like `gpus`")
    spot: Spot | None = None
    fallback: tuple[Fallback, ...] = ()
    labels: dict[LabelKey, LabelValue] = Field({})
    taints: tuple[Taint, ...] = ()
    zones: tuple[Zone, ...] = ()
    os_disk: OsDisk = OsDisk()
    max_pods: int | None = Field(None, ge=10, le=250, description="pods a node takes; default: the cloud's")
    subnet: str | None = Field(None, min_length=1, description="a name in cloud.network; default: the nodes' subnet")
    mig: Literal["1g", "2g", "3g", "4g", "7g"] | None = Field(
        None, description="cut each GPU into MIG instances of this size; each then counts as one nvidia.com/gpu"
    )
    gpu_sharing: GpuSharing | None = Field(None, description="lets several pods run on each GPU")
    install_driver: bool = Field(True, description="false: no NVIDIA driver from the cloud, for the GPU operator's own")
    upgrade: Upgrade | None = None
    generation: str | None = Field(
        None,
        pattern=r"^[b-z]$",
        description="a letter, b first: makes a new on-demand pool before the old one goes, to change what is fixed",
    )
    gcp: GcpPool | None = Field(None, description="what GKE alone knows")

    @property
    def vanishes(self) -> bool:
        """Whether the cloud may take its machines back."""
        return self.capacity != Capacity.ON_DEMAND

    def least_nodes(self, cloud: Azure | Gcp | Existing | None) -> int | None:
        """minNodes of the whole pool, None when the file leaves it open."""
        per_zone = self.gcp.min_nodes_per_zone if self.gcp else None
        return self.min_nodes if per_zone is None else per_zone * self.zone_count(cloud)

    def most_nodes(self, cloud: Azure | Gcp | Existing | None) -> int:
        """maxNodes of the whole pool. Raises `Unreadable` when the file does not say."""
        per_zone = self.gcp.max_nodes_per_zone if self.gcp else None
        if self.max_nodes is None and per_zone is None:
            raise Unreadable("max_nodes")
        return self.max_nodes or (per_zone or 0) * self.zone_count(cloud)

    def share_count(self, cloud: Azure | Gcp | Existing | None) -> int:
        """How often the pool's bounds count: once for each zone where they are a zone's."""
        return self.zone_count(cloud) if self.gcp and self.gcp.max_nodes_per_zone else 1

    def zone_count(self, cloud: Azure | Gcp | Existing | None) -> int:
        """The zones that bounds of a zone count for."""
        return len(self.zones) or (cloud.zone_count if isinstance(cloud, Gcp) else 1)


class SystemPool(Model):
    """The on-demand pool that holds the cluster's own pods; there is exactly one."""

    name: str = "system"
    machine: str = Field(min_length=1)
    min_nodes: int = Field(2, ge=1)
    max_nodes: int = Field(ge=1)
    zones: tuple[Zone, ...] = ()
    critical_addons_only: bool = Field(
        False, description="taint the pool CriticalAddonsOnly=true:NoSchedule; needs another untainted on-demand pool"
    )
    os_disk: OsDisk = OsDisk()
    max_pods: int | None = Field(None, ge=30, le=250)
    subnet: str | None = Field(None, min_length=1, description="a name in cloud.network; default: the nodes' subnet")
    upgrade: Upgrade | None = None
    gcp: GcpNodes | None = Field(None, description="what GKE alone knows")

    def least_nodes(self, cloud: Azure | Gcp | Existing | None) -> int:
        """As `Pool.least_nodes`."""
        return self.min_nodes

    def most_nodes(self, cloud: Azure | Gcp | Existing | None) -> int:
        """As `Pool.most_nodes`."""
        return self.max_nodes


_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")


def is_production(stack: str) -> bool:
    """Whether a stack is called as production stacks are: prod or production, or so and more, such as prod-eu."""
    return _PRODUCTION.fullmatch(stack) is not None


class Cluster(Model):
    """What the cluster is called and how well it is guarded."""

    name: str | None = Field(None, description="of a cluster this stack makes; an existing one has its name in cloud")
    tags: dict[str, str] = Field({})
    protect: bool | None = Field(
        None,
        description="refuse to delete or replace the cluster; default: true in a stack called prod, production, prod-eu or so",
    )
    kubernetes_version: KubernetesVersion | None = Field(None, description="instead of the release's")
    reason: str | None = Field(None, min_length=8, description="why kubernetesVersion differs from the release's")


class ImagePullSecret(Model):
    """A Secret of type kubernetes.io/dockerconfigjson, for registries that a node's identity cannot pull from."""

    name: str = Field(
        pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$", description="a Secret's name, such as acr-auth"
    )
    server: str = Field(min_length=1, description="the registry's host, such as example.azurecr.io")
    username: str = Field(min_length=1)
    password: SecretStr = Field(min_length=1, description="set it with `pulumi config set --secret --path`")
    namespaces: tuple[Namespace, ...] = Field(("default",), min_length=1, description="namespaces that exist already")


class DevicePluginOptions(Model):
    """NVIDIA's device plugin."""

    install: Literal["auto", "never"] = Field(
        "auto", description="auto: on every GPU pool that no other device plugin in the cluster reaches"
    )


class ExpanderTier(Model):
    """Node groups made by somebody else, in the autoscaler's order of preference."""

    priority: int = Field(ge=1, description="the highest number grows first; the program's own are multiples of 10")
    groups: tuple[str, ...] = Field(min_length=1, description="regular expressions (RE2) of node group names")


class ExpanderOptions(Model):
    """The ConfigMap of the cluster autoscaler's priority expander, of which a cluster has one."""

    take_ownership: bool = Field(
        False, description="replace the ConfigMap that somebody else made in an existing cluster"
    )
    other_groups: tuple[ExpanderTier, ...] = Field((), description="further lines to keep in it")


class Growth(Model):
    """The order in which the autoscaler grows pools, where the program's own is not the wanted one."""

    order: tuple[str, ...] = Field(
        (),
        description="chains by their first pool, and on-demand pools, in the order in which they are tried; the others come "
        "after them, smaller machines first",
    )


class ClusterSpec(Model):
    """A whole stack file, checked."""

    release: Release
    """With the pins that the stack overrides."""
    overrides: tuple[Overridden, ...] = ()
    """Pins that are not the release's own, for the outputs."""
    cluster: Cluster
    cloud: Azure | Gcp | Existing
    system_pool: SystemPool | None
    """None for a cluster this stack does not make."""
    pools: tuple[Pool, ...] = ()
    image_pull_secrets: tuple[ImagePullSecret, ...] = ()
    device_plugin: DevicePluginOptions = DevicePluginOptions()
    dcgm_exporter: DcgmExporter = DcgmExporter(enabled=False)
    expander: ExpanderOptions = ExpanderOptions()
    growth: Growth = Growth()
    scheduling: Scheduling = Scheduling()

    @property
    def name(self) -> str:
        """The cluster's name, whoever makes it."""
        if isinstance(self.cloud, Existing):
            return self.cloud.name
        found = self.cloud.existing_cluster.name if self.cloud.existing_cluster else self.cluster.name
        assert found is not None  # `config.rules` refuses a cluster without a name
        return found

    @property
    def kubernetes_version(self) -> str:
        """Of a cluster this stack makes."""
        return self.release.kubernetes_version
