"""Pools of nodes, their taints and their fallback chains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from config.base.near import bare
from config.model.cluster import CloudSettings, GpuSharing
from config.model.fields import (
    GpuModel,
    LabelKey,
    LabelValue,
    Model,
    Some,
    Unreadable,
    Zone,
    optional,
)

_AS_TEXT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^=:\s]*))?(:(?P<effect>\w+))?")


class Effect(StrEnum):
    """Effects of a taint (kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration)."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Taint(Model):
    """A Kubernetes node taint."""

    key: LabelKey = Field(description="The taint's key.", examples=["example.com/team"])
    value: Annotated[LabelValue, Field(min_length=1)] = Field(
        description="The taint's value.", examples=["vision"]
    )
    effect: Effect = optional(
        Effect.NO_SCHEDULE, "What happens to pods that do not tolerate the taint."
    )

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read `key=value:Effect`, as kubectl and Azure's tools write it."""
        parts = _AS_TEXT.fullmatch(text)
        return {name: part for name, part in parts.groupdict().items() if part} if parts else None


class Toleration(Model):
    """A Kubernetes toleration of one taint, or of all taints of a key."""

    key: str
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str | None = None
    effect: Effect | None = None

    def as_manifest(self) -> dict[str, str]:
        """Return the toleration as in a pod's spec."""
        manifest: dict[str, str] = self.model_dump(mode="json", exclude_none=True)
        return manifest


class OnDemand(Model):
    """The on-demand twin of a spot pool: the same machine, which grows if spot cannot."""

    absent: ClassVar[Mapping[str, str]] = {
        "reservation": (
            "remove it: write an on-demand pool with `reservation` under `pools`, and name it as "
            "a step: `{pool: NAME}`"
        )
    }

    max_nodes: int = Field(ge=1, description="Most nodes on demand.", examples=[2])
    name: str | None = optional(
        None,
        "The twin's name. Default: the spot pool's name, cut to fit, with `od`.",
        "t4ondemand",
        min_length=1,
    )


_NO_POOL = ("ondemand", "none", "null", "no", "off")
"""Texts in place of a fallback that are no pool's name."""


class Fallback(Model):
    """One step of the chain that is tried if a spot pool cannot grow: another pool or the twin."""

    pool: str | None = optional(
        None,
        "Another spot pool, a flex-start pool, or an on-demand pool with a `reservation`.",
        "t4big",
        min_length=1,
    )
    on_demand: OnDemand | None = optional(None, "The on-demand twin; the last step of a chain.")

    one_key: ClassVar[bool] = True

    plain: ClassVar[str] = (
        "write `[{onDemand: {maxNodes: 2}}]`, or `[{pool: NAME}]`, or leave it out for none"
    )

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Read a pool's name."""
        return {"pool": text} if text and bare(text) not in _NO_POOL else None


class Capacity(StrEnum):
    """Purchase of a machine, in the autoscalers' common words `spot` and `on-demand`."""

    SPOT = "spot"
    PREEMPTIBLE = "preemptible"
    """Google's older kind of spot: gone after 24 hours at the latest."""
    FLEX_START = "flex-start"
    """Google's flex-start: machines come when available, are not evicted, and end at a set time."""
    ON_DEMAND = "on-demand"


class Spot(Model):
    """Purchase of spot machines: a cloud may have settings of it."""

    plain: ClassVar[str] = "write `capacity: spot` in place of `spot`"


class OsDisk(Model):
    """A node's system disk."""

    size_gb: int | None = optional(
        None, "The disk's size in GB. Default: the cloud's choice.", 128, ge=30, le=2048
    )


class Upgrade(Model):
    """Replacement of an on-demand pool's nodes by newer ones. Spot pools have no surge."""

    max_surge: str | None = Field(
        None,
        pattern=r"^(0|[1-9][0-9]{0,3}%?)$",
        description="Nodes that an upgrade adds at a time, in quotes; AKS: or a share. Default: 0.",
        examples=["1", "33%"],
    )
    max_unavailable: str | None = optional(
        None,
        "Nodes that an upgrade removes at a time, in quotes, where quota has no room for a surge; "
        "AKS: or a share. Default: 0.",
        "1",
        pattern=r"^(0|[1-9][0-9]{0,3}%?)$",
    )


class AnyPool(Model):
    """A group of equal machines that the cluster autoscaler scales.

    A stack file's pools have the clouds' own keys as well (`config.clouds.registry`).
    """

    name: str = Field(description="The pool's name; it is the pool's identity.", examples=["t4"])
    machine: str = Field(
        min_length=1,
        description="The cloud's name of the machine size.",
        examples=["Standard_NC4as_T4_v3", "g2-standard-8"],
    )
    min_nodes: int | None = None
    max_nodes: int | None = None
    zones: tuple[Zone, ...] = Field(
        (),
        description="Zones of the nodes; empty: on AKS none, on GKE those of the cluster.",
        examples=[["1", "2"], ["europe-west4-a"]],
    )
    os_disk: OsDisk = optional(OsDisk(), "The system disk of each node.")
    max_pods: int | None = optional(
        None, "Most pods on a node. Default: the cloud's.", 110, ge=10, le=250
    )
    upgrade: Upgrade | None = optional(
        None,
        "How newer nodes replace older ones. Default: one node more at a time (10% on AKS); "
        "on-demand GPU pools: one node less.",
    )

    def least_nodes(self, cloud: CloudSettings | None) -> int | None:
        """Return minNodes of the whole pool; None if the file omits it."""
        return self.min_nodes

    def most_nodes(self, cloud: CloudSettings | None) -> int:
        """Return maxNodes of the whole pool. Raise `Unreadable` if the file omits it."""
        if self.max_nodes is None:
            raise Unreadable("max_nodes")
        return self.max_nodes

    def zone_count(self, cloud: CloudSettings | None) -> int:
        """Return the zones that bounds of a zone count for. Raise `Unreadable` if unknown."""
        if isinstance(self.zones, Some):
            raise Unreadable("zones")
        return len(self.zones) or (cloud.zone_count if cloud else 1)


