"""The priority expander's ConfigMap: what is written is read back, and what is read is judged as the autoscaler would."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.addons import priorities
from components.addons.priorities import Wanted

WANTED = Wanted(spot=("t4", "t4big"), on_demand=("t4od", "general"), others=("agentpool",))


def faults(text: str, wanted: Wanted = WANTED) -> list[str]:
    tiers = priorities.read(text)
    assert tiers is not None
    return list(priorities.faults(tiers, wanted))


def test_own_lines_give_the_wanted_order_with_room_for_others() -> None:
    tiers = priorities.tiers(WANTED, {45: ["^aks-a100-"], 40: ["^aks-h100-"]})
    assert tiers == {
        45: ["^aks-a100-"],
        40: ["^aks-t4-[0-9]+-vmss$", "^aks-h100-"],
        30: ["^aks-t4big-[0-9]+-vmss$"],
        20: ["^aks-t4od-[0-9]+-vmss$"],
        10: ["^aks-general-[0-9]+-vmss$"],
        1: [".*"],
    }
    assert list(priorities.faults(tiers, WANTED)) == []


@given(st.dictionaries(st.integers(1, 200), st.lists(st.text(min_size=1), min_size=1), min_size=1))
def test_what_is_written_reads_back(tiers: dict[int, list[str]]) -> None:
    plain = {number: [line for line in lines if line.isprintable()] for number, lines in tiers.items()}
    assert priorities.read(priorities.written(plain)) == plain


@pytest.mark.parametrize(
    "text", ["", "t4 first", "50: .*spot.*", "fifty: [a]", "- a", "50: [{a: b}]", "50: [a", "true: [a]", None]
)
def test_what_the_autoscaler_cannot_read_is_not_read(text: str | None) -> None:
    assert priorities.read(text) is None


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("50: [spot]\n10: ['.*']", 50),
        ("50: ['^spot']\n10: ['.*']", 10),
        ("50: ['^aks-spotpool-[0-9]+-vmss$']", 50),
        ("10: [spot]\n90: ['.*']", 90),
        ("10: [other]", None),
        ("10: ['(broken']", None),
    ],
)
def test_the_highest_line_that_matches_anywhere_in_the_name_counts(text: str, rank: int | None) -> None:
    tiers = priorities.read(text)
    assert tiers is not None
    assert priorities.rank(tiers, "spotpool") == rank


def test_an_order_of_somebody_elses_making_is_as_good() -> None:
    assert faults("90: ['-t4-']\n80: [t4big]\n30: [t4od]\n20: ['.*']") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("90: ['-t4-', t4big]\n30: [t4od]\n20: ['.*']", "t4 (90) does not stand above t4big (90)"),
        ("90: ['-t4-']\n80: [t4big]\n20: ['.*']", "t4od (20) does not stand above general (20)"),
        ("90: ['-t4-']\n30: [t4od]\n20: [general]", "no line matches t4big"),
        (
            "90: [-t4-]\n80: [t4big]\n3: [t4od]\n2: [general]\n85: [agentpool]",
            "t4big (80) does not stand above agentpool (85), which is on-demand",
        ),
        ("10: [spot]\n50: [ondemand]", "no line matches t4"),
    ],
)
def test_what_breaks_the_order_is_named(text: str, fault: str) -> None:
    assert fault in faults(text)


names = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
lines = st.one_of(names, st.just(".*"), st.just("spot"), names.map(priorities.expression))


@given(
    st.dictionaries(st.integers(1, 60), st.lists(lines, min_size=1, max_size=3), max_size=6),
    st.lists(names, min_size=1, max_size=8, unique=True),
    st.integers(0, 8),
    st.sampled_from([0, 5]),
)
def test_the_lines_to_add_make_any_order_the_wanted_one(
    theirs: dict[int, list[str]], pools: list[str], spot: int, last_digit: int
) -> None:
    wanted = Wanted(tuple(pools[:spot]), tuple(pools[spot:]), others=("agentpool",))
    added = priorities.additions(theirs, wanted, last_digit)
    assert not added.keys() & theirs.keys()
    assert list(priorities.faults({**theirs, **added}, wanted)) == []
    assert sorted(line for some in added.values() for line in some) == sorted(map(priorities.expression, pools))


def test_the_lines_to_add_leave_somebody_elses_spot_pools_above_our_on_demand_ones() -> None:
    theirs = {50: [".*spot.*"], 10: [".*"]}
    assert priorities.additions(theirs, Wanted(("t4",), ("t4od", "general"))) == {
        60: ["^aks-t4-[0-9]+-vmss$"],
        30: ["^aks-t4od-[0-9]+-vmss$"],
        20: ["^aks-general-[0-9]+-vmss$"],
    }


def test_what_is_written_is_yaml_for_the_autoscaler() -> None:
    assert yaml.safe_load(priorities.written(priorities.tiers(WANTED, {}))) == priorities.tiers(WANTED, {})
    assert (
        priorities.written({1: [".*"], 20: ["^aks-t4-[0-9]+-vmss$"]}) == "20:\n  - ^aks-t4-[0-9]+-vmss$\n1:\n  - .*\n"
    )
