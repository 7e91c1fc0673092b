"""The clouds that the rules know, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policy.azure.azure_cloud import CLOUD as AZURE
from policy.cloud import Cloud, Pool
from policy.declared import Declared
from policy.gcp.gcp_cloud import CLOUD as GCP
from policy.rule import Finding, Settings

CLOUDS: tuple[Cloud, ...] = (
    AZURE,
    GCP,
)


def pools(declared: Declared) -> Iterator[Pool]:
    """Yield the node pools in one resource of any cloud."""
    for cloud in CLOUDS:
        yield from cloud.pools(declared)


def check_of_clouds(rule: str) -> Callable[[Declared, Settings], Iterator[Finding]]:
    """Return the check of a rule that each cloud spells in its own way."""

    def check(declared: Declared, settings: Settings) -> Iterator[Finding]:
        for cloud in CLOUDS:
            if rule in cloud.checks:
                yield from cloud.checks[rule](declared)

    return check
