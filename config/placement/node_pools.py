"""Pools -> node pools with labels and taints. The heart of the program: pure and small.

A pool is described once; what must agree with it (the cloud's pool, tolerations of node agents, the
autoscaler's preference) is derived here, independent of the order of pools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from config.clouds.traits import Added, Cloud, PoolClass
from config.model.cluster import GpuSharing
from config.model.pool import AnyPool, Capacity, Pool, SystemPool, Taint
from config.model.spec import ClusterSpec
from config.placement import object_names

PREFIX = "kubeflow-spot.dev"
"""Domain of the labels this program owns, the same on every cloud."""

POOL_LABEL = f"{PREFIX}/pool"
CAPACITY_LABEL = f"{PREFIX}/capacity"
ACCELERATOR_LABEL = f"{PREFIX}/accelerator"

GPU_TAINT = Taint(key="nvidia.com/gpu", value="present")
"""The admission plugin ExtendedResourceToleration, on in AKS and GKE, adds a toleration of this key
to pods that request `nvidia.com/gpu`; another key would need one in every pod (kubernetes PR
55839)."""

PLUGIN_CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The label that chooses a configuration of the node's device plugin (k8s-device-plugin README,
"Updating Per-Node Configuration With a Node Label"); its value is the pool's POOL_LABEL
(docs/adr/0019)."""

CRITICAL_ADDONS_TAINT = Taint(key="CriticalAddonsOnly", value="true")
"""learn.microsoft.com/azure/aks/use-system-pools"""


class Role(StrEnum):
    """The use of a node pool."""

    SYSTEM = "system"
    """The cluster's own pods; a cluster that a stack makes has one such pool."""
    USER = "user"
    """Users' pods."""


@dataclass(frozen=True, kw_only=True)
class NodePool:
    """A pool as a cloud has it: the system pool, one of the stack file, or a twin."""

    role: Role = Role.USER
    name: str
    """The cloud's name for it, with the generation."""
    label: str
    """The value of POOL_LABEL: the name without the generation, so that selectors outlive it."""
    source: AnyPool
    """The pool of the stack file that this one comes from; a twin has its spot pool."""
    twin: bool = False
    machine: str
    capacity: Capacity
    """SPOT, of either kind, FLEX_START or ON_DEMAND; also the value of CAPACITY_LABEL."""
    preemptible: bool = False
    """Whether it is bought as Google's older kind of spot."""
    min_nodes: int
    max_nodes: int
    gpus: int = 0
    gpu_model: str = ""
    mig: str | None = None
    """The size of the MIG instances that each GPU is cut into."""
    gpu_sharing: GpuSharing | None = None
    install_driver: bool = True
    """Whether the cloud installs NVIDIA's driver."""
    clouds_plugin: bool = False
    """Whether its GPUs are served by the device plugin that the cloud brings."""
    labels: Mapping[str, str]
    """Labels of its nodes: the program's, the user's, and those that the cloud adds."""
    taints: tuple[Taint, ...]
    """All declared taints, in a fixed order; as `labels`."""
    zones: tuple[str, ...]
    reservation: str | None = None
    """The capacity that it uses, as the cloud names it."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that a pod's nodeSelector must name for the pool to grow (`Cloud.pool_class`)."""
    largest_request: Mapping[str, str] = field(default_factory=dict)
    """The most that one pod can request and fits an empty node, by resource; empty if unknown."""

    @property
    def spot(self) -> bool:
        """Whether the cloud may take its machines back at any time."""
        return self.capacity == Capacity.SPOT

    @property
    def most_gpus(self) -> int:
        """GPUs, or shares of them, that pods can have together when the pool is at its largest."""
        return self.max_nodes * self.gpus * (self.gpu_sharing.replicas if self.gpu_sharing else 1)


@dataclass(frozen=True)
class _Stack:
    """Facts that all pools of a stack share."""

    cloud: Cloud
    own_plugin: bool
    """Whether the program's device plugin may be installed."""
    pool_class: PoolClass | None


def has_plugin_config(pool: Pool | NodePool) -> bool:
    """Return whether GPUs are cut or shared: the device plugin then needs a configuration."""
    return bool(pool.mig or pool.gpu_sharing)


def spot_notice(pools: Iterable[AnyPool], cloud: Cloud) -> int | None:
    """Return the seconds of notice of every spot machine of these pools; None if unknown."""
    if cloud.spot_notice is None:
        return None
    spot = (pool for pool in pools if isinstance(pool, Pool) and pool.taken_back)
    return min(
        (cloud.own_notice(pool) or cloud.spot_notice for pool in spot), default=cloud.spot_notice
    )


def spot_grace(pools: Iterable[AnyPool], cloud: Cloud) -> int:
    """Return the seconds of notice that a pod can count on in any of these pools."""
    notice = spot_notice(pools, cloud)
    if notice is None or cloud.spot_notice is None:
        return cloud.spot_grace
    return notice - (cloud.spot_notice - cloud.spot_grace)


