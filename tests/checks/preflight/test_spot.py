"""What clouds say of spot now: shown with the order that would follow, and never an error."""

from dataclasses import replace
from typing import Any

import pytest
import requests

from checks import stack
from checks.findings import Exit, Finding, State, Unasked, exit_status
from checks.preflight import clouds
from checks.preflight.answers import Answers
from checks.preflight.azure import placement_scores
from checks.preflight.demand import Demand, demand
from checks.preflight.gcp import capacity_advice
from tests.checks.preflight.accounts import PROJECT, answers, documents
from tests.checks.preflight.test_clients import SUBSCRIPTION, asked_of_azure
from tests.checks.preflight.wire import Refusal


def _spot(given: Answers) -> list[Finding]:
    return [finding for finding in clouds.findings(given) if finding.check == "spot"]


def _prod() -> Demand:
    return demand(stack.read_spec(PROJECT, "prod"))


def _scored(scores: dict[str, str], zones: tuple[str, ...] = ()) -> Answers:
    """Return prod's answers of Azure: a score by size, or by size and zone."""
    wanted = _prod()
    wanted = replace(wanted, needs=tuple(replace(need, zones=zones) for need in wanted.needs))
    rows: list[dict[str, Any]] = [
        {"sku": size, "availabilityZone": zone or None, "score": score}
        for place, score in scores.items()
        for size, _, zone in [place.partition("/")]
    ]
    parts = {name: {"placementScores": rows} for name, _ in placement_scores.questions(wanted, "westeurope")}
    return Answers(wanted, parts)


T4, BIG, A100 = "Standard_NC4as_T4_v3", "Standard_NC16as_T4_v3", "Standard_NC24ads_A100_v4"


def test_pools_of_one_count_are_one_question() -> None:
    asked = dict(placement_scores.questions(_prod(), "westeurope"))
    assert [(body["desiredCount"], [size["sku"] for size in body["desiredSizes"]]) for body in asked.values()] == [
        (4, [BIG, A100]),
        (16, [T4]),
    ]
    assert all(not body["availabilityZones"] for body in asked.values())


def test_high_scores_are_ok_and_low_ones_a_note_with_the_order_by_them() -> None:
    (fine,) = _spot(_scored({T4: "High", BIG: "High", A100: "High"}))
    assert fine.state == State.OK
    assert fine.says.endswith("a100 high, t4 high, t4big high")
    given = _scored({T4: "High", BIG: "High", A100: "Low"})
    (low,) = _spot(given)
    assert (low.state, low.remedy) == (State.NOTE, "")
    assert low.says.endswith("a100 low, t4 high, t4big high; no other order is better")
    assert exit_status(_spot(given)) == Exit.READY


def test_a_chain_begins_with_the_pool_that_has_spot() -> None:
    """In a region without known prices t4big stands before the twin, and so they may change places."""
    file = stack.read_spec(PROJECT, "prod")
    cloud = file.cloud.model_copy(update={"location": "norwayeast"})
    wanted = demand(file.model_copy(update={"cloud": cloud}))
    given = _scored({T4: "Low", BIG: "High", A100: "Medium"})
    (note,) = _spot(replace(given, demand=wanted))
    assert note.state == State.NOTE
    assert "a100 medium, t4 low, t4big high; the order is t4, t4big, t4od," in note.says
    assert note.remedy.startswith("growth.order: [t4big, t4, t4od, ")
    # Behind the twin, where it is too dear, its score moves nothing.
    (kept,) = _spot(given)
    assert kept.says.endswith("no other order is better")


def test_zones_are_named_and_the_best_one_counts() -> None:
    rows = {
        f"{size}/{zone}": score
        for size in (T4, BIG, A100)
        for zone, score in (("1", "Low"), ("2", "High"), ("3", "Low"))
    }
    (found,) = _spot(_scored(rows, ("1", "2")))
    assert found.state == State.OK
    assert "t4 (zone 1 low, zone 2 high)" in found.says


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("RestrictedSkuNotAvailable", "closed to this subscription"),
        ("DataNotFoundOrStale", "without a score"),
        ("", "without"),
    ],
)
def test_a_size_without_a_score_is_a_note(score: str, words: str) -> None:
    (found,) = _spot(_scored({T4: score, BIG: "High", A100: "High"}))
    assert (found.state, f"t4 {words}" in found.says) == (State.NOTE, True)


@pytest.mark.parametrize(
    "answer", [403, 429, 500, 404, Refusal(400, "BadRequest"), requests.exceptions.ConnectionError("reset"), "no JSON"]
)
def test_no_right_and_no_answer_is_a_note_and_the_rest_is_ready(answer: Any) -> None:
    path = (
        f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.compute/locations/westeurope/placementscores/spot/generate"
    )
    read, _ = asked_of_azure(documents("azure") | {path: answer})
    (found,) = _spot(read)
    assert found.state == State.NOTE
    assert found.says.startswith(f"spot was not asked about: placementScores 8 regional {T4}: ")
    assert "Compute Recommendations Role" in found.remedy
    assert exit_status(clouds.findings(read)) == Exit.READY


@pytest.mark.parametrize(
    ("chance", "state", "words"),
    [
        (0.7, State.OK, "l4 high (0.7, for about 2.0 h)"),
        (0.5, State.NOTE, "l4 medium (0.5, for about 2.0 h)"),
        (0.1, State.NOTE, "l4 low (0.1, for about 2.0 h)"),
    ],
)
def test_googles_advice_has_a_chance_and_a_time(chance: float, state: State, words: str) -> None:
    given = answers("gcp")
    given.part("capacityAdvice l4")["recommendations"][0]["scores"]["obtainability"] = chance
    (found,) = _spot(given)
    assert (found.state, words in found.says) == (state, True)
    # l4big is the chain's second step: the better one goes first.
    assert (found.remedy.startswith("growth.order: [l4big, l4")) == (chance < 0.7)


def test_googles_silence_is_a_note() -> None:
    given = answers("gcp")
    for name in ("capacityAdvice l4", "capacityAdvice l4big"):
        del given.parts[name]  # type: ignore[attr-defined]
    silent = replace(given, unseen={"capacityAdvice l4": "403 SERVICE_DISABLED", "capacityAdvice l4big": "503"})
    assert [finding.state for finding in _spot(silent)] == [State.NOTE] * 2
    assert exit_status(clouds.findings(silent)) == Exit.READY
    (none,) = _spot(given)
    assert none.says.startswith("not compared: ")


def test_an_attached_gpu_is_part_of_the_question() -> None:
    wanted = answers("gcp").demand
    need = replace(wanted.needs[2], machine="n1-standard-4", gpus=1, gpu_model="nvidia-t4", zones=("europe-west4-a",))
    ((name, body),) = capacity_advice.questions(replace(wanted, needs=(need,)), ())
    assert name == f"capacityAdvice {need.pool}"
    (selection,) = body["instanceFlexibilityPolicy"]["instanceSelections"].values()
    assert selection["guestAccelerators"] == [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 1}]
    assert body["distributionPolicy"]["zones"] == [{"zone": "zones/europe-west4-a"}]


def test_credentials_that_are_refused_still_end_the_command() -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/ml-dev"
    with pytest.raises(Unasked):
        asked_of_azure(documents("azure") | {path: 401})
