"""Rules of local SSDs (docs.cloud.google.com/compute/docs/disks/local-ssd)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import nodes_of
from config.clouds.gcp.gcp_tables import local_ssds
from config.clouds.traits import Cloud
from config.model.fields import given
from config.model.pool import AnyPool
from config.rules.draft import Draft


def _count(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    nodes = nodes_of(pool)
    if nodes is None or nodes.local_ssd is None:
        return
    machine, written = local_ssds(pool.machine), given(nodes.local_ssd, "count")
    where = f"{path}.gcp.localSsd"
    if machine and not machine.counts:
        yield Problem(
            where, f"{pool.machine} has no local SSDs", "remove it, or take another machine"
        )
        return
    numbers = " or ".join(map(str, machine.counts)) if machine else "the number that it takes"
    if not written:
        if machine is None or not machine.fixed:
            yield Problem(f"{where}.count", "is missing", f"{pool.machine}: {numbers}")
    elif machine and nodes.local_ssd.count not in machine.counts:
        yield Problem(
            f"{where}.count",
            f"is {nodes.local_ssd.count}, which {pool.machine} does not take",
            numbers,
        )


ANY_POOL_RULES = (_count,)
