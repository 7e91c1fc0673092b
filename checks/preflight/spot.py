"""What a cloud says of its spot machines at the moment, and the order of growth that would follow
from it.

It is advice: a score is of one moment and promises nothing (Microsoft's page spot-placement-score,
Google's page view-vm-availability). So nothing here is an error: no right, no answer and a low
score are notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from checks.check import NotCompared, Remark, note, ok
from checks.preflight.answers import Answers, Document
from checks.preflight.demand import Demand, Need
from config.placement import object_names
from config.placement.growth_order import growth_order
from config.placement.node_pools import node_pools

Level = Literal["high", "medium", "low"]
_RANK: Mapping[Level | None, int] = {"high": 0, "medium": 1, None: 1, "low": 2}
"""A pool without a score is neither preferred nor put back."""


@dataclass(frozen=True)
class Score:
    """The chance to get a pool's machines now."""

    level: Level | None
    """None where the cloud has no score."""
    words: str
    """The cloud's own, such as `low` or `0.3, for 2 h`."""


def spot_pools(demand: Demand) -> tuple[Need, ...]:
    """Return the spot pools that a cloud is asked about."""
    return tuple(need for need in demand.needs if need.spot)


def advice_of(answers: Answers, part: str) -> tuple[Mapping[str, Document], list[str]]:
    """Return the answers of this part by name, and why others are missing.

    Raises `NotCompared` where none was asked.
    """
    documents = {
        name: found for name, found in answers.parts.items() if name.startswith(f"{part} ")
    }
    unseen = [
        f"{name}: {why}" for name, why in answers.unseen.items() if name.startswith(f"{part} ")
    ]
    if spot_pools(answers.demand) and not documents and not unseen:
        raise NotCompared(f"{part} could not be asked, because the stack's region is not known")
    return documents, unseen


def judge(
    demand: Demand, scores: Mapping[str, Score], unseen: Sequence[str], remedy: str
) -> Iterator[Remark]:
    """Say the score of each spot pool, and the order by it.

    `scores` is by pool, `unseen` has why some were not advice_of.
    """
    pools = spot_pools(demand)
    if not pools:
        yield ok("the stack has no spot pool to ask about")
        return
    for why in unseen:
        yield note(f"spot was not asked about: {why}", remedy)
    shown = [f"{need.pool} {scores[need.pool].words}" for need in pools if need.pool in scores]
    if not shown:
        return
    now, better = _orders(demand, scores)
    words = f"spot now, for each pool at its most nodes: {', '.join(shown)}"
    if better != now:
        yield note(
            f"{words}; the order is {', '.join(now)}",
            f"growth.order: [{', '.join(better)}], while that holds",
        )
    elif any(score.level != "high" for score in scores.values()):
        yield note(f"{words}; no other order is better")
    else:
        yield ok(words)


def _orders(demand: Demand, scores: Mapping[str, Score]) -> tuple[list[str], list[str]]:
    """Return the order in which GPU pools grow, and the one by the scores.

    The spot pools of a chain change places with each other; twins, and all that the order puts
    behind them, stay.
    """
    pools = {pool.name: pool for pool in node_pools(demand.spec, demand.cloud)}
    grown = growth_order(demand.spec, list(pools.values()), demand.cloud)
    now = [name for name in grown if name in pools and pools[name].gpus]
    better = list(now)
    for source in demand.spec.pools:
        twin = object_names.twin_name(source, demand.cloud)
        until = now.index(twin) if twin in now else len(now)
        places = [now.index(name) for name in object_names.chain(source) if name in now]
        places = sorted(place for place in places if place < until and now[place] in scores)
        steps = sorted(
            (better[place] for place in places), key=lambda name: _RANK[scores[name].level]
        )
        for place, name in zip(places, steps, strict=True):
            better[place] = name
    return now, better
