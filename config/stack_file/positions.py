"""The lines of a stack file: where a setting stands, and the message of a problem at its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from config.base.hiding import hidden
from config.base.problems import Problem
from config.stack_file.mended_file import MendedObject

KEYS_OF_A_PATH = re.compile(r'\["([^"]+)"\]|([^\[\].]+)')
_POOL = re.compile(r"(pools\[(\d+)\])\.?(.*)", re.DOTALL)
_ITEM = re.compile(r"\s*- |\s{0,2}[\w-]+:\w+:")
"""The line on which the next pool or setting begins."""
_LONGEST_NAME = 40
"""Characters of a pool's name in a message; a valid one has fewer."""

Named = Callable[[str], str | None]
"""A key of `config` -> the program's own name of the setting; None for another program's."""


def keys_of(path: str) -> list[str]:
    """Return the keys and indices of a path: `pools[1].spot` has `pools`, `1` and `spot`."""
    return [quoted or plain for quoted, plain in KEYS_OF_A_PATH.findall(path)]


def with_pool_name(path: str, pools: Any) -> str:
    """Return a path with the name of its pool, if `pools`, the value of the file, has it:
    `pools[1] "t4": spot.maxPrice`.
    """
    found = _POOL.fullmatch(path)
    index = int(found[2]) if found else 0
    pool = pools[index] if isinstance(pools, list) and found and index < len(pools) else None
    name = pool.get("name") if isinstance(pool, Mapping) else None
    if not found or not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        return path
    inside = re.sub(r'^\["([^"]+)"\]$', r"\1", found[3])
    return f'{found[1]} "{hidden(name)}"' + (f": {inside}" if inside else "")


@dataclass(frozen=True)
class Positions:
    """The lines of a stack file: `Positions.of_text("Pulumi.dev.yaml", text, named)`.

    One without lines, of a file that cannot be read, leaves paths as they are.
    """

    file: str = ""
    settings: Mapping[str, tuple[yaml.Node, yaml.Node]] = field(default_factory=dict)
    """Key and value, by the program's own name."""
    pools: Any = None
    """The value of the setting `pools`."""
    lines: Sequence[str] = ()
    config_line: int = 1
    """The line of `config`, for what the file lacks."""

    @classmethod
    def of_text(cls, file: str, text: str, named: Named) -> Positions:
        """Read the lines of a file's text; return one without lines if it is no stack file."""
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, ValueError, RecursionError):
            return cls()
        settings: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        line = 1
        for key, value in _entries(root):
            if key.value == "config":
                line = key.start_mark.line + 1
            # A setting beside `config`, where Pulumi drops it, has a line as well.
            if key.value == "config":
                entries = ((named(str(each[0].value)), each) for each in _entries(value))
                settings |= {name: each for name, each in entries if name}
            else:
                settings[named(str(key.value)) or str(key.value)] = (key, value)
        return cls(
            file,
            settings,
            _names(settings["pools"][1]) if "pools" in settings else None,
            text.splitlines(),
            line,
        )

    def line(self, path: str) -> int:
        """Return the line of a path, or that of the innermost object around it that is there."""
        first, *others = keys_of(path) or [""]
        found = self.settings.get(first) or self.settings.get(first.rpartition(":")[2])
        line = self.config_line
        for key in [*others, ""]:
            if found is None:
                break
            line = found[0].start_mark.line + 1
            found = _inside(found[1], key)
        return line

    def located(self, problem: Problem) -> Problem:
        """Return the problem with file, line and pool in place of its path, and the line of a
        comment that swallowed what it asks for.
        """
        path, remedy = with_pool_name(problem.path, self.pools), problem.remedy
        line = self.line(problem.path)
        place = f"{self.file}:{line}: " if self.settings else ""
        if (pool := _POOL.fullmatch(problem.path)) and (found := self._comment(pool[1], remedy)):
            remedy = (
                f"write `{found[1]}` on a line of its own: line {found[0]} has it in its comment"
            )
        text = self.lines[line - 1] if self.settings and self.lines else ""
        swallowed = re.search(r"([\w-]+):\s+#\s*([\w./-]*)", text)
        if problem.what.startswith(("is empty", "is missing")) and swallowed:
            key, value = swallowed.groups()
            first = f"write `{key}: {value}`, if that is its value" if value else remedy
            remedy = f"{first}; what follows ` #` is a comment"
        return replace(problem, path=f"{place}{path}", remedy=remedy)

    def in_file_order(self, found: Iterable[MendedObject]) -> list[MendedObject]:
        """Return the objects in the order of their lines."""
        return sorted(found, key=lambda one: self.line(one.path))

    def _comment(self, pool: str, remedy: str) -> tuple[int, str] | None:
        """Return the line of a pool with a comment that sets a key that a remedy says to write, and
        what it sets.
        """
        keys = re.findall(r"`(\w+): ", remedy)
        first = self.line(pool)
        last = next((n for n in range(first, len(self.lines)) if _ITEM.match(self.lines[n])), None)
        for number, text in enumerate(self.lines[first - 1 : last], first):
            comment = text.partition(" #")[2]
            sets = (re.search(rf"(?:^|\s)({key}: [^\s,;]+)", comment) for key in keys)
            if found := next(filter(None, sets), None):
                return number, hidden(found[1])
        return None

    def in_order(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems as they stand in the file, each at its line."""
        return [
            self.located(problem)
            for problem in sorted(problems, key=lambda each: (self.line(each.path), each))
        ]


def _entries(node: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value


def _inside(node: yaml.Node, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return key and value of an object's key, or an item of a list twice; None if missing."""
    if isinstance(node, yaml.SequenceNode):
        index = int(key) if key.isdecimal() else len(node.value)
        return (node.value[index],) * 2 if index < len(node.value) else None
    return next((each for each in _entries(node) if str(each[0].value) == key), None)


def _names(pools: yaml.Node) -> list[dict[str, str]] | None:
    """Return the names of a list of pools, each as an object."""
    if not isinstance(pools, yaml.SequenceNode):
        return None
    return [
        {
            str(key.value): str(value.value)
            for key, value in _entries(pool)
            if key.value == "name" and isinstance(value, yaml.ScalarNode)
        }
        for pool in pools.value
    ]
