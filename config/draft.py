"""What could be read of a stack file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from config.clouds import registry
from config.clouds.machines import Machine
from config.clouds.traits import Cloud
from config.model.cloud import CloudSettings
from config.model.cluster import Cluster
from config.model.fields import Unreadable, readable
from config.model.gpu import DcgmExporter, DevicePluginOptions
from config.model.growth import ExpanderOptions, Growth
from config.model.image_pull_secret import ImagePullSecret
from config.model.pool import AnyPool, Pool, SystemPool
from config.model.release import VERSION, Override, Release
from config.model.scheduling import Scheduling

S = TypeVar("S", bound=CloudSettings)


@dataclass(frozen=True)
class Draft:
    """The parts that could be read, each perhaps without some of its fields (`config.objects`)."""

    release: Release | None
    """As its file has it."""
    cluster: Cluster | None
    cloud: CloudSettings | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]
    """By their index in the file."""
    all_pools: bool = True
    """Whether `pools` holds every pool of the file."""
    image_pull_secrets: dict[int, ImagePullSecret] = field(default_factory=dict)
    """By their index in the file."""
    made_here: bool = True
    """Whether this stack makes the cluster, as far as can be told."""
    device_plugin: DevicePluginOptions | None = None
    dcgm_exporter: DcgmExporter | None = None
    expander: ExpanderOptions | None = None
    growth: Growth | None = None
    scheduling: Scheduling | None = None
    overrides: dict[int, Override] = field(default_factory=dict)
    """By their index in the file."""
    production: bool = False
    """Whether the stack is called as production stacks are."""

    def settings(self, model: type[S]) -> S | None:
        """The cloud's settings when they are of this model; a rule of one cloud asks for its own."""
        return self.cloud if isinstance(self.cloud, model) else None

    def new_cluster(self, model: type[S]) -> S | None:
        """The same of a cluster that this stack makes; None when it makes none."""
        return self.settings(model) if self.made_here else None

    @property
    def kubernetes_version(self) -> str | None:
        """Of a cluster that this stack makes; None when it makes none or that cannot be told."""
        if not self.made_here or not self.release:
            return None
        return (self.own_version() or ("", self.release.kubernetes_version))[1]

    def own_version(self) -> tuple[str, str] | None:
        """The Kubernetes version that the file sets in place of the release's, after the path where it does.

        Raises `config.model.fields.Unreadable` for one that cannot be read.
        """
        if self.cluster and self.cluster.kubernetes_version:
            return "cluster.kubernetesVersion", self.cluster.kubernetes_version
        for index, one in self.overrides.items():
            if readable(one, "pin") and one.pin == "kubernetesVersion":
                if not re.fullmatch(VERSION, one.value):
                    raise Unreadable("value")
                return f"overrides[{index}].value", one.value
        return None

    def written_pools(self) -> Iterator[tuple[str, AnyPool]]:
        """The system pool and all others, with their paths."""
        if self.system_pool and self.made_here:
            yield "systemPool", self.system_pool
        for index, pool in self.pools.items():
            yield f"pools[{index}]", pool

    def names_are_known(self) -> bool:
        """Whether every pool of the file has a name that could be read."""
        return self.all_pools and all(readable(pool, "name") for pool in self.pools.values())

    def spot_pools(self) -> list[Pool]:
        """The pools that surely are bought as spot."""
        return [p for p in self.pools.values() if readable(p, "capacity") and p.reclaimable]


def most_nodes(pool: AnyPool, draft: Draft) -> int | None:
    """The most nodes of a pool, None where that cannot be told."""
    try:
        return pool.most_nodes(draft.cloud)
    except Unreadable:
        return None


def most_with_twin(pool: AnyPool, draft: Draft) -> int:
    """The most nodes of a pool and its twin together, as far as it can be told."""
    most = most_nodes(pool, draft) or 0
    steps = pool.fallback if isinstance(pool, Pool) and readable(pool, "fallback") else ()
    twins = [step.on_demand for step in steps if readable(step, "on_demand") and step.on_demand]
    return most + sum(twin.max_nodes for twin in twins if readable(twin, "max_nodes"))


def own_machine(pool: AnyPool, cloud: Cloud) -> Machine | None:
    """The catalogue's machine of the pool, None for one it does not know.

    Raises `Unreadable` for another cloud's: of that `rules.pools` says enough.
    """
    machine, maker = cloud.machine(pool.machine), registry.with_machine(pool.machine)
    if machine is None and cloud.makes_pools and maker not in (None, cloud):
        raise Unreadable("machine")
    return machine


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's machines have GPUs."""
    own_machine(pool, cloud)
    return cloud.gpus(pool)[0] > 0
