"""Which of the pools that could grow does: the autoscaler's expanders.

The rules are those of cluster-autoscaler 1.36.1 (expander/priority/readme.md, priority.go, and its recorded decisions).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import yaml

from sandbox.autoscaler.resources import NONE
from sandbox.autoscaler.rooms import Pod

CONFIG_MAP = "cluster-autoscaler-priority-expander"

# What Go's RE2 refuses and Python's re does not: lookaround, backreferences, atomic groups, possessive quantifiers. RE2's own
# classes ([[:alpha:]], \pL) Python does not know, or reads otherwise: they are refused too.
_NOT_RE2 = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9pP]|\(\?(?:[=!>(]|<[=!]|P=)|[*+?}]\+|\[\[:")

Tiers = dict[int, list[str]]


@dataclass(frozen=True)
class Option:
    """A pool that would take `pods` with so many more `nodes`."""

    group: str
    """The name of its scale set."""
    pool: str
    pool_id: str
    size: int
    nodes: int
    pods: Sequence[Pod]
    waste: Decimal = NONE
    """The shares of CPU and memory of the new nodes that would stay free, added."""


def choose(expander: str, options: Sequence[Option], priorities: str | None, random: Random) -> tuple[Option, str]:
    """One of the options, and why. `priorities` is the ConfigMap's text for the expander `priority`, None without one."""
    best, why = list(options), ""
    if expander == "priority":
        best, why = by_priority(options, priorities)
    elif expander == "least-waste":
        least = min(option.waste for option in options)
        best, why = [option for option in options if option.waste == least], "least waste"
    elif expander == "most-pods":
        most = max(len(option.pods) for option in options)
        best, why = [option for option in options if len(option.pods) == most], "takes most pods"
    if len(best) > 1:
        drawn = ", ".join(sorted(option.pool for option in best))
        why = f"{why}; drawn from {drawn}" if why else f"drawn from {drawn}"
    chosen = random.choice(best)
    return chosen, why if len(options) > 1 else "the only pool that can"


def by_priority(options: Sequence[Option], priorities: str | None) -> tuple[list[Option], str]:
    """The options of the highest number that has any; all of them where the ConfigMap says nothing of any."""
    if priorities is None:
        return list(options), f"no {CONFIG_MAP}"
    try:
        tiers = parse(priorities)
    except ValueError as wrong:
        return list(options), f"{CONFIG_MAP} is not used: {wrong}"
    ranks = {option.group: rank(tiers, option.group) for option in options}
    top = max(ranks.values())
    if top < 0:
        return list(options), f"{CONFIG_MAP} names none of them"
    best = [option for option in options if ranks[option.group] == top]
    after = sorted(option.pool for option in options if option not in best)
    return best, f"priority {top}" + (f", before {', '.join(after)}" if after else "")


def rank(tiers: Tiers, group: str) -> int:
    """A group's number: the highest with an expression found anywhere in its name; -1 for none. Negative numbers never win."""
    found = (n for n, patterns in tiers.items() if n >= 0 and any(re.search(one, group) for one in patterns))
    return max(found, default=-1)


def parse(text: str) -> Tiers:
    """`{50: ["^aks-t4-"], 10: [".*"]}`; of a number that is there twice the last. Raises ValueError for what is malformed."""
    try:
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as wrong:
        raise ValueError(f"it is not YAML ({str(wrong).splitlines()[0]})") from wrong
    if not isinstance(found, dict) or not found:
        raise ValueError("it is not an object of numbers")
    for number, patterns in found.items():
        if type(number) is not int:
            raise ValueError(f"{number!r} is not a number")
        if patterns is not None and not isinstance(patterns, list):
            raise ValueError(f"{number} has no list")
        for pattern in patterns or []:
            _check(pattern)
    return {number: patterns or [] for number, patterns in found.items()}


def _check(pattern: Any) -> None:
    if not isinstance(pattern, str):
        raise ValueError(f"{pattern!r} is not a text")
    try:
        re.compile(pattern)
    except re.error as wrong:
        raise ValueError(f"{pattern!r} is not a regular expression: {wrong}") from wrong
    if _NOT_RE2.search(pattern):
        raise ValueError(f"{pattern!r} is not a regular expression of RE2")
