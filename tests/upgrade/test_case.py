"""Reading of cases and writing of steps: neither may let an unexpected step through."""

from typing import Any

import pytest

from tests.upgrade.case import changed, lines, walked


def step(op: str, *diff: str, name: str = "ml-up-t4") -> dict[str, Any]:
    return {"op": op, "type": "azure-native:containerservice:AgentPool", "name": name, "urn": name, "diff": list(diff)}


def test_pools_change_by_name_and_null_removes() -> None:
    config = {"pools": [{"name": "a", "labels": {"x": "1", "y": "2"}}, {"name": "b"}], "cloud": {"location": "here"}}
    assert changed(
        config, {"pools": {"a": {"labels": {"x": None}}, "b": None, "c": {"maxNodes": 1}}, "cloud": None}
    ) == {"pools": [{"name": "a", "labels": {"y": "2"}}, {"name": "c", "maxNodes": 1}]}


def test_the_parts_of_a_replacement_are_one_step_with_their_order() -> None:
    parts = [step("delete-replaced"), step("replace", "spotMaxPrice"), step("create-replacement", "spotMaxPrice")]
    assert lines(parts) == ["replace AgentPool ml-up-t4 [spotMaxPrice], deleted first"]
    assert lines(parts[::-1]) == ["replace AgentPool ml-up-t4 [spotMaxPrice]"]


def test_properties_are_left_out_only_of_expected_updates_never_of_a_replacement_that_deletes_first() -> None:
    expected = ["update AgentPool ml-up-t4"]
    assert lines([step("update", "maxCount")], expected) == expected
    assert lines([step("update", "maxCount", name="ml-up-l4")], expected) == ["update AgentPool ml-up-l4 [maxCount]"]
    parts = [step("delete-replaced"), step("replace", "vmSize"), step("create-replacement", "vmSize")]
    assert lines(parts, ["replace AgentPool ml-up-t4"]) == ["replace AgentPool ml-up-t4 [vmSize], deleted first"]


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"aks-typo, step 1: changes"):
        list(walked("aks-typo", {}, [{"changes": {}}]))
