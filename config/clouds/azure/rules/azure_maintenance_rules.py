"""Rules of maintenance windows (page planned-maintenance)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from config.base.problems import Problem
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.fields import Unreadable, given
from config.model.reading import of_each
from config.rules.draft import Draft
from config.rules.periods import put_right


def _dates(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, each in azure.upgrades.exclusions:
        for key in given(each, "start", "end"):
            text = each.__dict__.get(key)
            try:
                date.fromisoformat(text or "2026-01-05")
            except ValueError:
                yield Problem(f"{path}.{key}", f"{text} is not a date", "write one that exists")


def _existing(text: str) -> str:
    """Return a date. Raise `Unreadable` if it does not exist, which `_dates` reports."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Unreadable("start") from None


def _order(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, start, end in of_each(
        azure.upgrades.exclusions, lambda one: (one[0], *map(_existing, (one[1].start, one[1].end)))
    ):
        if end < start:
            yield Problem(f"{path}.end", f"{end} is before `start`", put_right(start, end))


NEW_CLUSTER_RULES = (_dates, _order)
