"""Quotas: what pools draw from a limit, and whether the limit holds it.

The same arithmetic on every cloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.check import Remark, note, ok, some, wrong
from checks.preflight.demand import Need


@dataclass(frozen=True)
class Drawn:
    """One pool's part of one quota."""

    quota: str
    pool: str
    each: int
    """Units of one node: vCPUs or GPUs."""
    least: int
    """Nodes that an `up` asks for; 0 for a pool that starts at none."""
    first: int
    """The same, or 1 for a pool that has none: the first pod needs one."""
    most: int
    """Nodes that it may still get."""


def drawn_of(need: Need, quota: str, each: int, up: int) -> Drawn:
    """Return what a pool still draws from a quota; its `up` live nodes are counted as used
    already."""
    least, first, most = (max(0, count - up) for count in (need.least, need.first, need.most))
    return Drawn(quota, need.pool, each, least, first, most)


@dataclass(frozen=True)
class Limit:
    """A quota as the cloud counts it."""

    limit: float
    used: float

    @property
    def left(self) -> int:
        """Units that are free."""
        return max(0, int(self.limit - self.used))


def judge(
    drawn: Iterable[Drawn], limits: dict[str, Limit | None], unit: str, remedy: str
) -> Iterator[Remark]:
    """Compare each quota with what the pools draw; None is a limit that the cloud does not list.

    Less than the nodes of the first `up`, or one node of the largest pool, is wrong. Less than one
    node of each pool, or all pools at `maxNodes`, is a note: the pools of a chain are alternatives.
    """
    by_quota: dict[str, list[Drawn]] = {}
    for part in drawn:
        by_quota.setdefault(part.quota, []).append(part)
    fine: list[str] = []
    for quota, parts in sorted(by_quota.items()):
        limit = limits.get(quota)
        need = max(
            sum(part.each * part.least for part in parts),
            *(part.each * part.first for part in parts),
        )
        first = sum(part.each * part.first for part in parts)
        most = sum(part.each * part.most for part in parts)
        pools = some(part.pool for part in parts)
        if limit is None:
            yield note(
                f"{quota} is not listed; {pools} draw {first} to {most} {unit} from it", remedy
            )
        elif limit.left < need:
            yield wrong(
                f"{quota} has {limit.left} of {limit.limit:.0f} {unit} left; the first nodes of"
                f" {pools} need {need} at least",
                remedy,
            )
        elif limit.left < first:
            yield note(
                f"{quota} has {limit.left} {unit} left; one node of each of {pools} at the same"
                f" time needs {first}",
                remedy,
            )
        elif limit.left < most:
            yield note(
                f"{quota} has {limit.left} {unit} left; {pools} at maxNodes need {most}", remedy
            )
        else:
            fine.append(f"{quota} {limit.left} for {most}")
    if fine:
        yield ok(f"{unit} left for the pools at maxNodes: {', '.join(fine)}")


def reserved(pools: Iterable[str]) -> Iterator[Remark]:
    """Yield a note about reserved pools, whose machines were counted when they were reserved."""
    if names := some(pools):
        yield note(
            f"the machines of {names} are reserved, and their quota was counted then: it was not"
            " asked for them"
        )
