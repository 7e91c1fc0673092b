"""Facts of a cloud as data: TOML tables with their sources beside them, and templates in them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read(file: Path) -> dict[str, Any]:
    """The tables of a file."""
    with file.open("rb") as content:
        return tomllib.load(content)


def filled(template: Any, words: Mapping[str, Any]) -> Any:
    """A template, at any depth, with the words in its texts replaced (`str.format`). Raises KeyError for an unknown word."""
    if isinstance(template, dict):
        return {name: filled(value, words) for name, value in template.items()}
    return template.format_map(words) if isinstance(template, str) else template
