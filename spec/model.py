"""The vocabulary of a stack file: one frozen model per object, in Kubernetes' words.

Checks that need one field only are written on the field; checks across fields are in `spec.rules`. Deliberately knows no
cloud's API: a cloud's words live in `spec.clouds` and `components.<cloud>`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

LabelKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
    ),
]
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set"""

LabelValue = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")]
"""Same page as `LabelKey`: at most 63 characters, may be empty."""

Cidr = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
"""An IPv4 range such as `10.0.0.0/16`; `spec.rules` checks that it is one."""

Zone = Literal["1", "2", "3"]
Seconds = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*s$")]
Minutes = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*m$")]


class Model(BaseModel):
    """A frozen object with camelCase keys; a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, strict=False)


class Capacity(StrEnum):
    """How a machine is bought. Kubernetes has no word for it; `spot` and `on-demand` are the autoscalers' common ones."""

    SPOT = "spot"
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
    """A Kubernetes toleration of exactly one taint."""

    key: str
    operator: Literal["Equal"] = "Equal"
    value: str
    effect: Effect


class Spot(Model):
    """How a spot pool is bought; fixed for the life of the pool on Azure (learn.microsoft.com/azure/aks/spot-node-pool)."""

    eviction_policy: Literal["Delete", "Deallocate"] = "Delete"
    max_price: float = Field(
        -1,
        allow_inf_nan=False,
        description="US dollars per machine and hour, at most five decimals; -1: never evicted for price",
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
    min_nodes: int | None = Field(None, ge=0, description="of the whole pool; default 0 for GPU pools, 1 for others")
    max_nodes: int = Field(ge=1, description="of the whole pool")
    gpus: int | None = Field(
        None, ge=0, description="per machine; from the catalogue unless it does not know the machine"
    )
    gpu_model: LabelValue | None = Field(None, description="such as nvidia-t4; from the catalogue like `gpus`")
    spot: Spot | None = None
    fallback: tuple[Fallback, ...] = ()
    labels: dict[LabelKey, LabelValue] = {}
    taints: tuple[Taint, ...] = ()
    zones: tuple[Zone, ...] = ()


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


class Cluster(Model):
    """What the cluster is called and how well it is guarded."""

    name: str
    tags: dict[str, str] = {}
    protect: bool = Field(False, description="refuse to delete or replace the cluster")
    kubernetes_version: str | None = Field(
        None, pattern=r"^1\.\d\d(\.\d+)?$", description='a version such as "1.35", instead of the release\'s'
    )
    reason: str | None = Field(None, min_length=8, description="why kubernetesVersion differs from the release's")


class AzureAutoscaler(Model):
    """What AKS' cluster autoscaler is told, for all pools at once; unset fields come from the release.

    Source: learn.microsoft.com/azure/aks/cluster-autoscaler, section on the autoscaler profile.
    """

    scan_interval: Seconds | None = None
    max_node_provision_time: Minutes | None = None
    scale_down_delay_after_add: Minutes | None = None
    scale_down_unneeded_time: Minutes | None = None
    scale_down_unready_time: Minutes | None = None
    ok_total_unready_count: int | None = Field(None, ge=0)
    max_total_unready_percentage: int | None = Field(None, ge=0, le=100)


class AzureNetwork(Model):
    """The virtual network that is made for the cluster, and the ranges inside the cluster."""

    address_space: Cidr = "10.8.0.0/16"
    node_subnet: Cidr = "10.8.0.0/20"
    pod_cidr: Cidr = "10.244.0.0/16"
    service_cidr: Cidr = "10.0.0.0/16"


class Azure(Model):
    """An AKS cluster in a resource group of its own."""

    provider: Literal["azure"]
    location: str = Field(pattern=r"^[a-z0-9]+$", description="a region's short name, such as westeurope")
    resource_group: str | None = Field(
        None, pattern=r"^[-\w.()]{0,89}[-\w()]$", description="default: the cluster's name"
    )
    tier: Literal["Free", "Standard", "Premium"] = "Free"
    network: AzureNetwork = AzureNetwork()
    autoscaler: AzureAutoscaler = AzureAutoscaler()


class Release(Model):
    """A pinned bundle: everything a stack takes from the program unless its file says otherwise. Never changes once used."""

    name: str
    kubernetes_version: str
    device_plugin_image: str
    azure_autoscaler: AzureAutoscaler


class ClusterSpec(Model):
    """A whole stack file, checked."""

    release: Release
    cluster: Cluster
    cloud: Azure
    system_pool: SystemPool
    pools: tuple[Pool, ...] = ()

    @property
    def kubernetes_version(self) -> str:
        return self.cluster.kubernetes_version or self.release.kubernetes_version
