"""Checks of `growth.order`: which chains and pools it names, and whether anybody reads it."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import readable
from config.placement import node_pools
from config.problems import Problem


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = draft.growth.order if draft.growth else ()
    pools = [pool for pool in draft.pools.values() if readable(pool, "name", "fallback")]
    chains = [node_pools.chain(pool) for pool in pools if all(readable(step, "pool") for step in pool.fallback)]
    twins = {twin: pool.name for pool in pools if (twin := node_pools.twin_name(pool, cloud))}
    for number, name in enumerate(named):
        path = f"growth.order[{number}]"
        head = next((one[0] for one in chains if name in one[1:]), None)
        if name in named[:number]:
            yield Problem(path, f"names {name!r} a second time", "remove it")
        elif name in twins:
            yield Problem(
                path, f"{name!r} is the twin of {twins[name]}, whose chain stays whole", f"write {twins[name]}"
            )
        elif head:
            yield Problem(
                path, f"{name!r} is a further step of the chain of {head}, which stays whole", f"write {head}"
            )
        elif draft.names_are_known() and name not in {pool.name for pool in pools}:
            known = sorted({one[0] for one in chains} - {later for one in chains for later in one[1:]})
            yield Problem(path, f"there is no pool {name!r}", f"one of: {', '.join(known) or '(no pool)'}")


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not cloud.makes_pools:
        yield Problem(
            "growth.order", "is never read: this stack does not say how these pools grow", "remove it", warning=True
        )


RULES = (_names, _unread)
