"""Reads a stack file by the program's own loader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from config import stackfile
from config.model.spec import ClusterSpec
from ready.findings import Unasked


def read(folder: Path, stack: str) -> ClusterSpec:
    """The spec of `Pulumi.STACK.yaml`. Raises `Unasked` with every problem of the file."""
    config = _config(folder, stack)
    spec, problems = stackfile.read(_settings(config), stack)
    if spec is None:
        lines = "\n".join(f"  {problem}" for problem in problems if not problem.warning)
        raise Unasked(f"Pulumi.{stack}.yaml is faulty, so nothing was asked:\n{lines}")
    return spec


def others(folder: Path, stack: str) -> dict[str, str]:
    """The file's settings of other programs, such as those of a provider, by their whole key; without secrets. Raises `Unasked`."""
    config = _config(folder, stack)
    return {
        key: value
        for key, value in config.items()
        if isinstance(key, str) and isinstance(value, str) and not key.startswith(stackfile.PREFIX)
    }


def _config(folder: Path, stack: str) -> Mapping[str, Any]:
    path = folder / f"Pulumi.{stack}.yaml"
    try:
        content = YAML(typ="safe", pure=True).load(path.read_text())
    except FileNotFoundError:
        known = ", ".join(sorted(other.name[7:-5] for other in folder.glob("Pulumi.*.yaml"))) or "none"
        raise Unasked(f"{path.name}: there is no such stack file here; there are: {known}") from None
    except (OSError, UnicodeDecodeError, YAMLError, ValueError):
        raise Unasked(f"{path.name}: cannot be read as YAML") from None
    config = (content or {}).get("config") if isinstance(content, dict) else None
    if not isinstance(config, dict):
        raise Unasked(f"{path.name}: has no `config`")
    return config


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key.removeprefix(stackfile.PREFIX): value
        for key, value in config.items()
        if isinstance(key, str) and key.startswith(stackfile.PREFIX)
    }
