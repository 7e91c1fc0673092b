"""The content of the priority expander's ConfigMap: written, read, and judged as the cluster autoscaler would.

The highest number of a matching line counts; groups with the same number are chosen from at random, and a group without a
line is dropped as soon as another one has one. Source: kubernetes/autoscaler expander/priority/{readme.md,priority.go}.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import yaml

CATCH_ALL = 1
STEP = 10

Tiers = Mapping[int, Sequence[str]]
"""Regular expressions of node group names, by priority."""


@dataclass(frozen=True)
class Wanted:
    """The order in which pools are to grow."""

    spot: tuple[str, ...]
    """Names of spot pools, first choice first."""
    on_demand: tuple[str, ...]
    """The same of the on-demand pools, which come after all spot pools."""
    others: tuple[str, ...] = ()
    """On-demand pools of somebody else, which no spot pool may stand behind."""

    @property
    def order(self) -> tuple[str, ...]:
        return self.spot + self.on_demand


def expression(pool: str) -> str:
    """Matches the node group of one AKS pool: RE2, unanchored, hence `^` and `$` (scale set names from AKS' docs)."""
    return f"^aks-{pool}-[0-9]+-vmss$"


def tiers(wanted: Wanted, others: Tiers) -> dict[int, list[str]]:
    """The program's lines with others beside them.

    A group that matches nothing is dropped as soon as another one matches, hence `.*` at the bottom, for the system pool
    and pools made by hand.
    """
    result = {CATCH_ALL: [".*"]}
    for rank, pool in enumerate(reversed(wanted.order), start=1):
        result[STEP * rank] = [expression(pool)]
    for number, expressions in others.items():
        lines = result.setdefault(number, [])
        lines += [line for line in expressions if line not in lines]
    return dict(sorted(result.items(), reverse=True))


def written(tiers: Tiers) -> str:
    """As the autoscaler reads it: YAML from priority to a list, the highest first."""
    return "".join(
        f"{number}:\n" + "".join(f"  - {_scalar(line)}\n" for line in tiers[number])
        for number in sorted(tiers, reverse=True)
    )


def _scalar(line: str) -> str:
    """Plain where YAML surely reads it back as it is, else quoted."""
    return line if re.fullmatch(r"\^[^\s:#]*|\.\*", line) else quoted(line)


def quoted(line: str) -> str:
    """As a single-quoted YAML scalar, in which a backslash is one."""
    return "'" + line.replace("'", "''") + "'"


def read(text: str | None) -> dict[int, list[str]] | None:
    """The tiers in a ConfigMap's `priorities`; None for what the autoscaler would refuse, then choosing at random."""
    try:
        content = yaml.safe_load(text or "")
    except yaml.YAMLError:
        return None
    if not isinstance(content, dict) or not content:
        return None
    result: dict[int, list[str]] = {}
    for number, lines in content.items():
        if type(number) is not int or not isinstance(lines, list | None):
            return None
        if not all(isinstance(line, str | int | float) for line in lines or []):
            return None
        result[number] = [str(line) for line in lines or []]
    return result


def rank(tiers: Tiers, pool: str) -> int | None:
    """The number by which the autoscaler ranks an AKS pool; None when no line matches."""
    # The digits are a cluster's own; a line that asks for certain ones is not for us to judge.
    group = f"aks-{pool}-12345678-vmss"
    numbers = [number for number, lines in tiers.items() if any(_matches(line, group) for line in lines)]
    return max(numbers, default=None)


def _matches(line: str, group: str) -> bool:
    try:
        return re.search(line, group) is not None
    except re.error:
        return False  # RE2 that Python does not read


def faults(tiers: Tiers, wanted: Wanted) -> Iterator[str]:
    """Why pools would not grow in the wanted order; nothing when they would."""
    ranks = {pool: rank(tiers, pool) for pool in wanted.order}
    for pool, number in ranks.items():
        if number is None:
            yield f"no line matches {pool}"
    for before, after in pairwise(pool for pool in wanted.order if ranks[pool] is not None):
        if (ranks[before] or 0) <= (ranks[after] or 0):
            yield f"{before} ({ranks[before]}) does not stand above {after} ({ranks[after]})"
    for pool in wanted.spot:
        for other in wanted.others:
            number, theirs = ranks[pool], rank(tiers, other)
            if number is not None and theirs is not None and number <= theirs:
                yield f"{pool} ({number}) does not stand above {other} ({theirs}), which is on-demand"


def additions(tiers: Tiers, wanted: Wanted, last_digit: int = 0) -> dict[int, list[str]]:
    """Lines that give the wanted order when they are added to these, with numbers that are free.

    Spot pools go above all that is there. On-demand pools stay, where there is room, below the next line above them, which
    may be somebody else's spot pools. Numbers end in `last_digit` where there is room for that.
    """
    floor = max([rank(tiers, pool) or 0 for pool in wanted.on_demand], default=0)
    ceiling = min((number for number in tiers if number > floor), default=None)
    numbers = _between(floor, ceiling, len(wanted.on_demand), last_digit) if ceiling else []
    top = max([0, *tiers])
    if len(numbers) < len(wanted.on_demand):
        numbers = _above(top, len(wanted.on_demand), last_digit)
    numbers = numbers + _above(max([top, *numbers]), len(wanted.spot), last_digit)
    return {number: [expression(pool)] for number, pool in zip(reversed(numbers), wanted.order, strict=True)}


def _between(floor: int, ceiling: int, count: int, last_digit: int) -> list[int]:
    """That many free numbers, rising; none where there is no room."""
    for step in (STEP, 1):
        numbers = [number for number in range(floor + 1, ceiling) if number % step == last_digit % step][:count]
        if len(numbers) == count:
            return numbers
    return []


def _above(number: int, count: int, last_digit: int) -> list[int]:
    return [(number // STEP + 1 + index) * STEP + last_digit for index in range(count)]
