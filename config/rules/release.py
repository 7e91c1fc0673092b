"""Checks of the release a stack names, and of the pins it takes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import FORMS, readable
from config.model.release import PINS, pinned
from config.problems import Problem


def _candidate(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.release or draft.release.released:
        return
    guarded = draft.cluster is not None and readable(draft.cluster, "protect") and bool(draft.cluster.protect)
    what = f"is {draft.release.name}, which is not released: its pins change at any time"
    if draft.production or guarded:
        where = "production" if draft.production else "a protected cluster"
        yield Problem("release", f"{what}; not for {where}", "name a release")
    else:
        yield Problem("release", what, "name a release once it has been tried", warning=True)


def _value(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, one in draft.overrides.items():
        if not readable(one, "pin", "value"):
            continue
        path = f"overrides[{index}].value"
        if not re.fullmatch(PINS[one.pin], one.value):
            yield Problem(path, f"{one.value!r} cannot be {one.pin}", f"write {FORMS[PINS[one.pin]]}")
        elif draft.release and one.value == pinned(draft.release, one.pin):
            what = f"is what {draft.release.name} has for {one.pin}"
            yield Problem(path, what, "remove the override: it has done its work", warning=True)


def _twice(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, one in draft.overrides.items():
        if not readable(one, "pin"):
            continue
        if one.pin in seen:
            what = f"{one.pin} is overridden in overrides[{seen[one.pin]}] already"
            yield Problem(f"overrides[{index}].pin", what, "keep one of them")
        seen.setdefault(one.pin, index)


def _version(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, one in draft.overrides.items():
        if not readable(one, "pin") or one.pin != "kubernetesVersion":
            continue
        path = f"overrides[{index}].pin"
        if not draft.made_here:
            what = "kubernetesVersion is set for a cluster this stack does not make"
            yield Problem(path, what, "remove it: whoever made the cluster decides this")
        elif draft.cluster and "kubernetes_version" in draft.cluster.model_fields_set:
            what = "kubernetesVersion is set in cluster.kubernetesVersion as well"
            yield Problem(path, what, "keep one of them")


RULES = (_candidate, _value, _twice, _version)
