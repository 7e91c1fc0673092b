"""Checks of `queueing`: there are GPUs to wait for, and each namespace is named once."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.reading import doubled, part
from config.rules.draft import Draft, has_gpus


def _enabled(draft: Draft) -> bool:
    return bool(draft.queueing and part(draft.queueing, "enabled"))


def _no_gpus(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not _enabled(draft) or not draft.all_pools:
        return
    known = draft.of_pools(lambda pool: has_gpus(pool, cloud))
    if len(known) == len(draft.pools) and not any(known):
        what = "is true, and no pool has GPUs that work could wait for"
        yield Problem("queueing.enabled", what, "add a pool with GPUs, or remove `queueing`")


def _namespaces(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = (part(draft.queueing, "namespaces") if draft.queueing else None) or ()
    listed = [(f"queueing.namespaces[{index}]", name) for index, name in enumerate(named)]
    for path, first, name in doubled(listed, lambda name: name):
        yield Problem(path, f"{name!r} is {first} already", "name each namespace once")


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.queueing and draft.queueing.namespaces and not draft.queueing.enabled:
        what = "is never read: queueing is not enabled"
        yield Problem(
            "queueing.namespaces", what, "add `enabled: true`, or remove `queueing`", warning=True
        )


RULES = (_no_gpus, _namespaces, _unread)
