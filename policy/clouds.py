"""The clouds that the rules know, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from policy import azure, gcp
from policy.cloud import Cloud
from policy.declared import Declared
from policy.pool import Pool

CLOUDS: tuple[Cloud, ...] = (
    azure.CLOUD,
    gcp.CLOUD,
)


def pools(declared: Declared) -> Iterator[Pool]:
    """The node pools in one resource, which may be several; none in a resource of another cloud."""
    for cloud in CLOUDS:
        yield from cloud.pools(declared)
