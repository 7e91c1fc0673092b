"""The traits of a cloud: labels, taints, names and limits, for placement and rules. No SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from config.clouds.tables import Attachable, Machine
from config.model.cluster import CloudSettings
from config.model.pool import Capacity, Pool, Taint
from config.model.spec import ClusterSpec


@dataclass(frozen=True)
class Added:
    """Labels and taints that every node of one capacity has, beside the pool's."""

    labels: Mapping[str, str]
    """The cloud puts them on by itself."""
    taints: tuple[Taint, ...]
    """The cloud's taints, or those that its pages use; the program declares them."""


@dataclass(frozen=True)
class PoolClass:
    """A class of pools with an order of growth, a label and a taint; pods ask by nodeSelector."""

    key: str
    name: str
    when_unsatisfiable: str = "DoNotScaleUp"
    """The autoscaler's answer when no pool of the class can grow."""
    active_migration: bool = False
    """Whether running pods move back to a better pool."""
    consolidation_delay_minutes: int | None = None
    """Minutes after which an unused node goes; None for the autoscaler's own."""

    @property
    def taint(self) -> Taint:
        """The taint that keeps pods which do not ask for the class off its pools."""
        return Taint(key=self.key, value=self.name)


class PoolBounds(NamedTuple):
    """The bounds of a pool, in nodes."""

    name: str
    least: int
    most: int
    reclaimable: bool


@dataclass(frozen=True)
class AutoscalerTimers:
    """What alerts know of the cluster autoscaler; the defaults are upstream's.

    github.com/kubernetes/autoscaler, cluster-autoscaler/FAQ.md, "What are the parameters to CA?"
    """

    unready_count: int = 3
    unready_percentage: int = 45
    scale_down: int = 20 * 60
    """Seconds after a scale-up, at most, until an unneeded node goes."""


@dataclass(frozen=True)
class RulesKind:
    """A kind of Kubernetes objects that hold rules of Prometheus."""

    api_version: str
    kind: str
    plural: str
    remedy: str
    """What to do in a cluster without the kind."""


