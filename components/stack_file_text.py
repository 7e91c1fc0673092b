"""The text of the stack file: it shows what Pulumi does not pass on.

Pulumi drops keys beside `config`, and tells of an object only that it holds some secret. The text
is optional: a file that lies elsewhere (`--config-file`, `stackConfigDir`) or cannot be read counts
as empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pulumi
import yaml
from pulumi.runtime import settings

from config.stack_file import top_keys
from config.stack_file.positions import Positions, keys_of

_ROOT_KEY = re.compile(r"""^["']?([\w-]+(?::\w+)*)["']?:(?=\s|$)""", re.MULTILINE)


_OF_PULUMI = ("config", "secretsprovider", "encryptedkey", "encryptionsalt", "environment")
"""pulumi.com/docs/iac/concepts/projects/stack-settings-file."""


class _Loader(yaml.SafeLoader):
    """YAML as the engine reads it, to which `no` and `off` are texts (YAML 1.2)."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, form) for tag, form in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class StackFile:
    """The stack file that lies beside Pulumi.yaml."""

    def __init__(self, text: str, project: str, name: str = "") -> None:
        self._text, self._project, self._name = text, project, name

    @classmethod
    def of_this_stack(cls, project: str) -> StackFile:
        """Return the current stack's file; an empty one if it cannot be read."""
        path = Path(settings.get_root_directory() or ".") / f"Pulumi.{pulumi.get_stack()}.yaml"
        try:
            # The sandbox links to a file of another name (`--config-file`).
            return cls(path.read_text(encoding="utf-8"), project, path.resolve().name)
        except (OSError, ValueError):
            return cls("", project)

    def outside(self, passed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the program's settings beside `config`; `passed` are those that Pulumi passed."""
        keys = [
            key
            for key in _ROOT_KEY.findall(self._text)
            if key in top_keys.EXAMPLES or top_keys.own_setting(key, self._project)
        ]
        # The settings may be from another file, which has other keys.
        if not keys or self._config.keys() != passed.keys():
            return {}
        return {key: self._content[key] for key in keys if key in self._content}

    @cached_property
    def unread(self) -> dict[str, Any]:
        """The keys beside `config` that neither Pulumi nor this program knows; `x-` is for anchors."""
        known = (*_OF_PULUMI, *top_keys.EXAMPLES)
        return {
            str(key): value
            for key, value in self._content.items()
            if str(key) not in known
            and not str(key).startswith("x-")
            and not top_keys.own_setting(str(key), self._project)
        }

    def shows(self, path: str, passed: Mapping[str, Any]) -> bool:
        """Return whether the file shows in clear text the setting that Pulumi passed for this path."""
        keys = keys_of(path)
        value = _at(passed, keys)
        return value is not None and _at(self._config, keys) == value

    def positions(self, passed: Iterable[str]) -> Positions:
        """Return the lines of the settings; none if those that Pulumi passed are from another file."""
        if self._config.keys() != set(passed):
            return Positions()
        return Positions.of_text(self._name, self._text, self._own_name)

    def _own_name(self, key: str) -> str | None:
        # A key without a namespace is in the project's.
        return top_keys.own_setting(key if ":" in key else f"{self._project}:{key}", self._project)

    @cached_property
    def _content(self) -> dict[Any, Any]:
        try:
            content = yaml.load(self._text, Loader=_Loader)
        except (yaml.YAMLError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    @cached_property
    def _config(self) -> dict[str, Any]:
        """The settings below `config`, by their names among the program's own."""
        config = self._content.get("config")
        named = {
            self._own_name(str(key)): value
            for key, value in (config.items() if isinstance(config, dict) else ())
        }
        return {name: value for name, value in named.items() if name}


def _at(value: Any, keys: list[str]) -> Any:
    """Return the value at a path; None if there is none."""
    for key in keys:
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None
    return value