class Pool(AnyPool):
    """A pool for users' pods."""

    capacity: Capacity = optional(
        Capacity.ON_DEMAND,
        "How machines are bought. `spot`: cheaper, may be evicted; `preemptible`: Google's older "
        "spot; `flex-start`: Google's queue for GPUs, whose machines come later and end after "
        "`gcp.maxRunDuration`.",
    )
    reservation: str | None = optional(
        None,
        "Reserved capacity for this on-demand pool: on GKE a reservation's name, or "
        "projects/PROJECT/reservations/NAME; on AKS a capacity reservation group's id.",
        "l4-prod",
        min_length=1,
    )
    min_nodes: int | None = optional(
        None,
        "Least nodes of the whole pool. Default: 0 for GPU and spot pools, 1 for others.",
        0,
        ge=0,
    )
    max_nodes: int | None = optional(
        None,
        "Most nodes of the whole pool. Required, unless the cloud's own keys bound each zone.",
        8,
        ge=1,
    )
    gpus: int | None = optional(
        None,
        "GPUs of one machine. Default: the catalogue's; required for an unknown machine.",
        1,
        ge=0,
    )
    gpu_model: GpuModel | None = optional(
        None,
        "The GPUs' model. Default: the catalogue's; required where GPUs are attached.",
        "nvidia-t4",
    )
    spot: Spot | None = optional(None, "How spot machines are bought.")
    fallback: tuple[Fallback, ...] = optional(
        (),
        "What is tried, in this order, when the spot pool cannot grow.",
        [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2}}],
    )
    labels: dict[LabelKey, LabelValue] = optional(
        {},
        "Labels of the nodes, beside those that the program derives.",
        {"example.com/team": "vision"},
    )
    taints: tuple[Taint, ...] = optional(
        (),
        "Taints of the nodes, beside those that the program derives.",
        [{"key": "example.com/team", "value": "vision"}],
    )
    mig: Literal["1g", "2g", "3g", "4g", "7g"] | None = optional(
        None, "Cut each GPU into MIG instances of this size; each counts as one nvidia.com/gpu."
    )
    gpu_sharing: GpuSharing | None = optional(None, "Lets several pods run on each GPU.")
    install_driver: bool = optional(
        True, "Whether the cloud installs NVIDIA's driver; false for the GPU Operator's own."
    )
    generation: str | None = optional(
        None,
        "A letter, b first. Another letter makes a new on-demand pool before the old one is "
        "removed, to change what is immutable on a pool.",
        "b",
        pattern=r"^[b-z]$",
    )

    @property
    def reclaimable(self) -> bool:
        """Whether its machines end unasked: evicted, or at the end of their time."""
        return self.capacity != Capacity.ON_DEMAND

    @property
    def taken_back(self) -> bool:
        """Whether the cloud may take its machines back at any time."""
        return self.capacity in (Capacity.SPOT, Capacity.PREEMPTIBLE)

    def of_a_zone(self, bound: Literal[0, 1]) -> int | None:
        """Return the least (0) or most (1) nodes of each zone; None without such bounds."""
        return None

    def least_nodes(self, cloud: CloudSettings | None) -> int | None:
        """Return minNodes of the whole pool, also from bounds of a zone; None if omitted."""
        per_zone = self.of_a_zone(0)
        return self.min_nodes if per_zone is None else per_zone * self.zone_count(cloud)

    def most_nodes(self, cloud: CloudSettings | None) -> int:
        """Return maxNodes of the whole pool, also from bounds of a zone, or raise `Unreadable`."""
        per_zone = self.of_a_zone(1)
        if self.max_nodes is not None or per_zone is None:
            return super().most_nodes(cloud)
        return per_zone * self.zone_count(cloud)

    def share_count(self, cloud: CloudSettings | None) -> int:
        """Return the number of zones that the bounds count for: 1 if they bound the whole pool."""
        return self.zone_count(cloud) if self.of_a_zone(1) else 1


class SystemPool(AnyPool):
    """The on-demand pool that holds the cluster's own pods; there is exactly one."""

    absent: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("capacity", "spot", "fallback", "reservation"),
            "remove it: the system pool is always bought on demand",
        ),
        **dict.fromkeys(
            ("gpus", "gpuModel", "gpuSharing", "mig"),
            "remove it: the system pool has no GPUs; write a pool under `pools`",
        ),
        "taints": "remove it: `criticalAddonsOnly: true` is the system pool's only possible taint",
        "labels": "remove it: label a pool under `pools`",
    }

    name: str = optional("system", "The pool's name; it is the pool's identity.", "system")
    min_nodes: int = optional(2, "Least nodes of the pool.", ge=1)
    max_nodes: int = Field(ge=1, description="Most nodes of the pool.", examples=[4])
    critical_addons_only: bool = optional(
        False,
        "Whether the pool is tainted CriticalAddonsOnly=true:NoSchedule; needs another on-demand "
        "pool without taints.",
    )
    max_pods: int | None = optional(
        None, "Most pods on a node. Default: the cloud's.", 110, ge=30, le=250
    )
