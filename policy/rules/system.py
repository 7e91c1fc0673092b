"""Pools for the cluster's own pods."""

from __future__ import annotations

from collections.abc import Iterator

from policy.clouds import pools
from policy.declared import Declared
from policy.rule import Finding, Rule, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for pool in pools(declared):
        if pool.spot and pool.system_at:
            yield Finding(
                pool.spot.path,
                f"machines that may be evicted, though {pool.system_at} makes it a pool for the cluster's own pods",
                "make it on-demand, and add a separate spot pool for work that can be lost",
            )


SYSTEM_POOL = Rule(
    name="system-pool-on-spot",
    refuses="A system pool of spot or preemptible machines",
    reason="With it go the cluster's DNS, metrics and webhooks, and nothing is scheduled until they are back. AKS refuses it",
    sources=(
        "https://learn.microsoft.com/azure/aks/use-system-pools",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms",
    ),
    check=_check,
)
