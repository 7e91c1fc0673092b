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
        raise SandboxError(f"{title} is not YAML: {broken}") from broken
    if not isinstance(content, dict):
        raise SandboxError(f"{title} is not a YAML object")
    return content
