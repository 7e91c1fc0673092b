"""Rules of the cluster on any cloud: name, release, overrides, Kubernetes version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from config.base.near import with_form
from config.base.problems import Problem
from config.clouds.tables import Versions, minor_number
from config.clouds.traits import Cloud
from config.model import repairs
from config.model.fields import FORMS, given
from config.model.reading import doubled, known, written
from config.model.release import PINS, Override, pinned
from config.model.wording import ITSELF, NO_TEMPLATE
from config.rules.draft import Draft, each


def _version_override(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    cluster = draft.cluster
    if not cluster or not draft.makes_cluster:
        return
    if given(cluster, "kubernetes_version") and not given(cluster, "reason"):
        yield Problem(
            "cluster.reason",
            "is missing while kubernetesVersion overrides the release",
            "add why, for the reader of the outputs, such as `reason: our Istio is tested up to it`",
        )
    if written(cluster, "reason") and not cluster.kubernetes_version:
        yield Problem(
            "cluster.reason",
            "has no use without kubernetesVersion",
            "remove it, or set kubernetesVersion",
        )
    if draft.release and cluster.kubernetes_version == draft.release.kubernetes_version:
        what = f"is what {draft.release.name} has"
        yield Problem(
            "cluster.kubernetesVersion", what, "remove it: the release has caught up", warning=True
        )


def _name(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.cluster or not draft.makes_cluster:
        return
    name = draft.cluster.name
    if name is None:
        yield Problem("cluster.name", "is missing", "add `name`")
    elif repairs.is_placeholder(name) or "${" in name:
        yield Problem("cluster.name", f"is {name!r}, {NO_TEMPLATE}", ITSELF)
    elif not re.fullmatch(cloud.cluster_name, name):
        yield Problem(
            "cluster.name",
            f"{name!r} is not a valid name for {cloud.article} {cloud.title} cluster",
            with_form(name, cloud.cluster_name) + cloud.cluster_name_words,
        )


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
        meant = repairs.repaired(value, PINS[pin])
        remedy = f'write "{meant}"' if meant else f"write {FORMS[PINS[pin]]}"
        yield Problem(f"{path}.value", f"{value!r} cannot be {pin}", remedy)
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
        yield Problem(f"{path}.pin", what, "remove this entry: the cluster's owner decides this")
    elif draft.cluster and "kubernetes_version" in draft.cluster.model_fields_set:
        what = "kubernetesVersion is set in cluster.kubernetesVersion as well"
        yield Problem(f"{path}.pin", what, "keep one of them")


_AHEAD = 6
"""Minor versions of two years, three a year (kubernetes.io/releases/release). A stack further ahead
of our lists has a typing mistake, or needs a newer program."""

_BEHIND = 9
"""Minor versions of three years. A cluster may keep a version long after its cloud dropped it: AKS
checks new clusters and upgrades (hashicorp/terraform-provider-azurerm #8147, ansible/ansible PR
54090)."""

KEPT = "an existing cluster may keep it"
"""The reason why a version that a cloud dropped only draws a warning."""


def check_offered(
    path: str, version: str, had: Versions, title: str, command: str
) -> Iterator[Problem]:
    """Yield a problem for a version that the cloud does not offer; `command` lists today's
    versions.

    Warn of an older version, which an existing cluster may have, and of a newer one, which may
    exist by now. Refuse a version far from the list: no cluster has it.
    """
    if minor_number(version) < minor_number(had.first) - _BEHIND:
        yield Problem(
            path,
            f"is {version}: {title} had {had.first} to {had.last} in {had.read}, and dropped it "
            "long ago",
            f'a later version, such as "{had.last}"; `{command}` lists them',
        )
    elif minor_number(version) < minor_number(had.first):
        yield Problem(
            path,
            f"is {version}: {title} had {had.first} to {had.last} in {had.read}; {KEPT}",
            f'a new cluster needs a later version, such as "{had.last}"; `{command}` lists them',
            warning=True,
        )
    elif minor_number(version) > minor_number(had.last) + _AHEAD:
        yield Problem(
            path,
            f"is {version}, which does not exist: in {had.read} {title} had {had.first} to "
            f"{had.last}, and Kubernetes has three minor versions a year",
            f'for example "{had.last}"; `{command}` lists them',
        )
    elif minor_number(version) > minor_number(had.last):
        yield Problem(
            path,
            f"is {version}, newer than any that {title} had in {had.read}",
            f"make sure that the cloud has it: `{command}`",
            warning=True,
        )


@dataclass(frozen=True)
class Question:
    """A key that a production stack should decide; a warning only (docs/adr/0011)."""

    path: str
    is_open: Callable[[Any, Draft], object]
    """Whether the file leaves the key to its default; it gets the settings of `cloud`."""
    problem: str
    """What is true with the default."""
    safe: str
    """What to write instead."""
    accepts: str
    """The line that keeps the default."""


def ask(*questions: Question) -> Callable[[Any, Draft, Cloud], Iterator[Problem]]:
    """Return the rule that warns of each question that a production stack leaves open."""

    def rule(settings: Any, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        for question in questions if draft.production else ():
            if known(partial(question.is_open, settings, draft), False):
                what = f"is not decided in a production stack: {question.problem}"
                remedy = f"write {question.safe}; {question.accepts} accepts it"
                yield Problem(question.path, what, remedy, warning=True)

    return rule


RULES = (_version_override, _name, _candidate, _value, _twice, _version)
