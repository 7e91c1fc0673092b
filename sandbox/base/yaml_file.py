"""YAML files, read as the engine reads them."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sandbox.base.errors import SandboxError

MOST_CHARACTERS = 4 << 20
MOST_VALUES = 100_000
"""Also those that aliases repeat: eight lines can stand for a billion."""
MOST_NESTED = 100


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the object in a YAML file. Raises SandboxError for a missing file or other content."""
    try:
        text = path.read_text()
    except FileNotFoundError as missing:
        raise SandboxError(f"{path.name} does not exist in {path.parent}") from missing
    except UnicodeDecodeError as broken:
        raise SandboxError(f"{path.name} is not YAML: {broken}") from broken
    return parsed(text, path.name)


def parsed(text: str, title: str) -> dict[str, Any]:
    """Return the object in a YAML text; errors name its title. Raises SandboxError for other content."""
    # YAML 1.2, as in the engine's own reader: `yes` is a text, and a repeated key is an error.
    if len(text) > MOST_CHARACTERS:
        raise SandboxError(f"{title} has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    try:
        content = YAML(typ="safe", pure=True).load(text)
    except RecursionError:
        raise _too_deep(title) from None
    except YAMLError as broken:
        raise SandboxError(f"{title} is not YAML: {_in_words(broken)}") from None
    except ValueError as broken:
        # A date without such a day, or a number of more digits than Python reads.
        raise SandboxError(f"{title} is not YAML: {broken}") from None
    if content is None:
        raise SandboxError(f"{title} is empty")
    if not isinstance(content, dict):
        raise SandboxError(f"{title} is not a YAML object: write `key: value` lines")
    _check(content, title)
    return content


def _in_words(broken: YAMLError) -> str:
    """Return problem and place; the library also quotes the lines, which may hold a password, and says how to switch it off."""
    mark = getattr(broken, "problem_mark", None)
    problem = str(getattr(broken, "problem", None) or "it cannot be parsed")
    # A key that is there twice comes with both values.
    problem = problem.partition(" with value ")[0]
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    context, first = getattr(broken, "context", None), getattr(broken, "context_mark", None)
    return f"{place}{problem}" + (f" ({context} of line {first.line + 1})" if context and first else "")


def _check(content: dict[Any, Any], title: str) -> None:
    """Raise SandboxError for what would not end, or what the engine's form of the file, which is JSON, does not hold."""
    waiting: list[tuple[Any, int]] = [(content, 1)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise SandboxError(f"{title} has more than {MOST_VALUES:,} values, with those that its aliases repeat")
        if depth > MOST_NESTED:
            raise _too_deep(title)
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += ((item, depth + 1) for item in inside)
        for key in value if isinstance(value, dict) else ():
            if not isinstance(key, str | int | float | None) or _is_half(key):
                raise SandboxError(f"{title} has a key that is no text: {str(key)[:60]!a}")
        if isinstance(value, bytes | set) or _is_half(value):
            raise SandboxError(f"{title} has a value that is no text, number, list or object: {str(value)[:60]!a}")


_HALF = re.compile("[\ud800-\udfff]")
"""Halves of a character, which an escape can write. Go's YAML reader, which is the engine's, refuses them."""


def _is_half(value: Any) -> bool:
    return isinstance(value, str) and _HALF.search(value) is not None


def _too_deep(title: str) -> SandboxError:
    return SandboxError(f"{title} has values nested more than {MOST_NESTED} deep")
