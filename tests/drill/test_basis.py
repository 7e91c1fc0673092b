"""What both sides of a comparison have alike: the sizes of which shares are taken, and a drawn week."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drill.play.source import Captured
from drill.world import basis, scenario
from drill.world.basis import Basis
from drill.world.weeks import week
from tests.drill.machine_bed import Cloud

OWN = Basis({"spot": 8, "on-demand": 2}, {("T4", "1"): 8}, {"T4": 8}, {"T4": 1}, ("1",))
LARGER = replace(OWN, largest={"T4": 16, "A100": 4}, gpus_by_machine={"T4": 4, "A100": 8}, zones=("0", "1"))


def test_the_sizes_are_those_of_the_pools() -> None:
    found = basis.basis_of_cloud(Cloud(Captured()), "c")
    assert found.gpus == {"spot": 6, "on-demand": 6}
    assert found.nodes == {("NC4", "eu-1"): 3, ("NC4", "eu-2"): 3}
    assert (found.largest, found.gpus_by_machine, found.zones) == ({"NC4": 6}, {"NC4": 1}, ("eu-1", "eu-2"))


def test_an_amount_is_a_number_or_a_share_and_no_share_is_nothing() -> None:
    amounts = (0, 12, "50% of spot", "300% of on-demand", "1% of spot")
    assert [OWN.amount(amount) for amount in amounts] == [0, 12, 4, 6, 1]


def test_the_second_sides_week_has_the_capacity_of_the_first_and_its_further_zones_and_machines_beside() -> None:
    first = OWN.drawn_week(1, OWN)
    assert first == week(1, ["T4"], ["1"], {"T4": 8}, {"T4": 1})
    second = OWN.drawn_week(1, LARGER)
    assert [step for step in second if (step.machine, step.zone) == ("T4", "1")] == first
    assert {(step.machine, step.zone) for step in second} == {(m, z) for m in ("T4", "A100") for z in ("0", "1")}
    assert max(step.nodes or 0 for step in second if step.machine == "T4") == 8
    assert LARGER.drawn_week(1, LARGER) != second


SAME, SIZED = "Both sides have the same work", "Both sides have the same work and the same spot capacity"
SENTENCES = {
    "eviction-storm": f"{SAME}.",
    "spot-gone": f"{SAME}, counted from main: shares of the 2 GPUs on demand.",
    "spot-going": f"{SIZED}, counted from main: shares of the 8 GPUs on spot; spot capacity for its spot pools.",
    "week": f"{SIZED}, counted from main: spot capacity for its spot pools.",
}


@pytest.mark.parametrize(("name", "sentence"), SENTENCES.items())
def test_the_sentence_says_what_is_counted_from_the_first_side(name: str, sentence: str) -> None:
    assert basis.same_work_sentence(scenario.load_scenario(name), OWN, "main") == sentence
