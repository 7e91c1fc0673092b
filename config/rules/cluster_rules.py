"""Checks of the cluster itself on any cloud: name and version."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.rules.draft import Draft


def _version_override(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    cluster = draft.cluster
    if not cluster or not draft.makes_cluster:
        return
    if cluster.kubernetes_version and not cluster.reason:
        yield Problem(
            "cluster.reason",
            "is missing while kubernetesVersion overrides the release",
            "say why this stack leaves its release, for the reader of the outputs",
        )
    if cluster.reason and not cluster.kubernetes_version:
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
    elif not re.fullmatch(cloud.cluster_name, name):
        yield Problem(
            "cluster.name",
            f"{name!r} is not a valid name for {cloud.article} {cloud.title} cluster",
            cloud.cluster_name_words,
        )


RULES = (_version_override, _name)
