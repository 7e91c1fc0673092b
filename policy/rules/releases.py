"""The release of a production cluster."""

from __future__ import annotations

from collections.abc import Iterator

from policy.declared import Declared
from policy.rule import Finding, Rule, Settings

_CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
_CANDIDATE = "next"


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    # The contract with users' tools has the cluster's release.
    contract = declared.type == _CONFIG_MAP and declared.get("metadata.namespace") == "kube-public"
    if contract and declared.get("data.release") == _CANDIDATE:
        yield Finding(
            "data.release",
            "a release that may still change",
            "name one in the stack file that is released",
        )


RELEASE = Rule(
    name="release-unreleased",
    refuses="A production cluster of a release that is not released",
    reason="Its file changes from day to day, so two updates of one stack file would not be the same",
    sources=("https://semver.org/#spec-item-3",),
    check=_check,
    production=True,
)
