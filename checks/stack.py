"""Reads a stack file by the program's own loader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from checks.findings import Finding, State, Unasked
from config.model.spec import ClusterSpec
from config.stack_file import loader
from config.stack_file.positions import Positions

ENCRYPTED = "[encrypted]"
"""Stands for a setting that Pulumi alone can read."""


@dataclass(frozen=True)
class StackFile:
    """A checked stack file."""

    spec: ClusterSpec
    notes: tuple[Finding, ...]
    """What the program warns of when it reads the file."""
    others: Mapping[str, str]
    """Settings of other programs, such as those of a provider, by their whole key; a secret is
    `ENCRYPTED`."""


def load_stack(folder: Path, stack: str) -> StackFile:
    """Read `Pulumi.STACK.yaml`. Raises `Unasked` with every problem of the file."""
    name, text = f"Pulumi.{stack}.yaml", _text(folder, stack)
    config = _config(name, text)
    spec, problems = loader.read_stack(_settings(config), stack)
    positions = Positions.of_text(name, text, _own_name)
    located = positions.in_order(problems)
    if spec is None:
        mended = loader.mend(_settings(config), problems, stack)
        errors = [each for each in (*problems, *mended.further) if not each.warning]
        wrong = [f"{each}" for each in positions.in_order(errors)]
        wrong += [f"{each}" for each in positions.in_file_order(mended.objects)]
        lines = "\n".join(indent(each, "  ") for each in wrong)
        raise Unasked(f"{name} is faulty, so nothing was asked:\n{lines}")
    notes = tuple(
        Finding(
            "stack-file",
            State.NOTE,
            f"{problem.path}: {problem.what}",
            problem.remedy,
            "docs/reference/stack-file.md",
        )
        for problem in located
    )
    return StackFile(spec, notes, _others(config))


def read_spec(folder: Path, stack: str) -> ClusterSpec:
    """Return the spec alone. Raises `Unasked`."""
    return load_stack(folder, stack).spec


def _others(config: Mapping[str, Any]) -> dict[str, str]:
    plain: dict[str, str] = {}
    for key, value in config.items():
        if not isinstance(key, str) or key.startswith(loader.PREFIX):
            continue
        if isinstance(value, bool):
            plain[key] = str(value).lower()  # as Pulumi hands it to a provider
        elif isinstance(value, str | int | float):
            plain[key] = str(value)
        elif isinstance(value, dict) and "secure" in value:
            plain[key] = ENCRYPTED
    return plain


def _text(folder: Path, stack: str) -> str:
    path = folder / f"Pulumi.{stack}.yaml"
    try:
        return path.read_text()
    except FileNotFoundError:
        known = (
            ", ".join(sorted(other.name[7:-5] for other in folder.glob("Pulumi.*.yaml"))) or "none"
        )
        raise Unasked(
            f"{path.name}: there is no such stack file here; there are: {known}"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise Unasked(f"{path.name}: cannot be read as text") from None


def _config(name: str, text: str) -> Mapping[str, Any]:
    try:
        content = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, TypeError) as broken:
        mark = getattr(broken, "problem_mark", None)
        place = f"{name}:{mark.line + 1}" if mark else name
        raise Unasked(
            f"{place}: cannot be read as YAML; `make preview STACK={name[7:-5]}` says what is wrong"
        ) from None
    config = (content or {}).get("config") if isinstance(content, dict) else None
    if not isinstance(config, dict):
        raise Unasked(f"{name}: has no `config`")
    return config


def _own_name(key: str) -> str | None:
    return key.removeprefix(loader.PREFIX) if key.startswith(loader.PREFIX) else None


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    named = ((_own_name(key), value) for key, value in config.items() if isinstance(key, str))
    return {name: value for name, value in named if name}
