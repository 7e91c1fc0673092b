"""Checks of texts that everybody may read: a secret has no place among tags and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.hiding import LOGIN_FIELDS, secret_in
from config.base.problems import Problem, as_path
from config.clouds.traits import Cloud
from config.model.reading import part
from config.rules.draft import Draft

_LAST_WORD = re.compile(
    rf"(^|[-_./])({'|'.join((*LOGIN_FIELDS, 'passwd', 'secret', 'api-key', 'apikey'))})$"
)
"""Keys whose values are secrets, by their last word."""


def _secrets(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, key, value in _texts(draft):
        kind = secret_in(value, logins=False) or secret_in(key, logins=False)
        if kind:
            yield Problem(
                path,
                f"holds {kind}, and everybody who may see the cluster reads tags and labels (it is not shown here)",
                "remove it, and make a new one: it is known from now on",
            )
        elif value and _LAST_WORD.search(key.lower()):
            yield Problem(
                path,
                "has the name of a secret, and everybody who may see the cluster reads tags and labels",
                "remove it if it is one, or take another name",
                warning=True,
            )


def _texts(draft: Draft) -> Iterator[tuple[str, str, str]]:
    """Yield path, key and value of each tag, label and taint."""
    tags = part(draft.cluster, "tags") if draft.cluster else None
    for key, value in (tags or {}).items():
        yield f"cluster.tags{as_path(key)}", key, value
    for index, pool in draft.pools.items():
        for key, value in (part(pool, "labels") or {}).items():
            yield f'pools[{index}].labels["{key}"]', key, value
        for number, taint in enumerate(part(pool, "taints") or ()):
            yield (
                f"pools[{index}].taints[{number}]",
                part(taint, "key") or "",
                part(taint, "value") or "",
            )


RULES = (_secrets,)
