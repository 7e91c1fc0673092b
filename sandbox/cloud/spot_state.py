"""Spot capacity and the states of machines, in an emulated cloud's memory.

A bound is of a machine, everywhere or in one zone, and counts the spot machines of all pools. A state is of a single machine, by
its node's name; a machine without one runs.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sandbox.cloud.state import Record, Resources

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
    """All bounds, in the order in which they were set."""
    return [Bound(**record.body) for record in resources.of(CAPACITY)]


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
    """The states of a pool's machines that have one."""
    record = resources.get(_states_id(pool))
    known: dict[str, State] = record.body["states"] if record else {}
    return known


def deadline(resources: Resources, pool: Record) -> str:
    """The end of the last notice to machines of a pool, as text; empty without one."""
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
    """The pools with a machine that has a state."""
    return (pool for pool in pools if resources.get(_states_id(pool)))


def _states_id(pool: Record) -> str:
    # Below the pool, and so removed with it.
    return f"{pool.id}/machineStates"
