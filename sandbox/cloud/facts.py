"""Facts of a cloud as data: TOML tables with their sources beside them, templates in them, and the catalogue's rows."""

import csv
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_SANDBOX = Path(__file__).resolve().parents[1]


def data(cloud: str, file: str) -> Path:
    """Return a file of a cloud's folder of data."""
    return _SANDBOX / cloud / "data" / file


@cache
def tables(cloud: str, name: str = "facts") -> dict[str, Any]:
    """Return the tables of a TOML file in a cloud's folder of data."""
    return tomllib.loads(data(cloud, f"{name}.toml").read_text(encoding="utf-8"))


def catalogue(cloud: str, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the program's catalogue, read as data; its first line names the columns.

    Raises FileNotFoundError when the checkout has no catalogue.
    """
    with (_SANDBOX.parent / "config" / "clouds" / cloud / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def filled(template: Any, words: Mapping[str, Any]) -> Any:
    """Return a template, at any depth, with the words in its texts replaced (`str.format`). Raises KeyError for an
    unknown word.
    """
    if isinstance(template, dict):
        return {name: filled(value, words) for name, value in template.items()}
    return template.format_map(words) if isinstance(template, str) else template
