"""Protection of a cluster from deletion by mistake."""

from __future__ import annotations

from collections.abc import Iterator

from policy import clouds
from policy.declared import Declared
from policy.rule import Finding, Rule, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    if declared.type in [cloud.cluster for cloud in clouds.CLOUDS] and not declared.protected:
        yield Finding(
            "protect",
            "the resource option is not set",
            "declare the cluster with protect=True (`cluster.protect` in a stack file of this program)",
        )


CLUSTER = Rule(
    name="cluster-unprotected",
    refuses="A production cluster that an update may delete or replace",
    reason="Some settings cannot change in place, and a replaced cluster takes everything in it along",
    sources=("https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",),
    check=_check,
    production=True,
)
