"""Checks of the replacement of nodes by newer ones (page node-pool-upgrade-strategies)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import AnyPool
from config.rules.draft import Draft

_MOST_AT_ONCE = 20


def _whole_nodes(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.upgrade:
        return
    given = {"maxSurge": pool.upgrade.max_surge, "maxUnavailable": pool.upgrade.max_unavailable}
    for key, text in given.items():
        if text and text.endswith("%"):
            yield Problem(
                f"{path}.upgrade.{key}",
                f"is {text}: GKE takes whole nodes, no shares",
                'write for example "1"',
            )


def _no_way(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # pulumi-gcp, `upgradeSettings`: one of them must be greater than zero
    if (
        pool.upgrade
        and (pool.upgrade.max_surge or "0") == (pool.upgrade.max_unavailable or "0") == "0"
    ):
        yield Problem(
            f"{path}.upgrade",
            "leaves no way to exchange a node: maxSurge and maxUnavailable are both 0",
            'write `maxSurge: "1"`, or `maxUnavailable: "1"` where quota leaves no room, or leave it out',
        )


def _at_once(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    texts = (
        (pool.upgrade.max_surge or "0", pool.upgrade.max_unavailable or "0") if pool.upgrade else ()
    )
    # `_whole_nodes` reports shares.
    at_once = sum(int(text) for text in texts if not text.endswith("%"))
    # terraform-provider-google, container_node_pool, `upgrade_settings`; page node-pool-upgrade-strategies
    if at_once > _MOST_AT_ONCE:
        yield Problem(
            f"{path}.upgrade",
            f"exchanges {at_once} nodes at once, maxSurge and maxUnavailable together",
            f"at most {_MOST_AT_ONCE} together",
        )


ANY_POOL_RULES = (_whole_nodes, _no_way, _at_once)
