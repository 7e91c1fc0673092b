"""The content of the priority expander's ConfigMap: written, read, and judged as the cluster
autoscaler does.

The highest number of a matching line counts. The choice among groups with one number is random, and
a group without a line is dropped as soon as another group has one. Source: kubernetes/autoscaler
expander/priority/{readme.md,priority.go} of 1.35 and 1.36, which read the text by sigs.k8s.io/yaml
1.6 (go-yaml 2, then JSON) into a map from int to a list of texts.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise, takewhile

import yaml

from config.placement import expressions

CATCH_ALL = 1
STEP = 10

Tiers = Mapping[int, Sequence[str]]
"""Regular expressions of node group names, by priority."""


@dataclass(frozen=True)
class Wanted:
    """The order in which pools are to grow."""

    order: tuple[str, ...]
    """Names of pools, first choice first."""
    spot: Set[str] = frozenset()
    """The spot pools among them."""
    others: tuple[str, ...] = ()
    """On-demand pools of other owners; every spot pool must rank above them."""


def expression(pool: str) -> str:
    """Return the expression for the node group of one AKS pool: RE2, unanchored, hence `^` and `$`
    (scale set names from AKS' docs).
    """
    return f"^aks-{pool}-[0-9]+-vmss$"


def tiers(wanted: Wanted, others: Tiers) -> dict[int, list[str]]:
    """Return the program's lines and the others.

    The last line, `.*`, keeps the system pool and pools made by hand: a group that matches nothing
    is dropped as soon as another group matches.
    """
    result = {CATCH_ALL: [".*"]}
    for rank, pool in enumerate(reversed(wanted.order), start=1):
        result[STEP * rank] = [expression(pool)]
    for number, some in others.items():
        lines = result.setdefault(number, [])
        lines += [line for line in some if line not in lines]
    return dict(sorted(result.items(), reverse=True))


def written(tiers: Tiers) -> str:
    """Return the YAML that the autoscaler reads: a list for each priority, the highest first.

    The layout is constant: another text of the same content would update the ConfigMap of every
    stack.
    """
    highest_first = {number: list(tiers[number]) for number in sorted(tiers, reverse=True)}
    return str(
        yaml.dump(
            highest_first, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf
        )
    )


class _Dumper(yaml.SafeDumper):
    """Indented lists, and quotes around every expression but this program's own."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


def _represent(dumper: yaml.SafeDumper, line: str) -> yaml.ScalarNode:
    plain = re.fullmatch(r"\^[^\s:#]*|\.\*", line)
    return dumper.represent_scalar("tag:yaml.org,2002:str", line, style=None if plain else "'")


_Dumper.add_representer(str, _represent)


def listed(lines: Sequence[str]) -> str:
    """Return the expressions as one line of YAML, such as `['^aks-t4-', 'aks']`."""
    return str(
        yaml.safe_dump(
            list(lines),
            default_flow_style=True,
            default_style="'",
            allow_unicode=True,
            width=math.inf,
        )
    ).strip()


def read_tiers(text: str | None) -> dict[int, list[str]]:
    """Read the tiers in a ConfigMap's `priorities`. Raise ValueError if the autoscaler refuses all
    of it and chooses at random.

    Simpler than go-yaml in rare cases: tags other than `!!str` and merge keys are refused, and a
    fraction among the expressions keeps its spelling.
    """
    loader = yaml.SafeLoader(text or "")
    try:
        # go-yaml reads the first document only.
        node = loader.get_node() if loader.check_node() else None
    except yaml.YAMLError as wrong:
        raise ValueError(f"it is not YAML ({str(wrong).splitlines()[0]})") from None
    if not isinstance(node, yaml.MappingNode) or not node.value:
        raise ValueError("it is not an object from numbers to lists")
    result: dict[int, list[str]] = {}
    written: dict[int, Scalar] = {}
    for key, value in node.value:
        number, plain = _number(key), _scalar_of(key)
        if type(written.setdefault(number, plain)) is not type(plain):
            raise ValueError(
                f"{number} occurs as a number and as a text, and which of them counts is left to "
                "chance"
            )
        result[number] = _expressions(number, value)
    return result


Scalar = str | int | float | bool | None
_ABSENT = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_FRACTION = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*|0)")


def _scalar_of(node: yaml.Node) -> Scalar:
    """Return go-yaml 2's value of a scalar (resolve.go). Raise ValueError for other nodes."""
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"line {node.start_mark.line + 1} is no number or text")
    text = str(node.value)
    if node.style is None and text in _ABSENT | _TRUE | _FALSE:
        return None if text in _ABSENT else text in _TRUE
    if node.style is not None or not re.match(r"[-+.0-9]", text):
        return text
    digits = text.replace("_", "")
    if integer := _INTEGER.fullmatch(digits):
        sign, number = integer.groups()
        octal = re.fullmatch(r"0[0-7]+", number)
        return int(f"{sign}{number}", 8 if octal else 0)
    return float(digits) if _FRACTION.fullmatch(digits) else text


