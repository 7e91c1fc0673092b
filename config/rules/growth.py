"""Checks of `growth.order`: the chains and pools it names, and whether it has any effect."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft
from config.placement import names
from config.problems import Problem


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    order = draft.growth.order if draft.growth else ()
    pools = set(draft.of_pools(lambda pool: pool.name))
    chains = draft.of_pools(names.chain)
    twins = dict(draft.of_pools(lambda pool: (names.twin_name(pool, cloud), pool.name)))
    for number, name in enumerate(order):
        path = f"growth.order[{number}]"
        head = next((chain[0] for chain in chains if name in chain[1:]), None)
        if name in order[:number]:
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
            known = sorted({chain[0] for chain in chains} - {later for chain in chains for later in chain[1:]})
            yield Problem(path, f"there is no pool {name!r}", f"one of: {', '.join(known) or '(no pool)'}")


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not cloud.makes_pools:
        yield Problem(
            "growth.order", "is never read: this stack does not say how these pools grow", "remove it", warning=True
        )


RULES = (_names, _unread)
