"""Google's capacity advice: the questions for a stack, and what the answers mean.

POST compute/beta/projects/PROJECT/regions/REGION/advice/capacity (pages advice.capacity and
view-vm-availability). It changes nothing. Compute Engine's v1 refuses spot (google/skills,
compute-spot-capacity-advice), and clients that have the method (google-cloud-compute 1.57) want a
protobuf that pulumi-policy does not take: the session of the credentials sends the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checks.check import Remark
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand
from checks.preflight.spot import Level, Score, advice_of, judge, spot_pools
from config.clouds.gcp.gcp_tables import accelerator

PART = "capacityAdvice"
_ROLE = "the role Compute Viewer on the project (docs/operate.md), or leave it: it is advice alone"
_ENOUGH, _MIDDLE = 0.7, 0.4
"""From these on the chance is high, and medium (page view-vm-availability, "obtainability
score")."""


def questions(demand: Demand, zones: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the requests' bodies, each with the name of its part.

    `zones` are those of a pool that names none.
    """
    for need in spot_pools(demand):
        selection: dict[str, Any] = {"machineTypes": [need.machine]}
        if need.gpus and need.machine.startswith("n1-"):
            # A GPU that is attached; other machines have theirs.
            kind = {"acceleratorType": accelerator(need.gpu_model), "acceleratorCount": need.gpus}
            selection["guestAccelerators"] = [kind]
        yield (
            f"{PART} {need.pool}",
            {
                "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
                "instanceFlexibilityPolicy": {"instanceSelections": {need.pool: selection}},
                "size": need.most,
                "distributionPolicy": {
                    "targetShape": "ANY",
                    "zones": [{"zone": f"zones/{zone}"} for zone in need.zones or zones],
                },
            },
        )


def spot(answers: Answers) -> Iterator[Remark]:
    """Say what the advice means for the stack's chains."""
    documents, unseen = advice_of(answers, PART)
    scores = {
        name.partition(" ")[2]: score
        for name, document in documents.items()
        if (score := _score(document))
    }
    yield from judge(answers.demand, scores, unseen, f"give the user {_ROLE}")


def _score(document: Any) -> Score | None:
    recommendations = (document or {}).get("recommendations") or [{}]
    scores = recommendations[0].get("scores") or {}
    chance = scores.get("obtainability")
    if chance is None:
        return None
    level: Level = "high" if chance >= _ENOUGH else "medium" if chance >= _MIDDLE else "low"
    seconds = str(scores.get("estimatedUptime") or "").removesuffix("s")
    lasting = (
        f", for about {float(seconds) / 3600:.1f} h"
        if seconds.replace(".", "", 1).isdigit()
        else ""
    )
    return Score(level, f"{level} ({chance:.1f}{lasting})")
