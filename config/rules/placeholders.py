"""Checks of texts in which something of a template is left, such as `${SUBSCRIPTION}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import Model
from config.problems import Problem

_PLACEHOLDER = re.compile(
    r"\$\{[^}]*\}?|\$\([^)]*\)?|\$[A-Za-z_]\w*|\{\{.*?\}\}|<[^<>]*>|(?<=/)\.\.\.(?=/|$)|%[A-Z_]{2,}%"
)
"""As shells, Terraform, pipelines, Helm, Windows and documentation write them, and the dots of our own remedies."""

_FREE = {"reason", "groups", "tags", "username", "public_key", "context"}
"""Fields whose texts may hold anything: sentences, regular expressions, tags, names of logins (nvcr.io's is `$oauthtoken`), the
comment behind a key, and contexts of a kubeconfig."""


def _left(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    parts: Iterable[tuple[str, Any]] = (
        ("cluster", draft.cluster),
        ("cloud", draft.cloud),
        *draft.written_pools(),
        *((f"imagePullSecrets[{index}]", secret) for index, secret in draft.image_pull_secrets.items()),
        ("growth", draft.growth),
        ("scheduling", draft.scheduling),
    )
    for path, part in parts:
        for where, text in _texts(path, part):
            if found := _PLACEHOLDER.search(text):
                yield Problem(
                    where,
                    f"has {found[0]!r} in it, which nobody replaces: a stack file is no template",
                    "write the value itself",
                )


def _texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """The texts of a value, with their paths; a Secret's password is no plain text."""
    if isinstance(value, Model):
        for name, field in type(value).model_fields.items():
            # Read past `Unreadable`: what can be read of an object is judged.
            if name in value.__dict__ and name not in _FREE:
                yield from _texts(f"{path}.{field.alias}", value.__dict__[name])
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _texts(f"{path}[{index}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            where = f"{path}.{key}" if re.fullmatch(r"\w+", key) else f'{path}["{key}"]'
            yield from _texts(where, item)


RULES = (_left,)
