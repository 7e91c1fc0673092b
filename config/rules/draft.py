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
from config.model.alerts import Alerts
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
from config.model.release import VERSION, Overridden, Override, Release, changed, pinned
from config.model.scheduling import Scheduling
from config.model.spec import ClusterSpec
from config.model.workloads import Workloads

S = TypeVar("S", bound=CloudSettings)
V = TypeVar("V")


@dataclass(frozen=True)
class Draft:
    """The readable parts, each perhaps without some of its fields (`config.stack_file.objects`)."""

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
    alerts: Alerts | None = None
    overrides: dict[int, Override] = field(default_factory=dict)
    """By index in the file."""
    production: bool = False
    """Whether the stack has a production stack's name."""
    accepts_examples: bool | None = None
    """Whether values of examples are warned of and not refused; None if the stack's cloud is
    unknown: then only ranges of callers are warned of."""

    def settings(self, model: type[S]) -> S | None:
        """Return the cloud's settings if they are of this model."""
        return self.cloud if isinstance(self.cloud, model) else None

    def new_cluster(self, model: type[S]) -> S | None:
        """Return the cloud's settings of this model for a new cluster; else None."""
        return self.settings(model) if self.makes_cluster else None

    @property
    def kubernetes_version(self) -> str | None:
        """The version of a new cluster; None if unknown or for an existing cluster."""
        if not self.makes_cluster or not self.release:
            return None
        return (self.own_version() or ("", self.release.kubernetes_version))[1]

    def own_version(self) -> tuple[str, str] | None:
        """Return path and Kubernetes version that the file sets in place of the release's, if any.

        Raise `config.model.fields.Unreadable` if it cannot be read.
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
        """Return the overrides, with their paths."""
        return [(f"overrides[{index}]", override) for index, override in self.overrides.items()]

    def written_pools(self) -> Iterator[tuple[str, AnyPool]]:
        """Yield the system pool and all others, with their paths."""
        if self.system_pool and self.makes_cluster:
            yield "systemPool", self.system_pool
        for index, pool in self.pools.items():
            yield f"pools[{index}]", pool

    def names_are_known(self) -> bool:
        """Return whether every pool of the file has a readable name."""
        return self.all_pools and len(self.of_pools(lambda pool: pool.name)) == len(self.pools)

    def spot_pools(self) -> list[Pool]:
        """Return the pools that are surely bought as spot."""
        return self.pools_where(lambda pool: pool.reclaimable)

    def pools_where(self, condition: Callable[[Pool], object]) -> list[Pool]:
        """Return the pools, without the system pool, whose condition can be read and is true."""
        return where(self.pools.values(), condition)

    def of_pools(self, read: Callable[[Pool], V]) -> list[V]:
        """Return the readable values of the pools, without the system pool."""
        return of_each(self.pools.values(), read)

    def spec(self) -> ClusterSpec:
        """Return the spec of a file without errors."""
        release, overrides = self.release, self._overrides()
        # Each is missing only together with a problem.
        assert release is not None
        assert self.cloud is not None
        return ClusterSpec(
            release=changed(release, overrides),
            overrides=tuple(
                Overridden(each.pin, each.value, pinned(release, each.pin), each.reason)
                for each in overrides
            ),
            cluster=self._protected(),
            cloud=self.cloud,
            systemPool=self.system_pool,
            pools=tuple(self.pools.values()),
            imagePullSecrets=tuple(self.image_pull_secrets.values()),
            devicePlugin=self.device_plugin or DevicePluginOptions(),
            dcgmExporter=self.dcgm_exporter or DcgmExporter(enabled=False),
            expander=self.expander or ExpanderOptions(),
            growth=self.growth or Growth(),
            scheduling=self.scheduling or Scheduling(),
            workloads=self.workloads or Workloads(),
            queueing=self.queueing or Queueing(),
            alerts=self.alerts,
        )

    def _protected(self) -> Cluster:
        """Return the cluster; a new one of a production stack is protected by default."""
        cluster = self.cluster or Cluster()
        if cluster.protect is not None or not self.makes_cluster:
            return cluster
        return cluster.model_copy(update={"protect": self.production})

    def _overrides(self) -> list[Override]:
        """Return the overrides under `overrides`, and that of `cluster`."""
        overrides = list(self.overrides.values())
        if self.cluster and self.cluster.kubernetes_version:
            assert self.cluster.reason  # `config.rules.cluster_rules` refuses a version without one
            version, reason = self.cluster.kubernetes_version, self.cluster.reason
            overrides.append(Override(pin="kubernetesVersion", value=version, reason=reason))
        return overrides


def most_nodes(pool: AnyPool, draft: Draft) -> int | None:
    """Return the most nodes of a pool; None if unknown."""
    return known(lambda: pool.most_nodes(draft.cloud), None)


def most_with_twin(pool: AnyPool, draft: Draft) -> int:
    """Return the most nodes of a pool and its twin together, as far as known."""
    steps = known(lambda: pool.fallback, ()) if isinstance(pool, Pool) else ()
    twins = of_each(steps, lambda step: step.on_demand.max_nodes if step.on_demand else 0)
    return (most_nodes(pool, draft) or 0) + sum(twins)


def own_machine(pool: AnyPool, cloud: Cloud) -> Machine | None:
    """Return the catalogue's machine of the pool; None if unknown.

    Raise `Unreadable` for another cloud's machine, which `rules.pool_rules` reports.
    """
    machine, maker = cloud.machine(pool.machine), registry.with_machine(pool.machine)
    if machine is None and cloud.makes_pools and maker not in (None, cloud):
        raise Unreadable("machine")
    return machine


def has_gpus(pool: Pool, cloud: Cloud) -> bool:
    """Return whether the pool's machines have GPUs.

    Raise `Unreadable` if the catalogue does not know the machine, and the file not its GPUs.
    """
    if own_machine(pool, cloud) is None and pool.gpus is None and cloud.makes_pools:
        raise Unreadable("gpus")
    return cloud.gpus(pool)[0] > 0


T = TypeVar("T")
Rule: TypeAlias = Callable[[Draft, Cloud], Iterator[Problem]]
PoolRule: TypeAlias = Callable[[str, Pool, Draft, Cloud], Iterator[Problem]]
ItemRule: TypeAlias = Callable[[str, T, Draft, Cloud], Iterator[Problem]]
TaintRule: TypeAlias = Callable[[str, int, Taint, Pool, Draft, Cloud], Iterator[Problem]]
StepRule: TypeAlias = Callable[[str, int, Fallback, Pool, Draft, Cloud], Iterator[Problem]]


def each(items: Callable[[Draft], Iterable[tuple[str, T]]]) -> Callable[[ItemRule[T]], Rule]:
    """Make a rule about the file from a rule about each of these items with their paths."""

    def about(rule: ItemRule[T]) -> Rule:
        @wraps(rule)
        def whole(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
            for path, item in items(draft):
                yield from until_unreadable(rule(path, item, draft, cloud))

        return whole

    return about


def each_step(rule: StepRule) -> PoolRule:
    """Make a rule about a pool from a rule about each step of its fallback."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, step in enumerate(pool.fallback):
            yield from until_unreadable(
                rule(f"{path}.fallback[{number}]", number, step, pool, draft, cloud)
            )

    return whole


def each_taint(rule: TaintRule) -> PoolRule:
    """Make a rule about a pool from a rule about each of its taints."""

    @wraps(rule)
    def whole(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for number, taint in enumerate(pool.taints):
            yield from until_unreadable(
                rule(f"{path}.taints[{number}]", number, taint, pool, draft, cloud)
            )

    return whole
