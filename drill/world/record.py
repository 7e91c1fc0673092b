"""The record of one drill as plain data. The report reads nothing else.

Times are seconds of the drill's own clock, from its start; None if something did not happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Capacity = Literal["spot", "on-demand"]
Role = Literal["training", "trial", "pipeline", "notebook", "predictor", "platform"]
"""The role of work in Kubeflow, whatever its Kubernetes kind."""

NodeEnd = Literal["evicted", "scale-down", "never registered", "lost", "upgraded"]
PodEnd = Literal["succeeded", "evicted", "drained", "failed", "removed"]
_Decided = Literal["scale-up", "refused", "backoff", "failed", "scale-down", "moved"]
EventKind = Literal[_Decided, "evicted", "capacity", "fault", "note"]


@dataclass(frozen=True)
class Pool:
    """A node pool. Prices are per node and hour; None if they are unknown."""

    name: str
    machine: str
    capacity: Capacity
    gpus: int
    least: int | None
    most: int | None
    """The bounds; None if the pool is not autoscaled."""
    zones: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    """The pools that take its work when it cannot grow, in their order."""
    price: float | None = None
    on_demand_price: float | None = None
    """The price of the same machine on demand."""


@dataclass
class Node:
    """One machine."""

    name: str
    pool: str
    zone: str
    requested: float
    registered: float | None = None
    ready: float | None = None
    """The time from which pods can run on it: it is Ready, and its GPUs are reported."""
    noticed: float | None = None
    """The time of the cloud's notice of eviction."""
    gone: float | None = None
    why: NodeEnd | None = None


@dataclass
class Pod:
    """One pod; an evicted pod and its replacement are two pods with the same `work`."""

    name: str
    """Namespace and name."""
    work: str
    """The piece of work: a Job and its completion index, a notebook, a replica of a Deployment."""
    role: Role
    kind: str
    """The workload kind: Job, StatefulSet, Deployment."""
    gpus: int
    spot: bool
    """Whether the workload may run on spot."""
    created: float
    bound: float | None = None
    node: str | None = None
    pool: str | None = None
    started: float | None = None
    ended: float | None = None
    how: PodEnd | None = None
    lost: float = 0.0
    """Seconds of work done since the last checkpoint when it was ended."""
    reach: tuple[str, ...] = ()
    """The pools that its constraints allow; empty if they are unknown."""


@dataclass
class Work:
    """One piece of work that ends, or that serves until the end of the drill."""

    name: str
    role: Role
    submitted: float
    needs: float | None
    """Seconds of work it needs; None if it serves until the end."""
    checkpoint: float | None
    """Seconds between checkpoints; None without checkpoints."""
    finished: float | None = None
    failed: str = ""
    """The reason why it will never finish; empty otherwise."""
    times: int = 0
    """The number of times it was finished."""
    at_once: int | None = None
    """The most pods of its Job at once; None if all pieces have a pod from the start."""


@dataclass(frozen=True)
class Step:
    """A change of the spot nodes of a machine in a zone; None for no bound."""

    at: float
    machine: str
    zone: str
    nodes: int | None


@dataclass(frozen=True)
class Event:
    """An event of the timeline: a decision of the autoscaler, a fault, an eviction."""

    at: float
    kind: EventKind
    pool: str
    text: str
    nodes: int = 0
    """The number of nodes that it concerns."""


@dataclass(frozen=True)
class Clock:
    """The passing of time: `factor` is None for a discrete clock that never waits."""

    length: float
    factor: float | None
    wall: float
    distortions: tuple[str, ...]
    """Sentences about what the clock changes."""


@dataclass
class Record:
    """One drill. `settings` has the autoscaler's profile with AKS' keys, such as `10m`."""

    scenario: str
    description: str
    stack: str
    provider: Literal["azure", "gcp"]
    location: str
    seed: int
    clock: Clock
    autoscaler: str
    """The program that decided: "stand-in" or "cluster-autoscaler 1.36.1"."""
    settings: Mapping[str, str]
    pools: list[Pool]
    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    capacity: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    price_source: str = ""
    """The source of the prices, and their date."""
    measured: str = ""
    """The source of the capacity, if it is drawn or from a trace."""
    accepted_wait: float = 900.0
    """Seconds that a pod may wait for a node: `growth.acceptedWait` of the stack file."""
    slowdown: float = 2.0
    """Work should be done within so many times its need."""
    shortage: str = ""
    """The signal of a shortage: `at-once`, `20s` or `provision-time`."""
    caveats: tuple[str, ...] = ()
    """Sentences at the head of the report."""
