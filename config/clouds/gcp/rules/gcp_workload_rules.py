"""Checks of checkpoints that are Google Cloud's: names of buckets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.traits import Cloud
from config.rules.draft import Draft
from config.rules.workload_rules import checkpoints

_BUCKET = r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]"
"""docs.cloud.google.com/storage/docs/buckets, "Bucket name requirements". A name with dots needs a domain that is verified as one's
own, and is not made here."""

_DOTTED = r"[a-z0-9][a-z0-9_.-]{1,220}[a-z0-9]"


def _name(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    name = wanted.name if wanted else None
    path = "workloads.checkpoints.name"
    if name is None:
        return
    if not re.fullmatch(_BUCKET, name):
        what = f"{name!r} is not a valid name for a bucket"
        remedy = "3 to 63 lower-case letters, digits, - and _, first and last a letter or digit"
        yield Problem(path, what, remedy)
    # Same page. Spellings near `google` are refused as well, which the page does not list.
    elif name.startswith("goog") or "google" in name:
        yield Problem(
            path,
            f"{name!r} begins with goog or holds google, which Google keeps",
            "take another name",
        )


def _existing(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    name = wanted.existing if wanted else None
    if name is not None and not re.fullmatch(_DOTTED, name):
        what = f"{name!r} is not the name of a bucket"
        yield Problem(
            "workloads.checkpoints.existing", what, "write the bucket's name alone, without gs://"
        )


NEW_CLUSTER_RULES = (_name, _existing)
