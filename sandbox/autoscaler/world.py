"""The world of one scan, and the hands by which the autoscaler changes it. Times are seconds of any one clock."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandbox.autoscaler.shapes import Object
from sandbox.cloud.node_groups import NodeGroup

Action = Literal["scale-up", "failed", "backoff", "scale-down", "note"]


@dataclass(frozen=True)
class World:
    """Everything that a scan looks at."""

    groups: Sequence[NodeGroup]
    """All pools; `nodes` has those too that have not registered."""
    nodes: Sequence[Object]
    pods: Sequence[Object]
    since: Mapping[str, float]
    """The time at which a pod or node object appeared, by its uid: the API server's timestamps are of another clock."""
    daemon_sets: Sequence[Object] = ()
    budgets: Sequence[Object] = ()
    """PodDisruptionBudgets."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """The autoscaler's settings, with AKS' keys."""
    priorities: str | None = None
    """The text of the priority expander's ConfigMap; None without one."""
    classes: Sequence[Object] = ()
    """ComputeClasses."""
    failed: frozenset[str] = frozenset()
    """Machines, by their nodes' names, of which the cloud says that it could not make them."""


@dataclass(frozen=True)
class Decision:
    """One decision, as the recordings have it. `group` is a node group's name, empty for the whole loop."""

    at: float
    action: Action
    group: str
    pool: str = ""
    before: int = 0
    after: int = 0
    until: float | None = None
    """The end of a back-off."""
    reason: str = ""


@dataclass(frozen=True)
class Failure:
    """The cause of a back-off, as the status shows it (clusterstate/api/types.go, BackoffInfo)."""

    code: str
    message: str = ""


class Hands(Protocol):
    """The autoscaler's requests to the cloud and the API server."""

    def grow(self, group: NodeGroup, by: int) -> None:
        """Ask for so many nodes more. Raises ScaleRefused when the cloud says no at once."""

    def remove(self, group: NodeGroup, nodes: Collection[str]) -> None:
        """Delete these machines. Raises ScaleRefused."""

    def taint(self, nodes: Collection[str]) -> None:
        """Mark nodes that are about to be deleted: no pod comes to them any more."""

    def untaint(self, nodes: Collection[str]) -> None:
        """Keep nodes after all."""

    def busy(self, node: str) -> bool:
        """Return whether a pod that is not a DaemonSet's has come to a node by now."""
        ...

    def evict(self, pod: Object, grace: float) -> bool:
        """Evict a pod by the API, with at most so many seconds to end; whether its PodDisruptionBudgets allow it."""
        ...

    def tolerate(self, pod: Object, tolerations: Sequence[Object]) -> None:
        """Give a waiting pod these tolerations instead of its own."""

    def decided(self, decision: Decision) -> None:
        """Log a decision."""
