"""Pools -> node pools with labels, taints and priority tiers. The heart of the program: pure and small.

A pool is described once; everything that must agree with it (the cloud's pool resource, node agents' tolerations, the
autoscaler's preference) is derived here. Nothing derived depends on the order in which pools are written.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from string import ascii_lowercase

from config.clouds.traits import Added, Cloud, PoolClass
from config.model.pool import Capacity, Pool, Spot
from config.model.spec import ClusterSpec
from config.model.taint import Taint

PREFIX = "kubeflow-spot.dev"
"""Domain of the labels this program owns, the same on every cloud."""

POOL_LABEL = f"{PREFIX}/pool"
CAPACITY_LABEL = f"{PREFIX}/capacity"
ACCELERATOR_LABEL = f"{PREFIX}/accelerator"

GPU_TAINT = Taint(key="nvidia.com/gpu", value="present")
"""The admission plugin ExtendedResourceToleration, on in AKS and GKE, gives pods that ask for `nvidia.com/gpu` a toleration
of this key; another key would need one written in every pod (kubernetes PR 55839)."""

PLUGIN_CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""By its value a node's device plugin takes one of several configurations (k8s-device-plugin README, "Updating Per-Node
Configuration With a Node Label"). Here the value is the pool's POOL_LABEL (docs/adr/0013)."""

CRITICAL_ADDONS_TAINT = Taint(key="CriticalAddonsOnly", value="true")
"""learn.microsoft.com/azure/aks/use-system-pools"""


@dataclass(frozen=True)
class NodePool:
    """One pool as a cloud is to hold it: a pool of the stack file or an on-demand twin."""

    name: str
    """The cloud's name for it, with the generation."""
    label: str
    """The value of POOL_LABEL: the name without the generation, so that selectors outlive it."""
    source: Pool
    """The pool of the stack file this one stands for, for settings that are passed on as they are; a twin has its spot
    pool's."""
    twin: bool
    machine: str
    capacity: Capacity
    min_nodes: int
    max_nodes: int
    gpus: int
    gpu_model: str
    labels: Mapping[str, str]
    """All labels of its nodes that are known beforehand: the program's, the user's, and those the cloud adds by itself."""
    taints: tuple[Taint, ...]
    """All declared taints, in a fixed order; as `labels`."""
    zones: tuple[str, ...]
    spot: Spot | None
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that a pod's nodeSelector must name before the autoscaler grows the pool for it (`Cloud.pool_class`)."""
    largest_request: Mapping[str, str] = field(default_factory=dict)
    """By resource, the most that one pod can ask for and surely fits an empty node; nothing where that is not known."""

    @property
    def preemptible(self) -> bool:
        """Whether it is bought as Google's older kind of spot; `capacity` is SPOT then, as for every reclaimable pool."""
        return self.source.capacity == Capacity.PREEMPTIBLE and not self.twin


def has_plugin_config(pool: Pool) -> bool:
    """Whether a device plugin is to do anything but count whole GPUs on the pool's nodes."""
    return bool(pool.mig or pool.gpu_sharing)


def has_clouds_plugin(pool: Pool, cloud: Cloud) -> bool:
    """Whether the pool's GPUs are served by the device plugin that the cloud brings."""
    return cloud.brings_device_plugin(pool)


def spot_notice(pools: Iterable[Pool], cloud: Cloud) -> int | None:
    """Seconds between notice and end that every spot machine of these pools has; None where it is not known."""
    if cloud.spot_notice is None:
        return None
    notices = (cloud.own_notice(pool) or cloud.spot_notice for pool in pools if pool.reclaimable)
    return min(notices, default=cloud.spot_notice)


def spot_grace(pools: Iterable[Pool], cloud: Cloud) -> int:
    """Seconds of that notice a pod can count on, wherever in these pools it runs."""
    notice = spot_notice(pools, cloud)
    if notice is None or cloud.spot_notice is None:
        return cloud.spot_grace
    return notice - (cloud.spot_notice - cloud.spot_grace)


def twin_name(pool: Pool, cloud: Cloud) -> str | None:
    """The name of the pool's on-demand twin, None when it has none."""
    for step in pool.fallback:
        if step.on_demand:
            return step.on_demand.name or _fitted(pool.name, "od", cloud)
    return None


