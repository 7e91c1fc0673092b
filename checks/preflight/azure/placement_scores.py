"""Azure's Spot Placement Score: the questions for a stack, and what the answers mean.

POST .../providers/Microsoft.Compute/locations/REGION/placementScores/spot/generate (page
spot-placement-score of 2026-05): up to five sizes a request, one count of machines, by zone or for
the region. It changes nothing. Its client for Python is a beta (azure-mgmt-computerecommender
1.0.0b3), so the request is sent by the client in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, get_args

from checks.check import Remark
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand, Need
from checks.preflight.spot import Level, Score, advice_of, judge, spot_pools

VERSION = "2025-06-05"
_MOST_SIZES = 5
_OTHERS = {
    "restrictedskunotavailable": "closed to this subscription",
    "datanotfoundorstale": "without a score",
}
PART = "placementScores"
_ROLE = (
    "the role Compute Recommendations Role on the subscription (docs/azure.md, Rights), or leave"
    " it: it is advice alone"
)


def questions(demand: Demand, location: str) -> Iterator[tuple[str, Any]]:
    """Yield the requests' bodies, each with a name: pools with the same count, by zone or not, are
    one request."""
    for (count, zonal), needs in groupby(sorted(spot_pools(demand), key=_kind), _kind):
        sizes = sorted({need.machine for need in needs})
        for begin in range(0, len(sizes), _MOST_SIZES):
            part = sizes[begin : begin + _MOST_SIZES]
            body = {
                "desiredLocations": [location],
                "desiredSizes": [{"sku": size} for size in part],
                "desiredCount": count,
                "availabilityZones": zonal,
            }
            yield _question(count, zonal) + ", ".join(part), body


def _kind(need: Need) -> tuple[int, bool]:
    """Return what a request asks of all its sizes alike: the number of machines, and whether by
    zone."""
    return need.most, bool(need.zones)


def _question(count: int, zonal: bool) -> str:
    return f"{PART} {count} {'zonal' if zonal else 'regional'} "


def spot(answers: Answers) -> Iterator[Remark]:
    """Say what the scores mean for the stack's chains."""
    documents, unseen = advice_of(answers, PART)
    scores = {}
    for need in spot_pools(answers.demand):
        own = [
            document
            for name, document in documents.items()
            if name.startswith(_question(*_kind(need)))
        ]
        score = _score(
            need, [row for document in own for row in document.get("placementScores") or ()]
        )
        if score:
            scores[need.pool] = score
    yield from judge(answers.demand, scores, unseen, f"give the user {_ROLE}")


def _score(need: Need, rows: list[Mapping[str, Any]]) -> Score | None:
    """Return the score of a pool: the best of its zones, or the region's.

    None without an answer about it.
    """
    own = {
        str(row.get("availabilityZone") or ""): str(row.get("score") or "").lower()
        for row in rows
        if str(row.get("sku")).lower() == need.machine.lower()
        and (str(row.get("availabilityZone")) in need.zones or not need.zones)
    }
    if not own:
        return None
    level = next((each for each in get_args(Level) if each in own.values()), None)
    shown = {zone: _OTHERS.get(score, score or "without a score") for zone, score in own.items()}
    words = (
        ", ".join(f"zone {zone} {shown[zone]}" for zone in sorted(shown))
        if need.zones
        else next(iter(shown.values()))
    )
    return Score(level, f"({words})" if need.zones else words)