class Cloud(Protocol):
    """The traits of a cloud for placement and rules; each cloud overrides what differs."""

    provider: str
    """The value of `cloud.provider`."""
    title: str
    article: str
    """The title's article: a or an."""
    cluster_name: str
    """Regular expression of the name of a cluster that is made here."""
    cluster_name_words: str
    """The form of such a name in words."""
    pool_name: str
    """Regular expression of a node pool's name."""
    pool_name_words: str
    """The form of such a name in words."""
    pool_name_length: int
    max_nodes: int
    """Most nodes of one pool, or of one zone of it."""
    max_nodes_are_of_a_zone: bool = False
    max_pools: int | None = None
    """Most node pools of a cluster, including the system pool and twins; None for no limit."""
    makes_pools: bool = True
    """False where a pool of the stack file describes existing nodes."""
    added: Mapping[Capacity, Added]
    """Additions by reclaimable capacity that the cloud has."""
    reserved_label_prefixes: tuple[str, ...] = ()
    """Label keys under these domains (and their subdomains) are the cloud's."""
    reserved_labels: frozenset[str] = frozenset()
    own_beginning: str = ""
    """Beginning of label keys that the cloud sets; whether it refuses others' is unknown."""
    zone_form: str
    """Regular expression of a zone."""
    zone_words: str
    spot_notice: int | None = None
    """Seconds between a spot machine's notice and its end; None where it is not known."""
    spot_grace: int
    """Seconds of that notice that a pod can count on."""
    spot_rest: str = ""
    """The users of the seconds of `spot_notice` that no pod can count on, for messages."""
    accelerators: Mapping[str, str] = {}
    """The cloud's own names of GPU models -> the catalogue's."""
    attachable: Mapping[str, Attachable] = {}
    """GPU models that machines without any may get."""
    mig: Mapping[str, tuple[str, ...]] = {}
    """Sizes of MIG instances, by GPU model."""
    storage_classes: frozenset[str] = frozenset()
    """Names of StorageClasses that the cloud brings."""
    priority_expander: bool = True
    """Whether the cluster autoscaler reads an order of node groups from a ConfigMap."""
    order_key: str = ""
    """The key of the stack file that says how pools are ordered instead."""
    support_ends: Mapping[str, str] = {}
    """The day after which a minor version of Kubernetes gets no more fixes, as far as announced."""
    rules_kind: RulesKind | None = None
    """What the cloud's own Prometheus reads rules from; None if they are no objects in a cluster."""
    cpu_machine: str = ""
    """A size to show in remedies."""
    gpu_machine: str = ""
    instead: Mapping[str, str] = {}
    """Remedies for other clouds' keys of a pool, as attributes, beyond removing them."""
    keys_of_added_pools: frozenset[str] = frozenset()
    """Keys of `cloud`, as attributes, that matter when the stack only adds pools to a cluster."""

    def autoscaler_timers(self, spec: ClusterSpec, pools: Sequence[PoolBounds]) -> AutoscalerTimers:
        """Return the limits and timers of the stack's autoscaler."""
        return AutoscalerTimers()

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The catalogue, by lower-cased size."""
        return {}

    def allocatable(self, machine: Machine, max_pods: int | None) -> tuple[int, int] | None:
        """Return a node's millicores and MiB for pods, DaemonSets included; rather too little than
        too much. None if unknown. `max_pods` None: the cloud's default.
        """
        return None

    def brings_device_plugin(self, pool: Pool) -> bool:
        """Return whether the GPU nodes of a pool come with a device plugin of the cloud."""
        return False

    def own_notice(self, pool: Pool) -> int | None:
        """Return the notice in seconds that the file asks for a spot pool."""
        return None

    def pool_class(self, spec: ClusterSpec) -> PoolClass | None:
        """Return the class of a stack's GPU pools; None where the stack has none."""
        return None

    def may_join_class(self, pool: Pool) -> bool:
        """Return whether the stack file lets a pool with GPUs be in the class."""
        return True

    def pool_zones(self, settings: CloudSettings | None, pool: Pool) -> tuple[tuple[str, ...], int]:
        """Return the zones that the file allows a pool, and the number that offer its machines (0:
        unknown).
        """
        return (), 0

    def durable_disks(self, settings: CloudSettings | None) -> tuple[str, Mapping[str, str]] | None:
        """Return driver and parameters of volumes that attach in several zones; None if unknown."""
        return None

    def workspace_disks(
        self, settings: CloudSettings | None
    ) -> tuple[str, Mapping[str, str]] | None:
        """Return the same of volumes for notebooks: of any size, and for machines with GPUs."""
        return self.durable_disks(settings)

    def machine(self, size: str) -> Machine | None:
        """Return the catalogue's machine of a size, in any case; None for an unknown size."""
        return self.machines.get(size.lower())

    def sold(self, **wanted: object) -> list[Machine]:
        """Return the sizes that are sold today and have these values: `cloud.sold(gpus=2)`."""
        return [
            machine
            for machine in self.machines.values()
            if machine.status == "current"
            and all(getattr(machine, name) == value for name, value in wanted.items())
        ]

    def size(self, written: str) -> str:
        """Return the size as the catalogue spells it; an unknown one as written."""
        machine = self.machine(written)
        return machine.size if machine else written

    def model(self, name: str) -> str:
        """Return the catalogue's name of a GPU model, from its own name or the cloud's."""
        return self.accelerators.get(name, name)

    def gpus(self, pool: Pool) -> tuple[int, str]:
        """Return number and model of a machine's GPUs, by catalogue or pool; 0 and "" for none."""
        machine = self.machine(pool.machine)
        if machine and not machine.attachable:
            return machine.gpus, machine.gpu_model
        return (pool.gpus, self.model(pool.gpu_model or "gpu")) if pool.gpus else (0, "")

    @property
    def spot_taints(self) -> tuple[Taint, ...]:
        """Taints of reclaimable nodes, of any capacity."""
        return tuple(taint for added in self.added.values() for taint in added.taints)

    @property
    def spot_labels(self) -> Iterator[tuple[str, str]]:
        """Labels by which such nodes are known."""
        for added in self.added.values():
            yield from added.labels.items()