def cloud_name(pool: Pool, cloud: Cloud) -> str:
    """The cloud's name for a pool: its own, with its generation. A spot pool has none: its generation is its twin's."""
    return _fitted(pool.name, pool.generation, cloud) if pool.generation and not pool.reclaimable else pool.name


def twin_cloud_name(pool: Pool, cloud: Cloud) -> str | None:
    """The cloud's name for a pool's twin, with the generation; None when it has none."""
    name = twin_name(pool, cloud)
    return _fitted(name, pool.generation, cloud) if name and pool.generation and pool.reclaimable else name


def next_generation(pool: Pool, names: Iterable[str], cloud: Cloud) -> str:
    """The first letter after the pool's own, from b again after z, whose pool, or twin, is not among the cloud's `names`."""
    named = twin_cloud_name if pool.reclaimable else cloud_name
    letters = ascii_lowercase[1:]
    start = letters.index(pool.generation) + 1 if pool.generation else 0
    taken = set(names)
    return next(
        letter
        for letter in letters[start:] + letters[:start]
        if named(pool.model_copy(update={"generation": letter}), cloud) not in taken
    )


def _fitted(name: str, suffix: str, cloud: Cloud) -> str:
    """Name and suffix within the cloud's length; a name that must be cut keeps apart from others with the same start."""
    if len(name) + len(suffix) <= cloud.pool_name_length:
        return name + suffix
    digest = hashlib.sha256(name.encode()).hexdigest()[:3]
    return name[: cloud.pool_name_length - len(suffix) - len(digest)] + digest + suffix


def chain(pool: Pool) -> tuple[str, ...]:
    """The pool and the further spot pools to try, in order; the on-demand twin is not among them."""
    return (pool.name, *(step.pool for step in pool.fallback if step.pool))


def node_pools(spec: ClusterSpec, cloud: Cloud) -> tuple[NodePool, ...]:
    """Every pool beside the system pool, twins included, by name."""
    # Another plugin, such as the GPU operator's, may read the same label and would not know its value.
    own_plugin = spec.device_plugin.install != "never"
    pool_class = cloud.pool_class(spec, cloud)
    return tuple(sorted(_expand(spec, cloud, own_plugin, pool_class), key=lambda pool: pool.name))


def _expand(spec: ClusterSpec, cloud: Cloud, own_plugin: bool, pool_class: PoolClass | None) -> Iterator[NodePool]:
    for pool in spec.pools:
        name = cloud_name(pool, cloud)
        ours = own_plugin and pool.install_driver and not has_clouds_plugin(pool, cloud)
        configured = ours and has_plugin_config(pool)
        least, most = pool.least_nodes(spec.cloud), pool.most_nodes(spec.cloud)
        if least is None:
            least = 0 if cloud.gpus(pool)[0] or pool.reclaimable else pool.share_count(spec.cloud)
        yield _node_pool(pool, cloud, name, pool.name, pool.capacity, least, most, configured, pool_class)
        twin, label = twin_cloud_name(pool, cloud), twin_name(pool, cloud)
        if twin and label:
            most = next(step.on_demand.max_nodes for step in pool.fallback if step.on_demand)
            yield _node_pool(pool, cloud, twin, label, Capacity.ON_DEMAND, 0, most, configured, pool_class)


def _node_pool(
    pool: Pool,
    cloud: Cloud,
    name: str,
    label: str,
    bought: Capacity,
    least: int,
    most: int,
    configured: bool,
    pool_class: PoolClass | None,
) -> NodePool:
    count, model = cloud.gpus(pool)
    spot = bought != Capacity.ON_DEMAND
    capacity = Capacity.SPOT if spot else Capacity.ON_DEMAND
    added = cloud.added.get(bought, Added({}, ()))
    # A twin takes the user's own labels and taints from its spot pool, not the cloud's that a user may have repeated there.
    theirs = {key for key, _ in cloud.spot_labels}
    own_labels = {key: value for key, value in pool.labels.items() if key not in theirs}
    taints = {taint for taint in pool.taints if taint not in cloud.spot_taints} | set(added.taints)
    labels = {**own_labels, POOL_LABEL: label, CAPACITY_LABEL: capacity.value, **added.labels}
    if count:
        labels[ACCELERATOR_LABEL] = model
        taints.add(GPU_TAINT)
        if configured:
            labels[PLUGIN_CONFIG_LABEL] = label
    selector = {pool_class.key: pool_class.name} if pool_class and count and pool_class.may_join(pool) else {}
    if pool_class and selector:
        labels |= selector
        taints.add(pool_class.taint)
    return NodePool(
        name=name,
        label=label,
        source=pool,
        twin=label != pool.name,
        machine=cloud.size(pool.machine),
        capacity=capacity,
        min_nodes=least,
        max_nodes=most,
        gpus=count,
        gpu_model=model,
        labels=dict(sorted(labels.items())),
        taints=tuple(sorted(taints, key=str)),
        zones=tuple(sorted(pool.zones)),
        spot=(pool.spot or Spot()) if spot else None,
        selector=selector,
        largest_request=_largest_request(pool, cloud, count),
    )


