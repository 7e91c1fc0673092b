"""The order of a chain by what a useful GPU hour costs, and what an order by hand costs."""

from __future__ import annotations

import re

import pytest

from config.model.pool import Capacity
from config.placement import growth_order
from config.stack_file import loader
from tests.config.stack import good, grown, spec

T4 = {
    "name": "t4",
    "machine": "Standard_NC4as_T4_v3",
    "capacity": "spot",
    "maxNodes": 8,
    "fallback": [{"pool": "t4big"}, {"onDemand": {"maxNodes": 2}}],
}
T4_BIG = {"name": "t4big", "machine": "Standard_NC16as_T4_v3", "capacity": "spot", "maxNodes": 4}


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        # 1.0455 USD of spot after 0.658 on demand
        ("westeurope", ["t4", "t4od", "t4big"]),
        # 0.4362 USD of spot before 0.658 on demand
        ("germanywestcentral", ["t4", "t4big", "t4od"]),
        # No price is known
        ("norwayeast", ["t4", "t4big", "t4od"]),
    ],
)
def test_spot_that_is_dearer_than_the_twin_stands_behind_it(location: str, expected: list[str]) -> None:
    raw = good(pools=[T4_BIG, T4], cloud={"provider": "azure", "location": location})
    assert list(grown(spec(raw)))[1:] == expected


def test_a_machine_with_more_gpus_is_paid_whole() -> None:
    """Four T4s at 1.57 USD are cheaper a GPU than one on demand at 0.658; a pod that needs one pays for four."""
    large = {**T4_BIG, "machine": "Standard_NC64as_T4_v3"}
    raw = good(pools=[T4, large], cloud={"provider": "azure", "location": "germanywestcentral"})
    assert list(grown(spec(raw)))[1:] == ["t4", "t4od", "t4big"]
    # Work that needs four is on spot first.
    four = {**T4, "machine": "Standard_NC64as_T4_v3"}
    assert list(grown(spec({**raw, "pools": [four, large]})))[1:] == ["t4", "t4big", "t4od"]


def test_an_order_by_hand_places_each_pool_that_it_names_and_says_what_it_costs() -> None:
    raw = good(pools=[T4, T4_BIG], growth={"order": ["t4", "t4big", "t4od"], "acceptedWait": "24h"})
    parsed, problems = loader.read_stack(raw)
    assert parsed
    assert list(grown(parsed))[1:] == ["t4", "t4big", "t4od"]
    (said,) = [each for each in problems if each.path == "growth.order"]
    assert said.warning
    assert re.search("t4big, 1.40 USD.* t4od, 0.72 USD.* 0.68 USD more", str(said))
    # What it does not name comes after it.
    assert list(grown(spec({**raw, "growth": {"order": ["t4od"]}})))[1:] == ["t4od", "t4", "t4big"]


@pytest.mark.parametrize(("spot", "pays"), [(0.8, True), (0.84, False)])
def test_spot_that_never_pays_stands_behind_its_twin_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, spot: float, pays: bool
) -> None:
    def priced(provider: str, location: str, machine: str, capacity: Capacity) -> float:
        return spot if capacity == Capacity.SPOT else 1.0

    monkeypatch.setattr(growth_order, "price", priced)
    parsed, problems = loader.read_stack(good(pools=[{**T4, "fallback": [{"onDemand": {"maxNodes": 2}}]}]))
    assert parsed
    assert list(grown(parsed))[1:] == (["t4", "t4od"] if pays else ["t4od", "t4"])
    assert [each.path for each in problems if "does not pay" in str(each)] == ([] if pays else ["pools[0].capacity"])
