"""Expanders: choose the pool to scale up.

The rules are those of cluster-autoscaler 1.36.1 (expander/priority/readme.md, priority.go, and its recorded decisions), which reads
the ConfigMap by sigs.k8s.io/yaml 1.6 into `map[int][]string` and each expression by Go's regexp, which is RE2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import yaml

from sandbox.autoscaler.shapes import PodInfo

CONFIG_MAP = "cluster-autoscaler-priority-expander"

Tiers = dict[int, list[str]]

ONLY = "the only pool that can"

_NULLS = ("", "~", "null")
_LEAST = -1
"""Lower priorities never win: the search for the highest begins here."""


@dataclass(frozen=True)
class Option:
    """A pool that could grow: `nodes` more of them would take these `pods`."""

    group: str
    """The name of its scale set."""
    pool: str
    nodes: int
    pods: Sequence[PodInfo]
    waste: float = 0.0
    """The sum of the shares of CPU and memory that would stay free on the new nodes."""


def choose(expander: str, options: Sequence[Option], priorities: str | None, random: Random) -> tuple[Option, str]:
    """Return the option to take, and why; `expander` is one, or several with commas between, each of which filters
    what the one before left. `priorities` is the ConfigMap's text for `priority`, None without one. Raises
    ValueError for an unknown expander.
    """
    best, reasons = list(options), []
    for name in expander.split(","):
        best, why = _filtered(name, best, priorities)
        reasons += [why] if why else []
    chosen, why = draw(best, "; ".join(reasons), random)
    return chosen, why if len(options) > 1 else ONLY


def _filtered(expander: str, options: list[Option], priorities: str | None) -> tuple[list[Option], str]:
    """Return the options that an expander leaves to the one after it (expander/factory/chain.go). Raises ValueError
    for an unknown one.
    """
    match expander:
        case "random":
            return options, ""
        case "priority":
            return by_priority(options, priorities)
        case "least-waste":
            least = min(option.waste for option in options)
            return [option for option in options if option.waste == least], "least waste"
        case "most-pods":
            most = max(len(option.pods) for option in options)
            return [option for option in options if len(option.pods) == most], "takes most pods"
    raise ValueError(f"{expander!r} is no expander that is known here")


def draw(options: Sequence[Option], why: str, random: Random) -> tuple[Option, str]:
    """Return one of equally good options, and why it was chosen."""
    if len(options) > 1:
        drawn = "drawn from " + ", ".join(sorted(option.pool for option in options))
        why = f"{why}; {drawn}" if why else drawn
    return random.choice(options), why


def by_priority(options: Sequence[Option], priorities: str | None) -> tuple[list[Option], str]:
    """Return the options of the highest priority; all options where the ConfigMap names none of them."""
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
    """Return a group's priority: the highest with an expression that matches anywhere in its name; below `_LEAST` for none."""
    matching = (n for n, texts in tiers.items() if n >= _LEAST and any(_pattern(text).search(group) for text in texts))
    return max(matching, default=_LEAST - 1)


def parse(text: str) -> Tiers:
    """Return the tiers, `{50: ["^aks-t4-"], 10: [".*"]}`; of a repeated number the last. Raises ValueError for malformed text."""
    try:
        # The base loader leaves every scalar as it is written, and tells whether it was quoted.
        root = next(iter(yaml.compose_all(text, yaml.BaseLoader)), None)
    except yaml.YAMLError as wrong:
        raise ValueError(f"it is not YAML ({str(wrong).splitlines()[0]})") from wrong
    if not isinstance(root, yaml.MappingNode) or not root.value:
        raise ValueError("it is not an object of numbers")
    return {_number(key): _patterns(key.value, value) for key, value in root.value}


def _number(key: yaml.Node) -> int:
    """Return a key as JSON has it, a decimal text: `50`, `"50"`, `50.0` and `0x32` are the same."""
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
    if isinstance(node, yaml.ScalarNode) and node.style is None and node.value.lower() in _NULLS:
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise ValueError(f"{number} has no list")
    patterns = []
    # A number or truth value stays as it is written.
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode):
            raise ValueError(f"the list of {number} has an item that is no text")
        # A null becomes an empty text, which matches every name.
        patterns.append("" if item.style is None and item.value.lower() in _NULLS else item.value)
        _pattern(patterns[-1])
    return patterns


@lru_cache(maxsize=256)
def _pattern(text: str) -> Any:
    """Return a compiled expression. Raises ValueError for one that RE2 refuses."""
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        compiled = re2.compile(text, quiet)
    except re2.error as wrong:
        raise ValueError(f"{text!r} is not a regular expression of RE2: {wrong}") from wrong
    # Go's regexp refuses this one as well (pkg.go.dev/regexp/syntax).
    if re.search(r"(?<!\\)(\\\\)*\\C", text):
        raise ValueError(f"{text!r} is not a regular expression of Go: \\C")
    # Text to RE2, an error to Go: its parser (regexp/syntax/parse.go, parseInt) marks what is above 1e8 as too large.
    if any(int(number[:10]) > 10**8 for number in re.findall(r"(?<=[{,])[1-9][0-9]{8,}(?=[,}])", text)):
        raise ValueError(f"{text!r} is not a regular expression of Go: a count is too large")
    return compiled
