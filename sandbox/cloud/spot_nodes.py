"""Facts of a cloud's spot machines: what it says when there are none, and what it does when it takes one back.

Plain data, for the emulated cloud and for whatever plays time back.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sandbox.cloud.state import Record, Resources


@dataclass(frozen=True)
class Refusal:
    """The code and the words of a cloud without a spot machine; `{machine}`, `{region}`, `{zone}`, `{instance}` are filled in."""

    code: str
    words: str

    def text(self, machine: str, region: str, zone: str = "", instance: str = "") -> str:
        """Return the code and the words for one request; `instance` is the name of the machine that does not come."""
        said = self.words.format(machine=machine, region=region, zone=zone or region, instance=instance or "instance")
        return f"{self.code}: {said}"


@dataclass(frozen=True)
class Taint:
    """A taint of an evicted node."""

    key: str
    effect: str
    value: str = ""

    def as_object(self) -> dict[str, str]:
        return {"key": self.key, "effect": self.effect, **({"value": self.value} if self.value else {})}


@dataclass(frozen=True)
class Condition:
    """A condition of a node or pod. The message may name `{deadline}`, the time at which the machine goes."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str

    def as_object(self, deadline: str = "") -> dict[str, str]:
        """Return the condition as Kubernetes has it, without its times."""
        message = self.message.format(deadline=deadline)
        return {"type": self.type, "status": self.status, "reason": self.reason, "message": message}


@dataclass(frozen=True)
class SpotFacts:
    """One cloud's spot machines. Times are seconds."""

    notice: float
    """From the notice until the machine is gone."""
    reaction: float
    """From the notice until pods get SIGTERM."""
    grace: float
    """The longest grace that a pod gets, whatever it asks for; pods that are not critical to the system."""
    critical_grace: float
    """The same for pods of the classes system-cluster-critical and system-node-critical, after all others."""
    taint: Taint
    """The taint that keeps new pods off from the notice on."""
    condition: Condition
    """The node's condition from the notice on."""
    events: tuple[str, ...]
    """The reasons of the events of the node."""
    pods: Literal["deleted", "failed"]
    """What becomes of pods: "deleted" by a drain, or "failed" by the kubelet, and deleted with the node."""
    disruption: Condition
    """The condition of a pod that tells its Job that this was no failure of its own."""
    replaced: bool
    """Whether the group of machines asks for the machine again by itself, as its size stays."""
    partial: bool
    """Whether a request gets the machines that there are, where it asks for more; else none."""
    upgrade: Literal["drained", "noticed"]
    """How a spot node ends in an upgrade of its pool: after a drain, or with the notice of an eviction."""
    refused: Refusal
    """A request that is refused at once."""
    quota: Refusal
    """A request beyond the quota of spot machines, refused at once. With its numbers the cloud's `Excess` says it."""
    later: Refusal
    """A request that is accepted, of which the machines never come."""
    surfaced: bool
    """Whether the autoscaler learns of `later` before its `maxNodeProvisionTime` is over."""
    drained: bool = True
    """Whether the cloud itself keeps pods off and ends them; else a program in the cluster acts on the condition."""

    def within(self, notice: float | None) -> "SpotFacts":
        """Return the facts of a cloud that gives so many seconds of notice, which is often less than it promises."""
        if notice is None:
            return self
        left = max(0.0, notice - self.reaction)
        return replace(self, notice=notice, grace=min(self.grace, left), critical_grace=min(self.critical_grace, left))

    def extended(self, whole: float | None, critical: float | None) -> "SpotFacts":
        """Return the facts of a pool that sets the kubelet's whole shutdown period, and the part of critical pods of it."""
        if whole is None:
            return self
        kept = self.critical_grace if critical is None else critical
        return replace(self, notice=whole, grace=max(0.0, whole - kept), critical_grace=kept)


# Spot capacity and the states of machines, in an emulated cloud's memory.
#
# A bound is of a machine, everywhere or in one zone, and counts the spot machines of all pools. A state is of a single machine, by
# its node's name; a machine without one runs.

CAPACITY = "sandbox:SpotCapacity"
STATES = "sandbox:MachineStates"
"""No types of any provider: the program never sees them."""

State = Literal["noticed", "going", "stopped", "absent", "unready"]
"""Under notice of eviction; taken away, to be made anew; stopped by an eviction that keeps it; given, and never joined; joined, and
its kubelet is silent."""


@dataclass(frozen=True)
class Bound:
    """The number of spot machines that the cloud gives."""

    machine: str
    nodes: int
    zone: str = ""
    """Empty for all zones together."""
    silent: bool = False
    """Whether requests beyond it are accepted, of which the machines never come; else they are refused."""

    def covers(self, machine: str, zone: str) -> bool:
        return self.machine == machine and self.zone in ("", zone)

    @property
    def where(self) -> str:
        return f"{self.machine} in zone {self.zone}" if self.zone else self.machine


def bounds(resources: Resources) -> list[Bound]:
    """Return all bounds, in the order in which they were set."""
    return [Bound(**record.body) for record in resources.of_type(CAPACITY)]


def set_bound(resources: Resources, bound: Bound) -> None:
    """Set the bound of a machine in a zone or everywhere, instead of an earlier one."""
    body = {"machine": bound.machine, "nodes": bound.nodes, "zone": bound.zone, "silent": bound.silent}
    resources.put(Record(CAPACITY, _id(bound.machine, bound.zone), body))


def lift_bound(resources: Resources, machine: str, zone: str) -> None:
    """Remove the bound of a machine in a zone; those of all its zones too where `zone` is empty. A missing one is no error."""
    for bound in bounds(resources):
        if bound.machine == machine and zone in ("", bound.zone):
            resources.remove(_id(bound.machine, bound.zone))


def _id(machine: str, zone: str) -> str:
    return f"sandbox-capacity/{machine}@{zone}"


def states(resources: Resources, pool: Record) -> Mapping[str, State]:
    """Return the states of a pool's machines that have one."""
    record = resources.get(_states_id(pool))
    known: dict[str, State] = record.body["states"] if record else {}
    return known


def deadline(resources: Resources, pool: Record) -> str:
    """Return the end of the last notice to machines of a pool, as text; empty without one."""
    record = resources.get(_states_id(pool))
    return str(record.body.get("deadline", "")) if record else ""


def set_state(resources: Resources, pool: Record, names: Collection[str], state: State | None, until: str = "") -> None:
    """Give machines of a pool a state; None takes it away. `until` is the end of their notice, as text."""
    until = until or deadline(resources, pool)
    after = {name: known for name, known in states(resources, pool).items() if name not in names}
    if state:
        after |= dict.fromkeys(names, state)
    if after:
        resources.put(Record(STATES, _states_id(pool), {"states": after, "deadline": until}))
    else:
        resources.remove(_states_id(pool))


def in_state(resources: Resources, pool: Record, state: State) -> list[str]:
    return [name for name, known in states(resources, pool).items() if known == state]


def with_states(resources: Resources, pools: Collection[Record]) -> Iterator[Record]:
    """Return the pools with a machine that has a state."""
    return (pool for pool in pools if resources.get(_states_id(pool)))


def _states_id(pool: Record) -> str:
    # Below the pool, and so removed with it.
    return f"{pool.id}/machineStates"
