"""YAML files, read as the engine reads them."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sandbox.base.errors import SandboxError


def read_yaml(path: Path) -> dict[str, Any]:
    """The object in a YAML file. Raises SandboxError for a missing file or other content."""
    try:
        text = path.read_text()
    except FileNotFoundError as missing:
        raise SandboxError(f"{path.name} does not exist in {path.parent}") from missing
    except UnicodeDecodeError as broken:
        raise SandboxError(f"{path.name} is not YAML: {broken}") from broken
    return parsed(text, path.name)


def parsed(text: str, title: str) -> dict[str, Any]:
    """The object in a YAML text; errors name its title. Raises SandboxError for other content."""
    # YAML 1.2, as in the engine's own reader: `yes` is a text, and a repeated key is an error.
    try:
        content = YAML(typ="safe", pure=True).load(text)
    except YAMLError as broken:
        raise SandboxError(f"{title} is not YAML: {_in_words(broken)}") from None
    if content is None:
        raise SandboxError(f"{title} is empty")
    if not isinstance(content, dict):
        raise SandboxError(f"{title} is not a YAML object: write `key: value` lines")
    return content


def _in_words(broken: YAMLError) -> str:
    """Problem and place; the library also quotes the lines, which may hold a password, and says how to switch it off."""
    mark = getattr(broken, "problem_mark", None)
    problem = str(getattr(broken, "problem", None) or "it cannot be parsed")
    # A key that is there twice comes with both values.
    problem = problem.partition(" with value ")[0]
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    context, first = getattr(broken, "context", None), getattr(broken, "context_mark", None)
    return f"{place}{problem}" + (f" ({context} of line {first.line + 1})" if context and first else "")
