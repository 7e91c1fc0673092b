"""Checks of the release a stack names, and of the pins it takes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.fields import FORMS
from config.model.reading import doubled, known
from config.model.release import PINS, Override, pinned
from config.rules.draft import Draft
from config.rules.items import each


def _candidate(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.release or draft.release.released:
        return
    guarded = known(lambda: draft.cluster and draft.cluster.protect, None)
    what = f"is {draft.release.name}, which is not released: its pins change at any time"
    if draft.production or guarded:
        where = "production" if draft.production else "a protected cluster"
        yield Problem("release", f"{what}; not for {where}", "name a release")
    else:
        yield Problem("release", what, "name a release once you have tried it", warning=True)


@each(Draft.written_overrides)
def _value(path: str, override: Override, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pin, value = override.pin, override.value
    if not re.fullmatch(PINS[pin], value):
        yield Problem(f"{path}.value", f"{value!r} cannot be {pin}", f"write {FORMS[PINS[pin]]}")
    elif draft.release and value == pinned(draft.release, pin):
        what = f"is what {draft.release.name} has for {pin}"
        yield Problem(
            f"{path}.value", what, "remove the override: the release has caught up", warning=True
        )


def _twice(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, first, override in doubled(draft.written_overrides(), lambda override: override.pin):
        yield Problem(
            f"{path}.pin", f"{override.pin} is overridden in {first} already", "keep one of them"
        )


@each(Draft.written_overrides)
def _version(path: str, override: Override, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if override.pin != "kubernetesVersion":
        return
    if not draft.makes_cluster:
        what = "kubernetesVersion is set for a cluster this stack does not make"
        yield Problem(f"{path}.pin", what, "remove it: the cluster's owner decides this")
    elif draft.cluster and "kubernetes_version" in draft.cluster.model_fields_set:
        what = "kubernetesVersion is set in cluster.kubernetesVersion as well"
        yield Problem(f"{path}.pin", what, "keep one of them")


RULES = (_candidate, _value, _twice, _version)
