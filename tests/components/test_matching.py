"""Nodes that a pod may run on, as https://kubernetes.io/docs/concepts/scheduling-eviction/ says."""

from __future__ import annotations

from typing import Any

import pytest

from components.layer.gpu.matching import may_run, tolerated
from config.model.pool import Effect, Taint

GPU = Taint(key="nvidia.com/gpu", value="present")
EVERYTHING = [{"operator": "Exists"}]


@pytest.mark.parametrize(
    ("toleration", "taint", "expected"),
    [
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}, GPU, True),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, GPU, True),
        ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}, GPU, True),
        ({"key": "nvidia.com/gpu", "value": "present"}, GPU, True),
        ({"operator": "Exists"}, GPU, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, GPU, True),
        ({"operator": "Exists", "effect": "NoExecute"}, GPU, False),
        ({"key": "nvidia.com/gpu", "value": "true"}, GPU, False),
        ({"key": "nvidia.com/gpu"}, GPU, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, GPU, False),
        ({"key": "sku", "operator": "Exists"}, GPU, False),
        ({"value": "present"}, GPU, False),
        ({"key": "nvidia.com/gpu", "operator": "Gt", "value": "1"}, GPU, True),
    ],
)
def test_a_toleration_matches_by_key_operator_value_and_effect(
    toleration: dict[str, Any], taint: Taint, expected: bool
) -> None:
    assert tolerated([toleration], taint) is expected


def test_a_taint_that_only_prefers_keeps_nobody_out() -> None:
    taint = Taint(key="busy", value="yes", effect=Effect.PREFER_NO_SCHEDULE)
    assert may_run({}, {}, [taint])
    assert not may_run({}, {}, [GPU])


def test_every_taint_has_to_be_tolerated() -> None:
    spot = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot")
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    assert may_run({"tolerations": tolerations}, {}, [GPU])
    assert not may_run({"tolerations": tolerations}, {}, [GPU, spot])
    assert may_run({"tolerations": EVERYTHING}, {}, [GPU, spot])


@pytest.mark.parametrize(
    ("selector", "expected"),
    [({"agentpool": "t4"}, True), ({"agentpool": "a100"}, False), ({"unknown": "x"}, True), ({}, True), (None, True)],
)
def test_a_node_selector_rules_out_known_labels_with_another_value_only(
    selector: dict[str, str] | None, expected: bool
) -> None:
    assert may_run({"nodeSelector": selector}, {"agentpool": "t4"}, []) is expected


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("In", ["t4", "a100"], True),
        ("In", ["a100"], False),
        ("NotIn", ["a100"], True),
        ("NotIn", ["t4"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
        ("Gt", ["1"], False),
    ],
)
def test_required_affinity_is_matched_against_known_labels(
    operator: str, values: list[str] | None, expected: bool
) -> None:
    condition = {"key": "agentpool", "operator": operator, "values": values}
    assert may_run(requiring([condition]), {"agentpool": "t4"}, []) is expected
    # An unknown label may match, so the pod may run.
    assert may_run(requiring([{**condition, "key": "other"}]), {"agentpool": "t4"}, [])


@pytest.mark.parametrize(("operator", "expected"), [("Gt", True), ("Lt", False)])
def test_numbers_are_compared_as_numbers(operator: str, expected: bool) -> None:
    assert may_run(requiring([{"key": "gpus", "operator": operator, "values": ["9"]}]), {"gpus": "16"}, []) is expected


def test_conditions_of_a_term_go_together_and_terms_are_alternatives() -> None:
    right = {"key": "a", "operator": "In", "values": ["1"]}
    wrong = {"key": "a", "operator": "In", "values": ["2"]}
    assert not may_run(requiring([right, wrong]), {"a": "1"}, [])
    assert may_run(requiring([wrong], [right]), {"a": "1"}, [])


def test_a_term_without_conditions_matches_no_node_and_one_about_names_may() -> None:
    assert not may_run(requiring([]), {}, [])
    fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    assert may_run(affinity(fields), {}, [])


def test_preferred_affinity_and_an_empty_one_rule_nothing_out() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["2"]}]}}]
    pod = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}
    assert may_run(pod, {"a": "1"}, [])
    assert may_run({"affinity": {"nodeAffinity": None}}, {"a": "1"}, [])


def requiring(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    return affinity(*({"matchExpressions": term} for term in terms))


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": required}}
