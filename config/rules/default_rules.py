"""Checks of lists that take the place of a default: an entry that the default has is dropped, and the user is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.fields import Model, Some
from config.rules.draft import Draft
from config.rules.text_rules import parts

REPLACED: Mapping[str, str] = {
    "GuardException.rules": "a shorter list lifts fewer rules of the guard than the default",
    "ProfileAccess.service_accounts": "a shorter list gives fewer service accounts an identity",
    "ImagePullSecret.namespaces": "the namespaces that get a Secret; none is safer with it",
}
"""Fields whose list replaces the default in silence, and why nothing safe is lost. All others warn."""

_INSTEAD: Mapping[str, str] = {
    "Guard.platform_namespaces": "write the further ones as `additionalPlatformNamespaces`, and remove this list",
}
"""What to write, by the field, where a further key adds to the default."""


def _dropped(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    others = [("workloads", draft.workloads), ("queueing", draft.queueing)]
    for path, name, dropped in _shortened([*parts(draft), *others]):
        yield Problem(
            path,
            f"takes the place of the default, and leaves out {', '.join(dropped)}",
            _INSTEAD.get(name, "add them to the list, or remove it for the default"),
            warning=True,
        )


def _shortened(values: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield path, field and missing entries of each list that lacks some of its default.

    An empty list says that none is wanted, but where a further key adds to the default.
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
                        yield where, known_as, dropped
                yield from _shortened([(where, inner)])
        elif isinstance(value, tuple):
            yield from _shortened((f"{path}[{index}]", item) for index, item in enumerate(value))


RULES = (_dropped,)