_AGENTS = (500, 1024)
"""Millicores and MiB that DaemonSets take of a node: the cloud's, and those of monitoring and the like [inferred]."""


def _largest_request(pool: Pool, cloud: Cloud, gpus: int) -> dict[str, str]:
    machine = cloud.machine(pool.machine)
    if machine is None or cloud.allocatable is None:
        return {}
    cpu, memory = (has - taken for has, taken in zip(cloud.allocatable(machine, pool.max_pods), _AGENTS, strict=True))
    if cpu < 100 or memory < 1024:
        return {}
    found = {"cpu": f"{cpu // 100 * 100}m", "memory": f"{memory // 1024}Gi"}
    return {**found, GPU_TAINT.key: str(gpus)} if gpus else found


def growth_order(spec: ClusterSpec, cloud: Cloud) -> tuple[str, ...]:
    """Names of all pools, the system pool's among them, in the order in which the autoscaler is to grow them.

    Pools without GPUs stand first, the system pool behind them: a pod that tolerates everything must not buy a GPU. Each
    chain (spot, further spot, its on-demand twin) is tried whole: those that `growth.order` names, then that of the smallest
    machine. An on-demand pool of no chain stands before the first larger twin, for pods that are kept off spot. vCPUs stand for
    the price, which a stack file does not hold. No two share a rank: between equals the autoscaler chooses at random
    (docs/adr/0025).
    """
    pools = node_pools(spec, cloud)
    system = [spec.system_pool.name] if spec.system_pool else []
    without = _laid_out([pool for pool in pools if not pool.gpus], spec, cloud)
    return (*without, *system, *_laid_out([pool for pool in pools if pool.gpus], spec, cloud))


def _laid_out(pools: Iterable[NodePool], spec: ClusterSpec, cloud: Cloud) -> list[str]:
    wanted = {name: number for number, name in enumerate(spec.growth.order)}

    def key(pool: NodePool) -> tuple[float, tuple[float, float], str]:
        return (wanted.get(pool.source.name, math.inf), _size(pool, cloud), pool.name)

    by_size = sorted(pools, key=key)
    own = {pool.source.name: pool for pool in by_size if not pool.twin}
    twins = {pool.source.name: pool for pool in by_size if pool.twin}
    before: dict[str, list[str]] = {name: [] for name in own}
    for pool in own.values():
        for earlier, later in pairwise(name for name in chain(pool.source) if name in own):
            before[later].append(earlier)
    # Those that `growth.order` names stand where it says.
    single = [pool for pool in own.values() if pool.capacity == Capacity.ON_DEMAND and pool.source.name not in wanted]
    result: list[str] = []
    seen: set[str] = {pool.source.name for pool in single}

    def put(name: str) -> None:
        """A pool behind all that chains of others have before it. A cycle is an error of `config.rules`; this ends anyhow."""
        if name not in seen:
            seen.add(name)
            for earlier in sorted(before[name], key=lambda one: key(own[one])):
                put(earlier)
            result.append(own[name].name)

    for head in own.values():
        for name in chain(head.source):
            if name in own:
                put(name)
        if twin := twins.get(head.source.name):
            smaller = [pool for pool in single if _size(pool, cloud) < _size(twin, cloud)]
            single = [pool for pool in single if pool not in smaller]
            result += [pool.name for pool in (*smaller, twin)]
    return [*result, *(pool.name for pool in single)]


def _size(pool: NodePool, cloud: Cloud) -> tuple[float, float]:
    machine = cloud.machine(pool.machine)
    return (machine.vcpus, machine.memory_gib) if machine else (math.inf, math.inf)
