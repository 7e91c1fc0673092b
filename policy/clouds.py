"""The clouds that the rules know, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from policy.azure.azure_cloud import CLOUD as AZURE
from policy.cloud import Cloud
from policy.declared import Declared
from policy.gcp.gcp_cloud import CLOUD as GCP
from policy.pool import Pool

CLOUDS: tuple[Cloud, ...] = (
    AZURE,
    GCP,
)


def pools(declared: Declared) -> Iterator[Pool]:
    """The node pools in one resource, which may be several; none in a resource of another cloud."""
    for cloud in CLOUDS:
        yield from cloud.pools(declared)
