"""Checks of reclaimable machines: spot and its predecessor, preemptible (pages spot-vms and preemptible-vms)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import options_of
from config.clouds.traits import Cloud
from config.model.pool import Capacity, Pool
from config.rules.draft import Draft

_GRACE_SINCE = (1, 35)
"""Page spot-vms: from 1.35.0-gke.1171000."""

_GRACES = (30, 120)
"""Page node-system-config, quoted in magic-modules pull request 17556; page spot-vms says up to 120."""


def _preemptible(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity == Capacity.PREEMPTIBLE:
        yield Problem(
            f"{path}.capacity",
            "is preemptible: such machines end after 24 hours at the latest, and never have more than 30 s of notice",
            "write `capacity: spot`, which has neither limit",
            warning=True,
        )


def _both(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity == Capacity.PREEMPTIBLE and pool.spot:
        yield Problem(
            f"{path}.spot",
            "is set on a preemptible pool: a machine is bought in one way",
            "write `capacity: spot`",
        )


def _grace(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    seconds = options.shutdown_grace_seconds if options else None
    if seconds is None:
        return
    where, version = f"{path}.gcp.shutdownGraceSeconds", draft.kubernetes_version
    if pool.capacity != Capacity.SPOT:
        what = f"is set on a pool that is {pool.capacity}: only spot nodes can be given more notice"
        yield Problem(where, what, "remove it, or write `capacity: spot`")
    elif version and tuple(map(int, version.split(".")[:2])) < _GRACE_SINCE:
        yield Problem(
            where, f"needs Kubernetes 1.35, not {version}", "remove it, or take another release"
        )
    elif seconds not in _GRACES:
        what = f"is {seconds}: by one source GKE takes 30 and 120 only"
        yield Problem(where, what, "write 120, or leave it out", warning=True)


POOL_RULES = (_preemptible, _both, _grace)