def _number(key: yaml.Node) -> int:
    """Return a priority. As JSON text the key must be decimal digits."""
    plain = _scalar_of(key)
    if isinstance(plain, float):
        # Written with the digits of 32 bits, and with an exponent from a million on (Go's strconv,
        # format g).
        (short,) = struct.unpack("f", struct.pack("f", plain)) if abs(plain) < 1e6 else (0.5,)
        plain = int(short) if short == int(short) else str(plain)
    elif isinstance(plain, str) and re.fullmatch(r"[-+]?[0-9]+", plain):
        plain = int(plain)
    if type(plain) is not int or not -(2**63) <= plain < 2**63:
        raise ValueError(f"{key.value!r} is no number")
    return plain


def _expressions(number: int, node: yaml.Node) -> list[str]:
    if isinstance(node, yaml.ScalarNode) and _scalar_of(node) is None:
        return []
    if not isinstance(node, yaml.SequenceNode):
        raise ValueError(f"{number} has no list")
    lines = []
    for item in node.value:
        plain = _scalar_of(item)
        # A number becomes a text, an absent value an empty text, which matches every name.
        line = (
            "" if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)
        )
        if isinstance(plain, float):
            line = str(item.value)
        if wrong := expressions.fault(line):
            raise ValueError(f"{line!r} is no regular expression of RE2: {wrong}")
        lines.append(line)
    return lines


def rank(tiers: Tiers, pool: str) -> int | None:
    """Return the number by which the autoscaler ranks an AKS pool; None if no line above -2
    matches: lower ones never win.
    """
    # The digits are a cluster's own; lines with certain digits cannot be judged here.
    group = f"aks-{pool}-12345678-vmss"
    matching = (
        number
        for number, lines in tiers.items()
        if any(expressions.matches(line, group) for line in lines)
    )
    return max((number for number in matching if number >= -1), default=None)


def faults(tiers: Tiers, wanted: Wanted) -> Iterator[str]:
    """Yield the reasons why pools would not grow in the wanted order."""
    ranks = {pool: rank(tiers, pool) for pool in wanted.order}
    for pool, number in ranks.items():
        if number is None:
            yield f"no line matches {pool}"
    for before, after in pairwise(pool for pool in wanted.order if ranks[pool] is not None):
        if (ranks[before] or 0) <= (ranks[after] or 0):
            yield f"{before} ({ranks[before]}) does not stand above {after} ({ranks[after]})"
    for pool in (name for name in wanted.order if name in wanted.spot):
        for other in wanted.others:
            number, other_number = ranks[pool], rank(tiers, other)
            if number is not None and other_number is not None and number <= other_number:
                yield (
                    f"{pool} ({number}) does not stand above {other} ({other_number}), which is "
                    "on-demand"
                )


def additions(tiers: Tiers, wanted: Wanted, last_digit: int = 0) -> dict[int, list[str]]:
    """Return lines with free numbers that give the wanted order when they are added to these.

    Spot pools that grow first go above all existing lines. The others stay, if numbers are free,
    below the next higher line, which may rank another owner's spot pools. Numbers end in
    `last_digit` if such numbers are free.
    """
    first = tuple(takewhile(lambda pool: pool in wanted.spot, wanted.order))
    rest = wanted.order[len(first) :]
    beside = wanted.others if any(pool in wanted.spot for pool in rest) else ()
    floor = max([rank(tiers, pool) or 0 for pool in (*rest, *beside)], default=0)
    ceiling = min((number for number in tiers if number > floor), default=None)
    numbers = _between(floor, ceiling, len(rest), last_digit) if ceiling else []
    top = max([0, *tiers])
    if len(numbers) < len(rest):
        numbers = _above(top, len(rest), last_digit)
    numbers = numbers + _above(max([top, *numbers]), len(first), last_digit)
    return {
        number: [expression(pool)]
        for number, pool in zip(reversed(numbers), wanted.order, strict=True)
    }


def _between(floor: int, ceiling: int, count: int, last_digit: int) -> list[int]:
    """Return `count` free numbers, rising; none if too few are free."""
    for step in (STEP, 1):
        numbers = [
            number for number in range(floor + 1, ceiling) if number % step == last_digit % step
        ][:count]
        if len(numbers) == count:
            return numbers
    return []


def _above(number: int, count: int, last_digit: int) -> list[int]:
    return [(number // STEP + 1 + index) * STEP + last_digit for index in range(count)]
