"""Checks of `growth.order`: which chains and pools it names, and whether anybody reads it."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.placement import node_pools
from config.problems import Problem


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = draft.growth.order if draft.growth else ()
    pools = set(draft.of_pools(lambda pool: pool.name))
    chains = draft.of_pools(node_pools.chain)
    twins = dict(draft.of_pools(lambda pool: (node_pools.twin_name(pool, cloud), pool.name)))
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
        elif draft.names_are_known() and name not in pools:
            known = sorted({one[0] for one in chains} - {later for one in chains for later in one[1:]})
            yield Problem(path, f"there is no pool {name!r}", f"one of: {', '.join(known) or '(no pool)'}")


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not cloud.makes_pools:
        yield Problem(
            "growth.order", "is never read: this stack does not say how these pools grow", "remove it", warning=True
        )


RULES = (_names, _unread)
