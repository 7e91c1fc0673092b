"""What a stack remembers of its last update: where its own cluster was, and what its file said that a cloud keeps.

An edit of the stack file never moves a cluster (docs/adr/0031): the engine would delete it and make another. What was remembered is
an output of the stack, read as a stack reference does (https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences). A
program that does not export it remembers nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from components.resources import outputs_of
from config.model.pool import Pool, SystemPool
from config.problems import Problem, report

REMEMBERED = "remembered"
"""The output's name."""

LOSE_IT = (
    "put it back; or, to lose the cluster with all that is in it and make another: `pulumi destroy`, then `pulumi up` (where "
    "`cluster.protect` is true, an `up` with false first)"
)

_KEYS = {
    "clusterName": "cluster.name",
    "resourceGroup": "cloud.resourceGroup",
    "project": "cloud.project",
    "location": "cloud.location",
}
"""What says where a cluster is, and the keys of the stack file behind it."""


def read() -> Mapping[str, Any]:
    """What the stack remembers; empty before its first update. Raises `pulumi.RunError` when its outputs cannot be read."""
    stack = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    try:
        found = outputs_of(stack).get(REMEMBERED)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a call.
        raise pulumi.RunError(f"the outputs of the last update of {stack} cannot be read: {failed}") from None
    return found if isinstance(found, Mapping) else {}


def asked(pool: Pool | SystemPool) -> dict[str, Any]:
    """What the stack file says of a pool and AKS keeps when it says it no longer, by the file's keys."""
    said = {"osDisk.type": pool.os_disk.type, "osDisk.sizeGb": pool.os_disk.size_gb, "maxPods": pool.max_pods}
    return {key: value for key, value in said.items() if value is not None}


def refuse(was: Mapping[str, Any], place: Mapping[str, str]) -> None:
    """Raises `pulumi.RunError` when the stack has made a cluster elsewhere than in `place`; empty for a stack that makes none."""
    found = sorted(problems(was, place))
    if found:
        raise pulumi.RunError(report(found))


def warn_of_missing(was: Mapping[str, Any], place: Mapping[str, str], look: str) -> None:
    """Tell that a cluster which the stack has made is not found where it was: it is gone, or somebody else's login reads."""
    if was.get("place") == place:
        name = place["clusterName"]
        pulumi.log.warn(
            f"The stack's cluster {name} is not found and will be made again; if it is there, stop:\n  {look}"
        )


def problems(was: Mapping[str, Any], place: Mapping[str, str]) -> Iterator[Problem]:
    """What differs from the place of the last update."""
    before: Mapping[str, str] = was.get("place") or {}
    if before and before.keys() != place.keys():
        yield Problem("cloud", f"the stack has made the cluster {before['clusterName']}, which would go", LOSE_IT)
        return
    for part, then in before.items():
        if then != place[part]:
            what = f"is {then} and cannot become {place[part]}: a new cluster would replace it"
            yield Problem(_KEYS[part], what, LOSE_IT)
