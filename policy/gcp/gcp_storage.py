"""Buckets."""

from __future__ import annotations

from collections.abc import Iterator

from policy.declared import UNKNOWN, Declared
from policy.rule import Finding

_BUCKET = "gcp:storage/bucket:Bucket"


def is_open(declared: Declared) -> Iterator[Finding]:
    """Buckets that can be opened to the internet, or whose objects have lists of their own beside the bucket's policy."""
    if declared.type != _BUCKET:
        return
    if declared.get("publicAccessPrevention") not in ("enforced", UNKNOWN):
        yield Finding(
            "publicAccessPrevention", "a grant may open it to the internet", "set it to enforced"
        )
    if declared.get("uniformBucketLevelAccess") not in (True, UNKNOWN):
        yield Finding(
            "uniformBucketLevelAccess",
            "lists of single objects give access that no policy shows",
            "set it to true",
        )
