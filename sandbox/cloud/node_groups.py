"""Node pools, as the autoscaler, the kubelets and `sandbox status` see them, and what a cloud implements for that."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandbox.cloud.state import Body, Record, Resources


class ScaleRefused(ValueError):
    """A pool is missing or cannot take the requested size."""


TAKEN_BACK = frozenset({"Spot", "Preemptible"})
"""Priorities of pools whose machines the cloud may take back."""


@dataclass(frozen=True)
class PoolStatus:
    """One pool as a status display shows it; `least` and `most` are None without autoscaling."""

    id: str
    cluster: str
    pool: str
    count: int
    least: int | None
    most: int | None
    size: str
    priority: str

    @property
    def spot(self) -> bool:
        return self.priority in TAKEN_BACK


@dataclass(frozen=True)
class Gpus:
    """The NVIDIA GPUs of one machine, each cut into `instances` by a MIG profile as the cloud spells it (`MIG1g`, `1g.5gb`); ""
    and 1 without one."""

    count: int
    memory_gb: int = 0
    """Memory of one GPU; 0 where it cannot be partitioned."""
    profile: str = ""
    instances: int = 1
    driver: bool = True
    """Whether the cloud installs the driver."""
    clients: int = 1
    """Number of pods that share one GPU or instance by the cloud's own device plugin."""

    @property
    def shown(self) -> int:
        """The GPUs that a node reports: each instance of a partitioned one and each client of a shared one counts."""
        return self.count * self.instances * self.clients


@dataclass(frozen=True)
class NodeGroup:
    """One pool. `least` and `most` are None where it is not autoscaled."""

    name: str
    """The cloud's group of machines, such as a scale set, by which the autoscaler knows it."""
    pool: str
    pool_id: str
    least: int | None
    most: int | None
    nodes: tuple[str, ...]
    """The names of its machines' nodes, of those too that have not joined yet."""
    template: dict[str, Any]
    gpus: Gpus | None
    floors: tuple[tuple[frozenset[str], int], ...] = ()
    """Lower bounds of zones, beside `least` of all: so many of these nodes stay."""
    zone_most: int | None = None
    """The most nodes of one zone, beside `most` of all; None without such a bound."""


@dataclass(frozen=True)
class NodeGroups:
    """A cluster's groups and its autoscaler's profile."""

    groups: list[NodeGroup] = field(default_factory=list)
    profile: Mapping[str, Any] = field(default_factory=dict)


class ScalableCloud(Protocol):
    """The requests of an autoscaler to a cloud. Ids are the cloud's own."""

    def node_groups(self, cluster_id: str) -> NodeGroups:
        """Return the cluster's pools as they are now; empty when it is gone."""

    def grow(self, pool_id: str, by: int) -> None:
        """Add so many nodes to an autoscaled pool, whatever its size is by now. Raises ScaleRefused."""

    def remove(self, pool_id: str, nodes: Collection[str]) -> None:
        """Remove these nodes, by name, from an autoscaled pool. Raises ScaleRefused."""

    def apply_nodes(self, cluster_id: str) -> None:
        """Make a cluster's nodes those of its pools; nothing when it is gone."""


MANY = 1 << 30
"""No bound."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of an autoscaled pool: those of all zones together, and those that hold in each zone."""

    least: int
    most: int
    zone_least: int = 0
    zone_most: int = MANY


class Machines(Protocol):
    """The machines of node pools, in the records of a cloud. Implemented by a cloud's module."""

    def bounds(self, pool: Body) -> Bounds | None:
        """Return the bounds of a pool; None for one that is not autoscaled."""

    def size(self, resources: Resources, pool: Record) -> int:
        """Return the number of machines of a pool."""
        ...

    def resize(self, resources: Resources, pool: Record, count: int, *, force: bool = False) -> None:
        """Give a pool so many machines. Raises ScaleRefused outside its bounds, unless by `force`."""

    def remove(self, resources: Resources, pool: Record, nodes: Collection[str]) -> None:
        """Remove these machines, by their nodes' names; a missing one is no error. Raises ScaleRefused below a bound."""

    def take(self, resources: Resources, pool: Record, nodes: Collection[str]) -> None:
        """Take these machines away, by their nodes' names, whatever the bounds say; a missing one is no error."""

    def zones(self, resources: Resources, pool: Record) -> dict[str, str]:
        """Return the machines of a pool by their nodes' names, oldest first, each with its zone as the cloud spells
        it; "" without one.
        """
        ...

    def settle(self, resources: Resources) -> None:
        """Bring the machines of every pool in line with its body."""


class NodeView(Protocol):
    """A cloud's nodes, as Kubernetes and the autoscaler see them. Implemented by a cloud's module."""

    def profile(self, cluster: Record) -> Mapping[str, Any]:
        """Return the autoscaler's profile."""
        ...

    def capacity(self, pool: Body) -> tuple[str, str]:
        """Return the machine of a pool and its priority: `Spot`, `Preemptible` or `Regular`."""
        ...

    def group(self, resources: Resources, cluster: Record, pool: Record) -> NodeGroup:
        """Return a pool as the autoscaler sees it."""
        ...

    def nodes(self, resources: Resources, cluster: Record, pool: Record) -> list[dict[str, Any]]:
        """Return the Node objects of a pool's machines."""
        ...


KUBELET = "kubeflow-spot.dev/kubelet"
"""An annotation of the sandbox: with the value `silent` nothing reports for the node's kubelet."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def silent() -> dict[str, str]:
    """Return the annotation of a node whose kubelet is silent."""
    return {KUBELET: "silent"}


def is_silent(node: Mapping[str, Any]) -> bool:
    return (node["metadata"].get("annotations") or {}).get(KUBELET) == "silent"


def base36(number: int, digits: int) -> str:
    """Return the last digits of a number to base 36, the highest first."""
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


def well_known_labels(name: str, machine: str, architecture: str, region: str, zone: str) -> dict[str, str]:
    """Return the labels that Kubernetes itself names (kubernetes.io, page labels-annotations-taints)."""
    return {
        "beta.kubernetes.io/arch": architecture,
        "beta.kubernetes.io/instance-type": machine,
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": architecture,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }


def resources(
    vcpus: int, memory_ki: int, disk_ki: int, pods: int, *, kept_cpu: int, kept_memory_ki: int, free_disk: int
) -> dict[str, dict[str, str]]:
    """Return capacity and allocatable of a machine: kept CPU in millicores, the disk that is free for pods in bytes."""
    shared = {"pods": str(pods), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    return {
        "capacity": {"cpu": str(vcpus), "memory": f"{memory_ki}Ki", "ephemeral-storage": f"{disk_ki}Ki", **shared},
        "allocatable": {
            "cpu": f"{vcpus * 1000 - kept_cpu}m",
            "memory": f"{memory_ki - kept_memory_ki}Ki",
            "ephemeral-storage": str(free_disk),
            **shared,
        },
    }


def node(
    name: str, labels: Mapping[str, str], provider_id: str, taints: list[dict[str, str]], status: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a Node as it registers: a device plugin is yet to report its GPUs."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"providerID": provider_id, **({"taints": taints} if taints else {})},
        "status": dict(status),
    }
