"""Storage for users' work on any cloud: what outputs and contract show of it, and what the next
update remembers.

An edit of a file must not delete data: a dropped bucket stays in the cloud (docs/adr/0024), and a
renamed one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from components import refusal
from components.last_update import LastUpdate
from config.base.problems import Problem
from config.model.spec import ClusterSpec
from config.model.workloads import ProfileAccess

REMEMBERED = "checkpoints"
"""Key of the storage's name in the last update (`components.last_update`)."""

_PATH = "workloads.checkpoints"


@dataclass(frozen=True)
class Access:
    """What pods of a profile need to reach their prefix."""

    profile: ProfileAccess
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels that such a pod must have."""
    env: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Environment variables that such a pod must have."""


def published(url: str, accesses: Iterable[Access]) -> dict[str, Any]:
    """Return storage at `url`, which ends in `/`, for outputs and contract."""
    return {
        "checkpoints": {"url": url},
        "profiles": [
            {
                "namespace": access.profile.namespace,
                "serviceAccounts": list(access.profile.service_accounts),
                "url": url + access.profile.path,
                "labels": dict(access.labels),
                "env": dict(access.env),
            }
            for access in accesses
        ],
    }


def as_output(spec: ClusterSpec, of_cloud: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return all storage for outputs and contract. `of_cloud`: from `published`."""
    title = spec.workloads.storage_class
    return {**(of_cloud or {}), **({"storageClass": title} if title else {})}


def remembered(spec: ClusterSpec) -> dict[str, str]:
    """Return the name of the storage that the stack makes, for the next update."""
    wanted = spec.workloads.checkpoints
    return {REMEMBERED: wanted.name} if wanted and wanted.name else {}


def refuse_rename(spec: ClusterSpec, last_update: LastUpdate) -> None:
    """Refuse a new name, which would begin empty; log that dropped storage stays."""
    before, now = last_update.get(REMEMBERED), remembered(spec).get(REMEMBERED)
    if before is None or before == now:
        return
    if now:
        what = f"is {before} and cannot become {now}: the profiles would begin with empty storage"
        remedy = (
            "put it back; or remove `checkpoints` and `profiles` in an `up` of its own first and "
            "then write them with the new "
            f"name: {before} stays, with its objects"
        )
        refusal.refuse_settings([Problem(f"{_PATH}.name", what, remedy)])
    pulumi.log.warn(
        f"{_PATH}: {before} is no longer this stack's; it stays in the cloud, with its objects "
        "and its bill\n"
        "  `existing` in place of `name` gives profiles their rights there again"
    )
