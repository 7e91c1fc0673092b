"""The priority expander's ConfigMap: written text is read back, and an existing map is checked as the autoscaler would."""

import random

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from components.layer.autoscaler import priorities
from components.layer.autoscaler.priorities import Wanted

WANTED = Wanted(("t4", "t4big", "t4od", "general"), spot={"t4", "t4big"}, others=("agentpool",))


def faults(text: str, wanted: Wanted = WANTED) -> list[str]:
    return list(priorities.faults(priorities.read_tiers(text), wanted))


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


LINES = st.lists(st.text(min_size=1, max_size=9).map(re2.escape), max_size=3)


@given(st.dictionaries(st.integers(1, 200), LINES, min_size=1, max_size=4))
def test_what_is_written_reads_back(tiers: dict[int, list[str]]) -> None:
    plain = {number: [line for line in lines if line.isprintable()] for number, lines in tiers.items()}
    assert priorities.read_tiers(priorities.written(plain)) == plain


def test_the_layout_of_the_text_stays_as_stacks_have_it() -> None:
    long = "aks-" + "x" * 200
    tiers = {1: [".*"], 30: ["^aks-t4-[0-9]+-vmss$", "aks", "it's", "^a b", long], 20: ["^{x,y}", "#", "é"]}
    assert priorities.written(tiers) == (
        "30:\n  - ^aks-t4-[0-9]+-vmss$\n  - 'aks'\n  - 'it''s'\n  - '^a b'\n"
        f"  - '{long}'\n20:\n  - ^{{x,y}}\n  - '#'\n  - 'é'\n1:\n  - .*\n"
    )
    assert priorities.listed(["^aks", "it's"]) == "['^aks', 'it''s']"


# The rows are what sigs.k8s.io/yaml 1.6 and encoding/json do with such text (resolve.go, convertToJSONableObject, ParseInt).
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an object"),
        (None, "not an object"),
        ("t4 first", "not an object"),
        ("- a", "not an object"),
        ("50: [a", "not YAML"),
        ("50: .*spot.*", "50 has no list"),
        ("50: ''", "50 has no list"),
        ("50: [{a: b}]", "no number or text"),
        ("fifty: [a]", "'fifty' is no number"),
        ("true: [a]", "'true' is no number"),
        ("~: [a]", "'~' is no number"),
        ("1.5: [a]", "'1.5' is no number"),
        ("1000000.0: [a]", "'1000000.0' is no number"),
        ('" 50": [a]', "' 50' is no number"),
        ('"0x10": [a]', "'0x10' is no number"),
        ("18446744073709551615: [a]", "is no number"),
        ("2026-11-22: [a]", "is no number"),
        ('50: [a]\n"50": [b]', "left to chance"),
        ("50: [a, '^aks-(?!t4)']", "'^aks-(?!t4)' is no regular expression of RE2"),
        (r"50: ['t4\Z']", "of RE2: invalid escape sequence"),
        (r"50: ['(a)\1']", "of RE2"),
        ("50: [a++]", "of RE2"),
        (r"50: ['\C']", "of RE2"),
        ("50: ['a{99999999999}']", "of RE2: invalid repeat count"),
        ("50: ['(broken']", "of RE2: missing )"),
    ],
)
def test_what_the_autoscaler_cannot_read_is_not_read(text: str | None, why: str) -> None:
    with pytest.raises(ValueError, match=re2.escape(why)):
        priorities.read_tiers(text)


@pytest.mark.parametrize(
    ("text", "tiers"),
    [
        ('"50": [a]', {50: ["a"]}),
        ("'-007': [a]", {-7: ["a"]}),
        ("1.0: [a]", {1: ["a"]}),
        ("1e2: [a]", {100: ["a"]}),
        ("0x10: [a]", {16: ["a"]}),
        ("010: [a]", {8: ["a"]}),
        ("1_0: [a]", {10: ["a"]}),
        ("50: [a]\n0x32: [b]", {50: ["b"]}),
        ("50: [a]\n---\n60: [a]", {50: ["a"]}),
        ("50:\n40: ~", {50: [], 40: []}),
        ("50: [1, 010, on, ~, 'on', 2026-11-22, 1.5]", {50: ["1", "8", "true", "", "on", "2026-11-22", "1.5"]}),
        (r"50: ['\pL', '[[:digit:]]', '(?i)T4', '(?P<pool>t4)', '\z']",
         {50: [r"\pL", "[[:digit:]]", "(?i)T4", "(?P<pool>t4)", r"\z"]}),
    ],
)  # fmt: skip
def test_what_the_autoscaler_reads_is_read_as_it_does(text: str, tiers: dict[int, list[str]]) -> None:
    assert priorities.read_tiers(text) == tiers


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("50: [spot]\n10: ['.*']", 50),
        ("50: ['^spot']\n10: ['.*']", 10),
        ("50: ['^aks-spotpool-[0-9]+-vmss$']", 50),
        ("10: [spot]\n90: ['.*']", 90),
        ("10: [other]", None),
        (r"10: ['^aks-\pL+-[[:digit:]]{8}-vmss\z']", 10),
        ("-1: ['.*']", -1),
        ("-2: ['.*']", None),
    ],
)
def test_the_highest_line_that_matches_anywhere_in_the_name_counts(text: str, rank: int | None) -> None:
    assert priorities.rank(priorities.read_tiers(text), "spotpool") == rank


def test_an_order_of_another_owner_is_as_good() -> None:
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
def test_a_fault_in_the_order_is_named(text: str, fault: str) -> None:
    assert fault in faults(text)


names = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
lines = st.one_of(names, st.just(".*"), st.just("spot"), names.map(priorities.expression))


@given(
    st.dictionaries(st.integers(1, 60), st.lists(lines, min_size=1, max_size=3), max_size=6),
    st.lists(names, min_size=1, max_size=8, unique=True),
    st.randoms(use_true_random=False),
    st.sampled_from([0, 5]),
)
def test_the_lines_to_add_make_any_order_the_wanted_one(
    existing: dict[int, list[str]], pools: list[str], spot: random.Random, last_digit: int
) -> None:
    wanted = Wanted(tuple(pools), set(spot.sample(pools, spot.randint(0, len(pools)))), others=("agentpool",))
    added = priorities.additions(existing, wanted, last_digit)
    assert not added.keys() & existing.keys()
    assert list(priorities.faults({**existing, **added}, wanted)) == []
    assert sorted(line for some in added.values() for line in some) == sorted(map(priorities.expression, pools))


def test_the_lines_to_add_leave_another_owners_spot_pools_above_our_on_demand_ones() -> None:
    existing = {50: [".*spot.*"], 10: [".*"]}
    assert priorities.additions(existing, Wanted(("t4", "t4od", "general"), {"t4"})) == {
        60: ["^aks-t4-[0-9]+-vmss$"],
        30: ["^aks-t4od-[0-9]+-vmss$"],
        20: ["^aks-general-[0-9]+-vmss$"],
    }
