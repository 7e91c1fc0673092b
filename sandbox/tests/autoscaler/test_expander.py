"""The expanders' rules beyond the recordings."""

from random import Random

import pytest

from sandbox.autoscaler.expander import Option, choose, parse, rank
from sandbox.autoscaler.shapes import PodInfo, Shapes

from .objects import pod


def option(pool: str, pods: int = 1, waste: float = 0.0) -> Option:
    bodies = [pod(str(number)) for number in range(pods)]
    waiting = [PodInfo(number, body, Shapes().of(body)) for number, body in enumerate(bodies)]
    return Option(f"aks-{pool}-12345678-vmss", pool, 1, waiting, waste)


SPOT, TWIN, OTHER = option("t4"), option("t4od"), option("general")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('5: ["t4"]', 5),
        ('5: ["^t4"]', -2),
        ('5: ["x", "t4"]\n7: ["vmss$"]\n6: [".*"]', 7),
        ('0: [".*"]', 0),
        ('-1: [".*"]', -1),
        ('-5: [".*"]', -2),
        ("5:\n3: [t4]", 3),
        ('"50": [t4]', 50),
        ("1.0: [t4]", 1),
        ("0x10: [t4]\n010: [vmss]", 16),
        ("5: [~]", 5),
        ("5: [t4]\n---\n7: [t4]", 5),
        # Python's re does not know these, RE2 does.
        (r"5: ['^\pL+-t4-[[:digit:]]+-vmss\z']", 5),
    ],
)
def test_the_highest_number_with_an_expression_found_anywhere(text: str, number: int) -> None:
    assert rank(parse(text), SPOT.group) == number


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "not an object"),
        ("- a", "not an object"),
        ("50: [", "not YAML"),
        ('high: [".*"]', "'high' is not a number"),
        ('true: [".*"]', "'true' is not a number"),
        ('50: ".*"', "50 has no list"),
        ("50: [{a: b}]", "an item that is no text"),
        ("1.5: [a]", "is not a number"),
        ("1000000.0: [a]", "is not a number"),
        ("~: [a]", "is not a number"),
        ('50: ["("]', "not a regular expression"),
        # Python's re knows these, RE2 does not.
        ('50: ["^aks-(?!spot)"]', "of RE2"),
        ('50: ["a{99999999999}"]', "of Go: a count is too large"),
        ('50: ["(a)\\\\1"]', "of RE2"),
        ('50: ["a++"]', "of RE2"),
        (r"50: ['t4\Z']", "of RE2"),
        (r"50: ['\C']", "of Go"),
    ],
)
def test_a_malformed_map_filters_nothing(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        parse(text)
    drawn = [choose("priority", [SPOT, TWIN], text, Random(seed)) for seed in range(20)]
    assert {chosen.pool for chosen, _ in drawn} == {"t4", "t4od"}
    assert all("is not used" in why for _, why in drawn)


def test_a_group_without_a_line_is_dropped_when_another_has_one() -> None:
    text = '10: ["^aks-t4od-"]'
    assert choose("priority", [SPOT, TWIN], text, Random(0)) == (TWIN, "priority 10, before t4")
    drawn = [choose("priority", [SPOT, OTHER], text, Random(seed)) for seed in range(20)]
    assert {chosen.pool for chosen, _ in drawn} == {"t4", "general"}
    assert all("names none of them; drawn from general, t4" in why for _, why in drawn)


@pytest.mark.parametrize(
    ("expander", "best", "why"), [("least-waste", "t4od", "least waste"), ("most-pods", "general", "takes most pods")]
)
def test_other_expanders(expander: str, best: str, why: str) -> None:
    options = [option("t4", 2, 0.9), option("t4od", 2, 0.1), option("general", 3, 0.5)]
    for seed in range(5):
        chosen, reason = choose(expander, options, None, Random(seed))
        assert (chosen.pool, reason) == (best, why)


@pytest.mark.parametrize("expander", ["random", "priority", "least-waste", "most-pods"])
def test_one_option_needs_no_choice(expander: str) -> None:
    assert choose(expander, [SPOT], None, Random(0)) == (SPOT, "the only pool that can")


def test_expanders_in_a_row_filter_what_the_one_before_left() -> None:
    tight, loose = option("tight", waste=0.1), option("loose", waste=0.9)
    best = "9: ['loose', 't4-']"
    assert choose("priority,least-waste", [tight, loose, option("t4", waste=0.5)], best, Random(1))[0].pool == "t4"
    assert choose("least-waste,priority", [tight, loose], best, Random(1))[0] == tight


def test_an_unknown_expander_is_an_error() -> None:
    with pytest.raises(ValueError, match="'price' is no expander"):
        choose("price", [SPOT, TWIN], None, Random(1))
