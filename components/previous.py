"""Where the stack's own cluster was at its last update; an edit of the stack file never moves it (docs/adr/0031).

The engine would delete the cluster and make another. What the last update left is read from the stack's own outputs, as a stack
reference does (https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi

from components.declared import outputs_of
from spec.problems import Problem, report

LOSE_IT = (
    "put it back; or, to lose the cluster with all that is in it and make another: `pulumi destroy`, then `pulumi up`"
)

_KEYS = {
    "clusterName": "cluster.name",
    "resourceGroup": "cloud.resourceGroup",
    "project": "cloud.project",
    "location": "cloud.location",
}
"""Outputs that say where a cluster is, and the keys of the stack file behind them."""

_MADE_HERE = "systemPool"
"""An output of clusters that the stack made."""


def read() -> Mapping[str, Any]:
    """The stack's own outputs as of its last update; empty before the first. Raises `pulumi.RunError` when they cannot be read."""
    stack = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    try:
        return outputs_of(stack)
    except Exception as failed:
        # The SDK raises plain Exception for every error of a call.
        raise pulumi.RunError(f"the outputs of the last update of {stack} cannot be read: {failed}") from None


def refuse(was: Mapping[str, Any], place: Mapping[str, str]) -> None:
    """Raises `pulumi.RunError` when the stack has made a cluster elsewhere than in `place`, which is by output.

    Empty for a stack that makes none.
    """
    found = sorted(problems(was, place))
    if found:
        raise pulumi.RunError(report(found))


def warn_of_missing(was: Mapping[str, Any], place: Mapping[str, str], look: str) -> None:
    """Tell that a cluster which the stack has made is not found where it was: it is gone, or somebody else's login reads."""
    if _MADE_HERE in was and not any(problems(was, place)):
        name = place["clusterName"]
        pulumi.log.warn(
            f"The stack's cluster {name} is not found and will be made again; if it is there, stop:\n  {look}"
        )


def problems(was: Mapping[str, Any], place: Mapping[str, str]) -> Iterator[Problem]:
    """What differs from the outputs of the last update."""
    if _MADE_HERE not in was:
        return
    before = {output: str(was[output]) for output in _KEYS if output in was}
    if before.keys() != place.keys():
        yield Problem("cloud", f"the stack has made the cluster {before['clusterName']}, which would go", LOSE_IT)
        return
    for output, now in before.items():
        if now != place[output]:
            what = f"is {now} and cannot become {place[output]}: a new cluster would replace it"
            yield Problem(_KEYS[output], what, LOSE_IT)
