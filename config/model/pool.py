"""Pools of nodes: what the system pool and all others share, and what each has alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import Field, create_model

from config.model.cloud import CloudSettings
from config.model.fields import LabelKey, LabelValue, Model, Unreadable, Zone
from config.model.gpu import GpuSharing
from config.model.taint import Taint


class Capacity(StrEnum):
    """How a machine is bought. Kubernetes has no word for it; `spot` and `on-demand` are the autoscalers' common ones."""

    SPOT = "spot"
    PREEMPTIBLE = "preemptible"
    """Google's older kind of spot: gone after 24 hours at the latest."""
    ON_DEMAND = "on-demand"


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


class PoolOptions(Model):
    """One cloud's own settings of a pool, under a key that is called as the provider is, such as `gcp`."""

    zone_bounds: ClassVar[tuple[str, str] | None] = None
    """The fields with the least and the most nodes of each zone, in a cloud whose pools may be bounded so."""

    def of_a_zone(self, bound: Literal[0, 1]) -> int | None:
        """The least (0) or most (1) nodes of each zone; None when the pool is bounded as a whole."""
        number: int | None = getattr(self, self.zone_bounds[bound]) if self.zone_bounds else None
        return number


class AnyPool(Model):
    """A group of equal machines that the cluster autoscaler grows and shrinks: what the system pool has as well."""

    cloud_keys: ClassVar[tuple[str, ...]] = ()
    """The fields with `PoolOptions`; `with_options` adds them."""

    name: str
    machine: str = Field(min_length=1, description="the cloud's machine size, such as Standard_NC4as_T4_v3")
    min_nodes: int | None = None
    max_nodes: int | None = None
    zones: tuple[Zone, ...] = ()
    os_disk: OsDisk = OsDisk()
    max_pods: int | None = Field(None, ge=10, le=250, description="pods a node takes; default: the cloud's")
    subnet: str | None = Field(None, min_length=1, description="a name in cloud.network; default: the nodes' subnet")
    upgrade: Upgrade | None = None

    @property
    def options(self) -> PoolOptions | None:
        """The cloud's own settings of the pool, where the file has any."""
        own = (getattr(self, key) for key in self.cloud_keys)
        return next((options for options in own if options is not None), None)

    def least_nodes(self, cloud: CloudSettings | None) -> int | None:
        """minNodes of the whole pool, None when the file leaves it open."""
        return self.min_nodes

    def most_nodes(self, cloud: CloudSettings | None) -> int:
        """maxNodes of the whole pool. Raises `Unreadable` when the file does not say."""
        if self.max_nodes is None:
            raise Unreadable("max_nodes")
        return self.max_nodes

    def zone_count(self, cloud: CloudSettings | None) -> int:
        """The zones that bounds of a zone count for."""
        return len(self.zones) or (cloud.zone_count if cloud else 1)


class Pool(AnyPool):
    """A pool for users' pods."""

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
    mig: Literal["1g", "2g", "3g", "4g", "7g"] | None = Field(
        None, description="cut each GPU into MIG instances of this size; each then counts as one nvidia.com/gpu"
    )
    gpu_sharing: GpuSharing | None = Field(None, description="lets several pods run on each GPU")
    install_driver: bool = Field(True, description="false: no NVIDIA driver from the cloud, for the GPU operator's own")
    generation: str | None = Field(
        None,
        pattern=r"^[b-z]$",
        description="a letter, b first: makes a new on-demand pool before the old one goes, to change what is fixed",
    )

    @property
    def reclaimable(self) -> bool:
        """Whether the cloud may take its machines back."""
        return self.capacity != Capacity.ON_DEMAND

    def least_nodes(self, cloud: CloudSettings | None) -> int | None:
        """As `AnyPool.least_nodes`; the file may say it for each zone."""
        per_zone = self.options.of_a_zone(0) if self.options else None
        return self.min_nodes if per_zone is None else per_zone * self.zone_count(cloud)

    def most_nodes(self, cloud: CloudSettings | None) -> int:
        """As `AnyPool.most_nodes`, likewise."""
        per_zone = self.options.of_a_zone(1) if self.options else None
        if self.max_nodes is not None or per_zone is None:
            return super().most_nodes(cloud)
        return per_zone * self.zone_count(cloud)

    def share_count(self, cloud: CloudSettings | None) -> int:
        """How often the pool's bounds count: once for each zone where they are a zone's."""
        return self.zone_count(cloud) if self.options and self.options.of_a_zone(1) else 1


class SystemPool(AnyPool):
    """The on-demand pool that holds the cluster's own pods; there is exactly one."""

    name: str = "system"
    min_nodes: int = Field(2, ge=1)
    max_nodes: int = Field(ge=1)
    critical_addons_only: bool = Field(
        False, description="taint the pool CriticalAddonsOnly=true:NoSchedule; needs another untainted on-demand pool"
    )
    max_pods: int | None = Field(None, ge=30, le=250)


P = TypeVar("P", bound=AnyPool)


def with_options(pool: type[P], options: Mapping[str, type[PoolOptions]]) -> type[P]:
    """The model of a pool with a field for each cloud's own settings, by provider."""
    fields: dict[str, Any] = {
        provider: (model | None, Field(None, description=model.__doc__)) for provider, model in options.items()
    }
    made: type[P] = create_model(pool.__name__, __base__=pool, __doc__=pool.__doc__, **fields)
    made.cloud_keys = tuple(options)
    return made
