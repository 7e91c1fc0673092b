"""Which of the pools that could grow does: the autoscaler's expanders.

The rules are those of cluster-autoscaler 1.36.1 (expander/priority/readme.md, priority.go, and its recorded decisions), which reads
the ConfigMap by sigs.k8s.io/yaml 1.6 into `map[int][]string` and each expression by Go's regexp, which is RE2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from random import Random
from typing import Any

import yaml

from sandbox.cluster.autoscaler.resources import NONE
from sandbox.cluster.autoscaler.rooms import Pod

CONFIG_MAP = "cluster-autoscaler-priority-expander"

Tiers = dict[int, list[str]]

_ABSENT = ("", "~", "null")
_LEAST = -1
"""What is below never wins: the search for the highest number begins here."""


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
    if top < _LEAST:
        return list(options), f"{CONFIG_MAP} names none of them"
    best = [option for option in options if ranks[option.group] == top]
    after = sorted(option.pool for option in options if option not in best)
    return best, f"priority {top}" + (f", before {', '.join(after)}" if after else "")


def rank(tiers: Tiers, group: str) -> int:
    """A group's number: the highest with an expression found anywhere in its name; below `_LEAST` for none."""
    found = (n for n, patterns in tiers.items() if n >= _LEAST and any(_pattern(one).search(group) for one in patterns))
    return max(found, default=_LEAST - 1)


def parse(text: str) -> Tiers:
    """`{50: ["^aks-t4-"], 10: [".*"]}`; of a number that is there twice the last. Raises ValueError for what is malformed."""
    try:
        # The base loader leaves every scalar as it is written, and has a style for those in quotes.
        found = next(iter(yaml.compose_all(text, yaml.BaseLoader)), None)
    except yaml.YAMLError as wrong:
        raise ValueError(f"it is not YAML ({str(wrong).splitlines()[0]})") from wrong
    if not isinstance(found, yaml.MappingNode) or not found.value:
        raise ValueError("it is not an object of numbers")
    return {_number(key): _patterns(key.value, value) for key, value in found.value}


def _number(key: yaml.Node) -> int:
    """Numbers in JSON's keys are decimal texts, whatever they were in YAML: `50`, `"50"`, `50.0` and `0x32` are one."""
    if not isinstance(key, yaml.ScalarNode):
        raise ValueError(f"{key.value!r} is not a number")
    text = str(key.value)
    if key.style is None:
        text = text.replace("_", "")
        if re.fullmatch(r"[-+]?[0-9]{1,6}\.0*", text):
            text = text.partition(".")[0]
        elif re.fullmatch(r"[-+]?0([xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)", text):
            text = str(int(text, 0))
        elif re.fullmatch(r"[-+]?0[0-7]+", text):
            text = str(int(text, 8))
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        raise ValueError(f"{key.value!r} is not a number")
    return int(text)


def _patterns(number: str, node: yaml.Node) -> list[str]:
    if isinstance(node, yaml.ScalarNode) and node.style is None and node.value.lower() in _ABSENT:
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise ValueError(f"{number} has no list")
    patterns = []
    # A number or truth value stays as it is written.
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode):
            raise ValueError(f"{number} has a list of other things than texts")
        # What is absent becomes an empty text, which every name has in it.
        patterns.append("" if item.style is None and item.value.lower() in _ABSENT else item.value)
        _pattern(patterns[-1])
    return patterns


@lru_cache(maxsize=256)
def _pattern(text: str) -> Any:
    """Raises ValueError for what RE2 refuses."""
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        found = re2.compile(text, quiet)
    except re2.error as wrong:
        raise ValueError(f"{text!r} is not a regular expression of RE2: {wrong}") from wrong
    # The only thing that Go's refuses beside that (pkg.go.dev/regexp/syntax).
    if re.search(r"(?<!\\)(\\\\)*\\C", text):
        raise ValueError(f"{text!r} is not a regular expression of Go: \\C")
    return found
