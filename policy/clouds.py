"""The pools of both clouds."""

from __future__ import annotations

from collections.abc import Iterator

from policy import azure, gcp
from policy.declared import Declared
from policy.pool import Pool


def pools(declared: Declared) -> Iterator[Pool]:
    """The pools in one resource, which may be several; none in any that is of neither cloud."""
    yield from azure.pools(declared)
    yield from gcp.pools(declared)
