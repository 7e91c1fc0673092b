"""Check that a scenario fits a stack: its machines, zones and pools exist there."""

from collections.abc import Iterator, Sequence

from pydantic.alias_generators import to_camel

from drill.world.record import Pool
from drill.world.scenario import FAULTS, Eviction, Fault, Place, Scenario
from sandbox.base.errors import SandboxError


def require_fit(scenario: Scenario, pools: Sequence[Pool]) -> None:
    """Raise SandboxError, with every problem, for a stack without spot or with other names."""
    if not any(pool.capacity == "spot" for pool in pools):
        raise SandboxError(
            "the stack has no spot pool: there is nothing that a drill could take away"
        )
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
        yield from _unknown(
            "capacity.machine", change.machine, sorted({pool.machine for pool in spot})
        )
        named = [pool for pool in spot if change.machine in ("*", pool.machine)] or spot
        yield from _unknown("capacity.zone", change.zone, _zones(named), "first")
    for name in FAULTS:
        place = getattr(fault, name)
        if isinstance(place, Eviction):
            yield from _unknown("evict.pool", place.pool, sorted(pool.name for pool in spot))
            named = [pool for pool in spot if place.pool in ("*", pool.name)] or spot
            yield from _unknown("evict.zone", place.zone, _zones(named))
        elif isinstance(place, Place):
            key, names = to_camel(name), sorted(pool.name for pool in pools)
            unknown = list(_unknown(f"{key}.pool", place.pool, names))
            yield from unknown
            if not unknown and not any(_concerns(place, pool) for pool in pools):
                which = "it" if place.pool == "*" else f"pool {place.pool!r}"
                yield (
                    f"{key}.capacity: {which} has nothing {place.capacity}:"
                    " leave `capacity` out, or write '*'"
                )


def _concerns(place: Place, pool: Pool) -> bool:
    return place.pool in ("*", pool.name) and place.capacity in ("*", pool.capacity)


def _zones(pools: Sequence[Pool]) -> list[str]:
    return sorted({zone for pool in pools for zone in pool.zones})


def _unknown(path: str, name: str, known: Sequence[str], *words: str) -> Iterator[str]:
    if name in ("*", *words, *known):
        return
    yield f"{path}: the stack has no {name!r}; it has {', '.join(known)}; '*' is all of them"
