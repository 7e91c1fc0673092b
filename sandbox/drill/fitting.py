"""Whether a scenario fits a stack: its machines, zones and pools exist there."""

from collections.abc import Iterator, Sequence

from pydantic.alias_generators import to_camel

from sandbox.base.errors import SandboxError
from sandbox.drill.record import Pool
from sandbox.drill.scenario import FAULTS, Eviction, Fault, Place, Scenario

_ANY = ("*", "first")


def require(scenario: Scenario, pools: Sequence[Pool]) -> None:
    """Raises SandboxError, with every problem, for a stack without spot pools, and for names that the stack does not have."""
    if not any(pool.capacity == "spot" for pool in pools):
        raise SandboxError("the stack has no spot pool: there is nothing that a drill could take away")
    problems = [
        f"  faults[{number}].{problem}"
        for number, fault in enumerate(scenario.faults)
        for problem in _problems(fault, pools)
    ]
    if problems:
        raise SandboxError("\n".join(["the scenario does not fit the stack:", *problems]))


def _problems(fault: Fault, pools: Sequence[Pool]) -> Iterator[str]:
    spot = [pool for pool in pools if pool.capacity == "spot"]
    if change := fault.capacity:
        yield from _unknown("capacity.machine", change.machine, sorted({pool.machine for pool in spot}))
        yield from _unknown("capacity.zone", change.zone, _zones(spot))
    for name in FAULTS:
        place = getattr(fault, name)
        if isinstance(place, Eviction):
            yield from _unknown("evict.pool", place.pool, sorted(pool.name for pool in spot))
            yield from _unknown("evict.zone", place.zone, _zones(spot))
        elif isinstance(place, Place):
            yield from _unknown(f"{to_camel(name)}.pool", place.pool, sorted(pool.name for pool in pools))


def _zones(pools: Sequence[Pool]) -> list[str]:
    return sorted({zone for pool in pools for zone in pool.zones})


def _unknown(path: str, name: str, known: Sequence[str]) -> Iterator[str]:
    if name not in (*_ANY, *known):
        yield f"{path}: the stack has no {name!r}; it has {', '.join(known)}"
