"""Arguments of the component as plain settings, with the texts that other resources make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.output import Unknown

from config.base.problems import Problem
from config.model.fields import Reference

Path = tuple[str | int, ...]
"""Keys and indexes."""

SECRETS = (("imagePullSecrets", "password"), ("cloud", "kubeconfig", "contents"))
"""The secret keys, without indexes. All others appear in names, plans, outputs and messages."""


@dataclass
class Arguments:
    """Arguments that a program passes to the component."""

    raw: dict[str, Any] = field(default_factory=dict)
    """Settings in the form of a stack file."""
    links: dict[Path, Reference] = field(default_factory=dict)
    secret: set[Path] = field(default_factory=set)
    """Where a secret begins: the engine passes a list or object with a secret as a secret."""
    problems: list[Problem] = field(default_factory=list)
    """Unknown values where the value must be known."""

    def known(self) -> dict[str, str]:
        """Return the texts of other resources, by path: a later preview may not know them."""
        return {
            property_path(path): link.text for path, link in self.links.items() if not link.made_up
        }

    def is_secret(self, path: str) -> bool:
        """Return whether the argument at a path, in messages' form, is or was in a secret."""
        return any(
            re.match(re.escape(property_path(secret)) + r"(?![\w])", path) for secret in self.secret
        )

    def exposed(self) -> list[Problem]:
        """Return a problem for each secret that the settings would not keep secret."""
        what = "is a secret or holds one, and appears in names, plans and outputs"
        remedy = "pass it plain (`Output.unsecret`); secrets are " + " and ".join(
            ".".join(keys) for keys in SECRETS
        )
        return [
            Problem(property_path(path), what, remedy)
            for path in sorted(self.secret, key=property_path)
            if not self._kept(path)
        ]

    def _kept(self, path: Path) -> bool:
        keys = tuple(part for part in path if isinstance(part, str))
        return any(keys == secret[: len(keys)] and _holds(self.raw, secret) for secret in SECRETS)


async def read_arguments(
    inputs: Mapping[str, Any],
    references: Mapping[str, str],
    remembered: Mapping[str, str] | None = None,
) -> Arguments:
    """Await the inputs, and return the arguments.

    `references`: a well-formed text, with `{0}` for a number, for each property that may be unknown
    before the update, by path with `[]` for any index. `remembered`: `Arguments.known` of the last
    update.
    """
    reader = _Reader(references, remembered or {})
    for key, value in inputs.items():
        resolved = await reader.value(value, (key,), None)
        if resolved is not None:
            reader.arguments.raw[key] = resolved
    return reader.arguments


def property_path(path: Path) -> str:
    """Return a property path in the form of messages: `pools[1].spot.maxPrice`,
    `cluster.tags["a/b"]`.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"\w+", part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def _holds(whole: Any, keys: tuple[str, ...]) -> bool:
    """Return whether an object, or any in a list, has these nested keys."""
    if isinstance(whole, list):
        return any(_holds(item, keys) for item in whole)
    return not keys or (
        isinstance(whole, dict) and keys[0] in whole and _holds(whole[keys[0]], keys[1:])
    )


class _Reader:
    def __init__(self, references: Mapping[str, str], remembered: Mapping[str, str]) -> None:
        self.arguments = Arguments()
        self._references, self._remembered = references, remembered

    async def value(self, value: Any, path: Path, source: pulumi.Output[Any] | None) -> Any:
        """Return the plain value at a path. `source`: its output, if the program passes one."""
        if isinstance(value, pulumi.Output):
            source = value
            if await source.is_secret():
                self.arguments.secret.add(path)
            if not await source.is_known():
                return self._unknown(path, source)
            value = await source.future(with_unknowns=True)
        if isinstance(value, Unknown):
            return self._unknown(path, source)
        if isinstance(value, dict):
            items = {
                key: await self.value(item, (*path, key), _part(source, key))
                for key, item in value.items()
            }
            return {key: item for key, item in items.items() if item is not None}
        if isinstance(value, list):
            return [
                await self.value(item, (*path, index), _part(source, index))
                for index, item in enumerate(value)
            ]
        if source is not None and isinstance(value, str) and self._reference(path):
            self.arguments.links[path] = Reference(value, source=source)
        # The engine sends every number as a float.
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _unknown(self, path: Path, source: pulumi.Output[Any] | None) -> str | None:
        reference = self._reference(path)
        if reference is None or source is None:
            what = "is not known before the update, and the settings are checked before it"
            remedy = "write the value itself; docs/reference/library.md lists what another resource may make"
            self.arguments.problems.append(Problem(property_path(path), what, remedy))
            return None
        before = self._remembered.get(property_path(path))
        text = before or reference.format(len(self.arguments.links) + 1)
        self.arguments.links[path] = Reference(text, before is None, source)
        return text

    def _reference(self, path: Path) -> str | None:
        return self._references.get(re.sub(r"\[\d+\]", "[]", property_path(path)))


def _part(source: pulumi.Output[Any] | None, key: str | int) -> pulumi.Output[Any] | None:
    return None if source is None else source.apply(lambda whole: whole[key])
