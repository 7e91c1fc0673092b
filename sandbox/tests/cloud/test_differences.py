"""Differences of property values, as Pulumi paths."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.cloud.provider import differences, top_level

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, {"a": "update"}),
        ({"a": 1}, {}, {"a": "delete"}),
        ({}, {"a": {"b": 1}}, {"a": "add"}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a.c": "update"}),
        ({"l": {"example.com/a": "x"}}, {"l": {"example.com/a": "y"}}, {'l["example.com/a"]': "update"}),
        ({"a": [1, 2]}, {"a": [1, 3, 4]}, {"a[1]": "update", "a[2]": "add"}),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, {"a[0].b": "update"}),
        ({"a": None}, {}, {}),
        ({"a": 1}, {"a": True}, {"a": "update"}),
        ({"a": "1"}, {"a": 1}, {"a": "update"}),
    ],
)
def test_each_difference_has_its_path_and_kind(old: Any, new: Any, expected: dict[str, str]) -> None:
    assert dict(differences(old, new)) == expected


@given(PLAIN)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list(differences(value, value)) == []


@given(PLAIN, PLAIN)
def test_different_directions_find_the_same_paths(first: Any, other: Any) -> None:
    assert {path for path, _ in differences(first, other)} == {path for path, _ in differences(other, first)}


@pytest.mark.parametrize(("path", "key"), [("a", "a"), ("a.b", "a"), ('a["x.y"]', "a"), ("a[0].b", "a")])
def test_the_top_level_key_of_a_path(path: str, key: str) -> None:
    assert top_level(path) == key