def system_pool(pool: SystemPool, cloud: Cloud) -> NodePool:
    """Return the system pool of a new cluster."""
    return NodePool(
        role=Role.SYSTEM,
        name=pool.name,
        label=pool.name,
        source=pool,
        machine=cloud.size(pool.machine),
        capacity=Capacity.ON_DEMAND,
        min_nodes=pool.min_nodes,
        max_nodes=pool.max_nodes,
        labels=_own_labels(pool.name, Capacity.ON_DEMAND),
        taints=(CRITICAL_ADDONS_TAINT,) if pool.critical_addons_only else (),
        zones=tuple(sorted(pool.zones)),
        largest_request=_largest_request(pool, cloud, gpus=0),
    )


def node_pools(spec: ClusterSpec, cloud: Cloud) -> tuple[NodePool, ...]:
    """Return every pool beside the system pool, twins included, by name."""
    # Another plugin, such as the GPU operator's, may read the same label and not know its value.
    stack = _Stack(cloud, spec.device_plugin.install != "never", cloud.pool_class(spec))
    return tuple(sorted(_expand(spec, stack), key=lambda pool: pool.name))


def _expand(spec: ClusterSpec, stack: _Stack) -> Iterator[NodePool]:
    cloud = stack.cloud
    for pool in spec.pools:
        least, most = pool.least_nodes(spec.cloud), pool.most_nodes(spec.cloud)
        if least is None:
            empties = cloud.gpus(pool)[0] or pool.reclaimable or not spec.cloud.autoscaled
            least = 0 if empties else pool.share_count(spec.cloud)
        own = object_names.cloud_name(pool, cloud)
        yield _node_pool(pool, stack, own, pool.name, pool.capacity, (least, most))
        twin, label = object_names.twin_cloud_name(pool, cloud), object_names.twin_name(pool, cloud)
        if twin and label:
            most = next(step.on_demand.max_nodes for step in pool.fallback if step.on_demand)
            yield _node_pool(pool, stack, twin, label, Capacity.ON_DEMAND, (0, most))


def _own_labels(label: str, capacity: Capacity) -> dict[str, str]:
    return {CAPACITY_LABEL: capacity.value, POOL_LABEL: label}


def _node_pool(
    pool: Pool, stack: _Stack, name: str, label: str, bought: Capacity, bounds: tuple[int, int]
) -> NodePool:
    cloud, pool_class = stack.cloud, stack.pool_class
    count, model = cloud.gpus(pool)
    spot = bought in (Capacity.SPOT, Capacity.PREEMPTIBLE)
    capacity = Capacity.SPOT if spot else bought
    added = cloud.added.get(bought, Added({}, ()))
    clouds_plugin = cloud.brings_device_plugin(pool)
    # A twin takes labels and taints from its spot pool, except the cloud's own that the user
    # repeated.
    of_spot = {key for key, _ in cloud.spot_labels}
    users = {key: value for key, value in pool.labels.items() if key not in of_spot}
    taints = {taint for taint in pool.taints if taint not in cloud.spot_taints} | set(added.taints)
    labels = {**users, **_own_labels(label, capacity), **added.labels}
    if count:
        labels[ACCELERATOR_LABEL] = model
        taints.add(GPU_TAINT)
        if (
            has_plugin_config(pool)
            and stack.own_plugin
            and pool.install_driver
            and not clouds_plugin
        ):
            labels[PLUGIN_CONFIG_LABEL] = label
    selector = (
        {pool_class.key: pool_class.name}
        if pool_class and count and cloud.may_join_class(pool)
        else {}
    )
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
        preemptible=bought == Capacity.PREEMPTIBLE,
        min_nodes=bounds[0],
        max_nodes=bounds[1],
        gpus=count,
        gpu_model=model,
        mig=pool.mig,
        gpu_sharing=pool.gpu_sharing,
        install_driver=pool.install_driver,
        clouds_plugin=clouds_plugin,
        labels=dict(sorted(labels.items())),
        taints=tuple(sorted(taints, key=str)),
        zones=tuple(sorted(pool.zones)),
        reservation=None if pool.reclaimable else pool.reservation,
        selector=selector,
        largest_request=_largest_request(pool, cloud, count),
    )


_AGENTS = (500, 1024)
"""Millicores and MiB that DaemonSets take of a node, the cloud's and monitoring's [inferred]."""


def _largest_request(pool: AnyPool, cloud: Cloud, gpus: int) -> dict[str, str]:
    machine = cloud.machine(pool.machine)
    allocatable = cloud.allocatable(machine, pool.max_pods) if machine else None
    if allocatable is None:
        return {}
    cpu, memory = (has - taken for has, taken in zip(allocatable, _AGENTS, strict=True))
    if cpu < 100 or memory < 1024:
        return {}
    request = {"cpu": f"{cpu // 100 * 100}m", "memory": f"{memory // 1024}Gi"}
    return {**request, GPU_TAINT.key: str(gpus)} if gpus else request
