"""The release that a cluster was declared with, as this stack's own contract in it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components.addons import names
from config import releases
from config.problems import Problem, report


def check(wanted: str, found: Mapping[str, Any] | None, instance: str) -> tuple[str, ...]:
    """Warnings about the way from the cluster's release to the one that is wanted.

    `found` is the ConfigMap kube-public/kubeflow-spot of the cluster, None when there is none. Raises `pulumi.RunError` when a
    newer program declared the cluster: this one does not know what it would take away.
    """
    there = declared(found, instance)
    if there is None or there == wanted:
        return ()
    # One that is older and no longer here is no obstacle to a newer one.
    if not releases.known(there) and not releases.newer(releases.names()[-1], there):
        what = (
            f"the cluster was declared with {there}, which this program does not know (its newest is {releases.names()[-1]});"
            f" the stack file says {wanted}"
        )
        remedy = f"update the checkout (git pull, uv sync) to one that has config/releases/{there}.toml"
        raise pulumi.RunError(report([Problem("release", what, remedy)]))
    if not releases.newer(there, wanted):
        return ()
    # The candidate may have become the release that is wanted, without a change.
    older = "may be older" if there == releases.CANDIDATE else "is older"
    return (
        f"release: the cluster was declared with {there}; {wanted} {older}. Images go back, and what only {there} declares is"
        " taken away; Kubernetes stays as it is (docs/releases.md, Going back)",
    )


def declared(found: Mapping[str, Any] | None, instance: str) -> str | None:
    """The release in the contract; None where there is none of this stack's."""
    if found is None or not names.is_ours(names.labels_of(found), instance):
        return None
    release = (found.get("data") or {}).get("release")
    return release if isinstance(release, str) else None
