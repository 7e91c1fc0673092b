"""Rules of all texts: templates, white space, quotes, doubled entries, secrets, defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from config.base import hiding
from config.base.hiding import LOGIN_FIELDS, secret_in
from config.base.problems import Problem, as_path
from config.clouds.traits import Cloud
from config.model.fields import Model, Reference, Some
from config.model.reading import part
from config.model.wording import ITSELF
from config.rules.draft import Draft

_NO_TEMPLATE = {"groups", "username", "public_key", "context"}
"""Fields with their own syntax: regular expressions, login names (nvcr.io's is `$oauthtoken`), the
comment after a key, contexts of a kubeconfig."""

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
        found = None if name in _NO_TEMPLATE else hiding.PLACEHOLDER_INSIDE.search(text)
        if found:
            yield _template(path, found[0])
    # Tags may hold anything: a warning.
    for key, text in (draft.cluster.tags if draft.cluster else {}).items():
        if found := hiding.PLACEHOLDER_INSIDE.search(text):
            yield _template(f"cluster.tags{as_path(key)}", found[0], warning=True)


def _template(path: str, found: str, warning: bool = False) -> Problem:
    what = f"has {found!r} in it, which nobody replaces: a stack file is no template"
    return Problem(path, what, ITSELF, warning)


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
    """Yield path, field and text of each text, except `_FREE`, `_JUDGED` and passwords."""
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


REPLACED: Mapping[str, str] = {
    "GuardException.rules": "a shorter list lifts fewer rules of the guard than the default",
    "ProfileAccess.service_accounts": "a shorter list gives fewer service accounts an identity",
    "ImagePullSecret.namespaces": "the namespaces that get a Secret; none is safer with it",
}
"""Fields whose list replaces the default without a warning, because a shorter list is safe."""

_INSTEAD: Mapping[str, str] = {
    "Guard.platform_namespaces": "write the others as `additionalPlatformNamespaces`, and remove this list",
}
"""What to write, by the field, where a further key adds to the default."""


def _dropped(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    others = [("workloads", draft.workloads), ("queueing", draft.queueing)]
    for path, name, dropped, kept in _shortened([*parts(draft), *others]):
        whole = f"`{path.rpartition('.')[2]}: [{', '.join([*kept, *dropped])}]`"
        yield Problem(
            path,
            f"takes the place of the default, and leaves out {', '.join(dropped)}",
            _INSTEAD.get(name, f"write {whole}, or remove it for the default"),
            warning=True,
        )


def _shortened(
    values: Iterable[tuple[str, Any]],
) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield path, field, missing and kept entries of each list that lacks some of its default.

    An empty list is intended, unless another key adds to the default.
    """
    for path, value in values:
        if isinstance(value, Model):
            for name, field in type(value).model_fields.items():
                if name not in value.__dict__:
                    continue  # unreadable
                inner, default = value.__dict__[name], field.default
                where, known_as = f"{path}.{field.alias}", f"{type(value).__name__}.{name}"
                if known_as in REPLACED or isinstance(inner, Some):
                    continue
                wanted = inner or known_as in _INSTEAD
                if wanted and isinstance(inner, tuple) and isinstance(default, tuple):
                    dropped = [str(entry) for entry in default if entry not in inner]
                    if dropped:
                        yield where, known_as, dropped, [str(entry) for entry in inner]
                yield from _shortened([(where, inner)])
        elif isinstance(value, tuple):
            yield from _shortened((f"{path}[{index}]", item) for index, item in enumerate(value))


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
                f"holds {kind} (not shown here), and everybody who may see the cluster reads "
                "tags and labels",
                "remove it, and make a new one: it is known from now on",
            )
        elif value and _LAST_WORD.search(key.lower()):
            yield Problem(
                path,
                "has a secret's name, and everybody who may see the cluster reads tags and labels",
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


RULES = (_left, _around, _twice, _dropped, _secrets)
