"""The record of one drill: everything that happened, as plain data. The report reads nothing else.

Times are seconds of the drill's own clock, from its begin; None for what did not happen before its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Capacity = Literal["spot", "on-demand"]
Role = Literal["training", "trial", "pipeline", "notebook", "predictor", "platform"]
"""The kind of work: what Kubeflow makes of it, whatever Kubernetes kind it is."""

NodeEnd = Literal["evicted", "scale-down", "never registered", "lost", "upgraded"]
PodEnd = Literal["succeeded", "evicted", "drained", "failed", "removed"]
EventKind = Literal[
    "scale-up",
    "refused",
    "backoff",
    "failed",
    "scale-down",
    "evicted",
    "capacity",
    "fault",
    "moved",
    "note",
]


@dataclass(frozen=True)
class Pool:
    """A node pool. Prices are per node and hour; None where none is known."""

    name: str
    machine: str
    capacity: Capacity
    gpus: int
    least: int | None
    most: int | None
    """The bounds; None where the pool is not autoscaled."""
    zones: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    """The pools that take its work when it cannot grow, in their order."""
    price: float | None = None
    on_demand_price: float | None = None
    """The price of the same machine on demand: what the work would cost without spot."""


@dataclass
class Node:
    """One machine."""

    name: str
    pool: str
    zone: str
    requested: float
    registered: float | None = None
    ready: float | None = None
    """The time from which pods can run on it: Ready, and its GPUs are reported."""
    noticed: float | None = None
    """The time of the cloud's notice of eviction."""
    gone: float | None = None
    why: NodeEnd | None = None


@dataclass
class Pod:
    """One pod; an evicted pod and the one that replaces it are two, with the same `work`."""

    name: str
    """Namespace and name."""
    work: str
    """The piece of work: a Job and its completion index, a notebook, a replica of a Deployment."""
    role: Role
    kind: str
    """The kind of its workload: Job, StatefulSet, Deployment."""
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
    """The pools that its constraints allow; empty where nobody recorded them."""


@dataclass
class Work:
    """One piece of work that ends, or serves until the end of the drill."""

    name: str
    role: Role
    submitted: float
    needs: float | None
    """Seconds of work it needs; None for one that serves until the end."""
    checkpoint: float | None
    """Seconds between checkpoints; None without any."""
    finished: float | None = None
    failed: str = ""
    """The reason why it will never finish; empty otherwise."""
    times: int = 0
    """How often it was finished: more than once is work done twice."""
    at_once: int | None = None
    """The most pods that the Job of this piece has at once; None where all pieces have theirs from the begin."""


@dataclass(frozen=True)
class Step:
    """A change of the spot capacity of a machine in a zone: the number of nodes that the cloud can give; None for no bound."""

    at: float
    machine: str
    zone: str
    nodes: int | None


@dataclass(frozen=True)
class Event:
    """Something to show on the timeline: a decision of the autoscaler, a fault, an eviction."""

    at: float
    kind: EventKind
    pool: str
    text: str
    nodes: int = 0
    """The number of nodes that it concerns."""


@dataclass(frozen=True)
class Clock:
    """How time passed: `factor` is None for a discrete clock that waits for nothing."""

    length: float
    factor: float | None
    wall: float
    distortions: tuple[str, ...] = ()
    """Sentences about what the clock changes."""


@dataclass
class Record:
    """One drill. `settings` has the autoscaler's profile with AKS' keys, in Kubernetes' notation (`10m`)."""

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
    """Where the prices are from, and their date."""
    measured: str = ""
    """Where the capacity is from, such as "drawn, by measurements on AWS"; empty for a scenario's own."""
    accepted_wait: float = 900.0
    """Seconds that a pod may wait for a node: `growth.acceptedWait` of the stack file, with its default."""
    slowdown: float = 2.0
    """Work should be done within so many times its need."""
    shortage: str = ""
    """How the cloud said that it had no machine: `at-once`, `20s` or `provision-time`."""
    caveats: tuple[str, ...] = ()
    """Sentences that stand before everything else in the report."""
