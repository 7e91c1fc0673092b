"""Checks of every text of a stack file: what is left of a template, white space or quotes around it, and the same text twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from config.base import placeholders
from config.base.problems import Problem, as_path
from config.clouds.traits import Cloud
from config.model.fields import Model
from config.model.reference import Reference
from config.rules.draft import Draft

_NO_TEMPLATE = {"groups", "username", "public_key", "context"}
"""Fields with texts of their own syntax: regular expressions, names of logins (nvcr.io's is `$oauthtoken`), the comment behind a
key, contexts of a kubeconfig."""

_FREE = {"reason", "tags"}
"""Fields whose texts may hold anything."""

_JUDGED = {"name", "zones", "pool", "order", "subnet"}
"""Names, whose form or existence other rules check."""

_SETS = {
    *("admin_groups", "authorized_ranges", "groups", "readers", "control_plane"),
    *("platform_namespaces", "additional_platform_namespaces"),
}
"""Lists without an order, of which no other rule asks that nothing stands in them twice."""


def parts(draft: Draft) -> Iterator[tuple[str, Any]]:
    """Yield the objects of the file with their paths."""
    yield "cluster", draft.cluster
    yield "cloud", draft.cloud
    yield from draft.written_pools()
    for index, secret in draft.image_pull_secrets.items():
        yield f"imagePullSecrets[{index}]", secret
    yield "expander", draft.expander
    yield "growth", draft.growth
    yield "scheduling", draft.scheduling


def _left(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, name, text in texts(parts(draft)):
        found = None if name in _NO_TEMPLATE else placeholders.ANYWHERE.search(text)
        if found:
            yield Problem(
                path,
                f"has {found[0]!r} in it, which nobody replaces: a stack file is no template",
                "write the value itself",
            )


def _around(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, name, text in texts(parts(draft)):
        bare = text.strip().strip("\"'")
        if text != text.strip() and not (name == "public_key" and text == text.lstrip()):
            yield Problem(
                path,
                f"is {text!r}, with white space around it",
                f"write {bare!r}; `|` and `>` add a line's end",
            )
        elif text != bare and text[0] == text[-1] and len(text) > 1:
            yield Problem(path, f"is {text!r}, with quotes that are part of it", f"write {bare!r}")


def _twice(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[tuple[str, str], str] = {}
    for path, name, text in texts(parts(draft)):
        key = (path.rpartition("[")[0], text.lower() if name == "admin_groups" else text)
        if name in _SETS and seen.setdefault(key, path) != path:
            yield Problem(path, f"is {text!r}, as {seen[key]}", "remove one of them", warning=True)


def texts(parts: Iterable[tuple[str, Any]], name: str = "") -> Iterator[tuple[str, str, str]]:
    """The texts in these values, each after its path and its field, but for `_FREE` and `_JUDGED`; a Secret's password is none."""
    for path, value in parts:
        if isinstance(value, Model):
            for inner, field in type(value).model_fields.items():
                # Read past `Unreadable`: what can be read of an object is judged.
                if inner in value.__dict__ and inner not in _FREE | _JUDGED:
                    yield from texts([(f"{path}.{field.alias}", value.__dict__[inner])], inner)
        elif isinstance(value, str | Reference):
            yield path, name, value.text if isinstance(value, Reference) else str(value)
        elif isinstance(value, tuple | list):
            yield from texts(((f"{path}[{index}]", item) for index, item in enumerate(value)), name)
        elif isinstance(value, dict):
            yield from texts(((path + as_path(key), value[key]) for key in value), name)


RULES = (_left, _around, _twice)
