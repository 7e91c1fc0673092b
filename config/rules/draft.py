"""A stack file as far as it could be read, and rules about the items of its lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import TypeAlias, TypeVar

from config.base.problems import Problem
from config.clouds import registry
from config.clouds.tables import Machine
from config.clouds.traits import Cloud
from config.model.cluster import (
    CloudSettings,
    Cluster,
    DcgmExporter,
    DevicePluginOptions,
    ExpanderOptions,
    Growth,
    ImagePullSecret,
    Queueing,
)
from config.model.fields import Unreadable
from config.model.pool import AnyPool, Fallback, Pool, SystemPool, Taint
from config.model.reading import known, of_each, until_unreadable, where
from config.model.release import VERSION, Override, Release
from config.model.scheduling import Scheduling
from config.model.workloads import Workloads

S = TypeVar("S", bound=CloudSettings)
V = TypeVar("V")


@dataclass(frozen=True)
class Draft:
    """The parts that could be read, each perhaps without some of its fields (`config.stack_file.objects`)."""

    release: Release | None
    """With the pins of its file, not the stack's."""
    cluster: Cluster | None
    cloud: CloudSettings | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]
    """By index in the file."""
    all_pools: bool = True
    """Whether `pools` holds every pool of the file."""
    unread_pools: int = 0
    """Entries of the file's pools that `pools` lacks; 0 where the file has no list of pools."""
    image_pull_secrets: dict[int, ImagePullSecret] = field(default_factory=dict)
    """By index in the file."""
    makes_cluster: bool = True
    """Whether this stack makes the cluster, as far as is known."""
    device_plugin: DevicePluginOptions | None = None
    dcgm_exporter: DcgmExporter | None = None
    expander: ExpanderOptions | None = None
    growth: Growth | None = None
    scheduling: Scheduling | None = None
    workloads: Workloads | None = None
    queueing: Queueing | None = None
    overrides: dict[int, Override] = field(default_factory=dict)
    """By index in the file."""
    production: bool = False
    """Whether the stack has a production stack's name."""
    accepts_examples: bool | None = None
    """Whether values of examples are warned of and not refused; None where nobody knows what cloud the stack reaches:
    then only ranges of callers are warned of."""

    def settings(self, model: type[S]) -> S | None:
        """The cloud's settings when they are of this model; a rule of one cloud asks for its own."""
        return self.cloud if isinstance(self.cloud, model) else None

    def new_cluster(self, model: type[S]) -> S | None:
        """The cloud's settings of this model when the stack makes the cluster; else None."""
        return self.settings(model) if self.makes_cluster else None

    @property
    def kubernetes_version(self) -> str | None:
        """The version of a cluster that this stack makes; None when it makes none or the version is unknown."""
        if not self.makes_cluster or not self.release:
            return None
        return (self.own_version() or ("", self.release.kubernetes_version))[1]

    def own_version(self) -> tuple[str, str] | None:
        """The Kubernetes version that the file sets in place of the release's, after its path.

        Raises `config.model.fields.Unreadable` for one that cannot be read.
        """
        if self.cluster and self.cluster.kubernetes_version:
            return "cluster.kubernetesVersion", self.cluster.kubernetes_version
        for path, override in where(
            self.written_overrides(), lambda pair: pair[1].pin == "kubernetesVersion"
        ):
            if not re.fullmatch(VERSION, override.value):
                raise Unreadable("value")
            return f"{path}.value", override.value
        return None

    def written_overrides(self) -> list[tuple[str, Override]]:
        """The overrides, with their paths."""
        return [(f"overrides[{index}]", override) for index, override in self.overrides.items()]

    def written_pools(self) -> Iterator[tuple[str, AnyPool]]:
        """The system pool and all others, with their paths."""
        if self.system_pool and self.makes_cluster:
            yield "systemPool", self.system_pool
        for index, pool in self.pools.items():
            yield f"pools[{index}]", pool

    def names_are_known(self) -> bool:
        """Whether every pool of the file has a name that could be read."""
        return self.all_pools and len(self.of_pools(lambda pool: pool.name)) == len(self.pools)

    def spot_pools(self) -> list[Pool]:
        """The pools that surely are bought as spot."""
        return self.pools_where(lambda pool: pool.reclaimable)

    def pools_where(self, condition: Callable[[Pool], object]) -> list[Pool]:
        """The pools of which the condition can be read and is true; not the system pool."""
        return where(self.pools.values(), condition)

    def of_pools(self, read: Callable[[Pool], V]) -> list[V]:
        """The values of the pools, without those that cannot be read; not the system pool's."""
        return of_each(self.pools.values(), read)


def most_nodes(pool: AnyPool, draft: Draft) -> int | None:
    """The most nodes of a pool, None where it is unknown."""
    return known(lambda: pool.most_nodes(draft.cloud), None)


def most_with_twin(pool: AnyPool, draft: Draft) -> int:
    """The most nodes of a pool and its twin together, as far as it is known."""
    steps = known(lambda: pool.fallback, ()) if isinstance(pool, Pool) else ()
    twins = of_each(steps, lambda step: step.on_demand.max_nodes if step.on_demand else 0)
    return (most_nodes(pool, draft) or 0) + sum(twins)


def own_machine(pool: AnyPool, cloud: Cloud) -> Machine | None:
    """The catalogue's machine of the pool, None for one it does not know.

    Raises `Unreadable` for another cloud's machine, which `rules.pools` reports.
    """
    machine, maker = cloud.machine(pool.machine), registry.with_machine(pool.machine)
    if machine is None and cloud.makes_pools and maker not in (None, cloud):
        raise Unreadable("machine")
    return machine


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's machines have GPUs."""
    own_machine(pool, cloud)
    return cloud.gpus(pool)[0] > 0


T = TypeVar("T")
Rule: TypeAlias = Callable[[Draft, Cloud], Iterator[Problem]]
PoolRule: TypeAlias = Callable[[str, Pool, Draft, Cloud], Iterator[Problem]]
ItemRule: TypeAlias = Callable[[str, T, Draft, Cloud], Iterator[Problem]]
TaintRule: TypeAlias = Callable[[str, int, Taint, Pool, Draft, Cloud], Iterator[Problem]]
StepRule: TypeAlias = Callable[[str, int, Fallback, Pool, Draft, Cloud], Iterator[Problem]]


def each(items: Callable[[Draft], Iterable[tuple[str, T]]]) -> Callable[[ItemRule[T]], Rule]:
    """Make a rule about the file from a rule about each of these items, which come with their paths."""

    def about(rule: ItemRule[T]) -> Rule:
        @wraps(rule)
        def whole(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
            for path, item in items(draft):
                yield from until_unreadable(rule(path, item, draft, cloud))

        return whole

    return about


def each_step(rule: StepRule) -> PoolRule:
    """Make a rule about a pool from a rule about each step of its fallback, which comes with its path and number."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, step in enumerate(pool.fallback):
            yield from until_unreadable(
                rule(f"{path}.fallback[{number}]", number, step, pool, draft, cloud)
            )

    return whole


def each_taint(rule: TaintRule) -> PoolRule:
    """Make a rule about a pool from a rule about each of its taints, which comes with its path and number."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, taint in enumerate(pool.taints):
            yield from until_unreadable(
                rule(f"{path}.taints[{number}]", number, taint, pool, draft, cloud)
            )

    return whole
