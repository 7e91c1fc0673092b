"""Quotas: what pools draw from a limit, and whether the limit holds it. The same arithmetic on every cloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ready.check import Said, note, ok, some, wrong


@dataclass(frozen=True)
class Drawn:
    """One pool's part of one quota."""

    quota: str
    pool: str
    each: int
    """Units of one node: vCPUs or GPUs."""
    first: int
    """Nodes of the first `up`, at least one."""
    most: int


@dataclass(frozen=True)
class Limit:
    """A quota as the cloud counts it."""

    limit: float
    used: float

    @property
    def left(self) -> int:
        """Units that are free."""
        return max(0, int(self.limit - self.used))


def judge(drawn: Iterable[Drawn], limits: dict[str, Limit | None], unit: str, remedy: str) -> Iterator[Said]:
    """Each quota against what the pools draw. None for a limit that the cloud does not list.

    Too little for one node of each pool is wrong: such a pool never gets a machine. Less than all pools at their `maxNodes` is a
    note: a chain falls back when a quota ends.
    """
    by_quota: dict[str, list[Drawn]] = {}
    for part in drawn:
        by_quota.setdefault(part.quota, []).append(part)
    fine: list[str] = []
    for quota, parts in sorted(by_quota.items()):
        limit = limits.get(quota)
        first, most = (
            sum(part.each * count for part, count in ((p, getattr(p, key)) for p in parts)) for key in ("first", "most")
        )
        pools = some(part.pool for part in parts)
        if limit is None:
            yield note(f"{quota} is not listed; {pools} draw {first} to {most} {unit} from it", remedy)
        elif limit.left < first:
            yield wrong(
                f"{quota} has {limit.left} of {limit.limit:.0f} {unit} left; the first nodes of {pools} need {first}",
                remedy,
            )
        elif limit.left < most:
            yield note(f"{quota} has {limit.left} {unit} left; {pools} at maxNodes need {most}", remedy)
        else:
            fine.append(f"{quota} {limit.left} for {most}")
    if fine:
        yield ok(f"{unit} left for the pools at maxNodes: {', '.join(fine)}")
