"""Merge patches as out-of-band requests: named properties change, all others stay."""

from __future__ import annotations

import pytest

from sandbox.engine.out_of_band import patched


@pytest.mark.parametrize(
    ("value", "patch", "result"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": {"b": 1}, "d": 4}, {"a": None}, {"d": 4}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "text"}, {"a": {"b": {"c": None, "d": 1}}}, {"a": {"b": {"d": 1}}}),
        ({"a": 1}, {"a": False}, {"a": False}),
        ({"a": 1}, {}, {"a": 1}),
    ],
)
def test_a_patch_changes_the_properties_it_names(value: object, patch: object, result: object) -> None:
    assert patched(value, patch) == result


def test_the_patched_value_itself_is_not_modified() -> None:
    value = {"labels": {"gpu": "true"}}
    patched(value, {"labels": {"team": "vision"}})
    assert value == {"labels": {"gpu": "true"}}
