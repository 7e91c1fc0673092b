"""Nodes that a pod may run on, as https://kubernetes.io/docs/concepts/scheduling-eviction/ says."""

from typing import Any

import pytest

from components.layer.gpu.matching import may_run, tolerated
from config.model.pool import Effect, Taint

GPU = Taint(key="nvidia.com/gpu", value="present")
SPOT = Taint(key="kubernetes.azure.com/scalesetpriority", value="spot")
ON_GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}


@pytest.mark.parametrize(
    "toleration",
    [
        *(ON_GPU, {**ON_GPU, "effect": "NoSchedule"}, {"key": "nvidia.com/gpu", "value": "present"}),
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        *({"operator": "Exists"}, {"operator": "Exists", "effect": "NoSchedule"}),
        {"key": "nvidia.com/gpu", "operator": "Gt", "value": "1"},
    ],
)
def test_a_toleration_matches_by_key_operator_value_and_effect(toleration: dict[str, Any]) -> None:
    assert tolerated([toleration], GPU)


@pytest.mark.parametrize(
    "toleration",
    [
        *({"operator": "Exists", "effect": "NoExecute"}, {**ON_GPU, "effect": "NoExecute"}),
        *({"key": "nvidia.com/gpu", "value": "true"}, {"key": "nvidia.com/gpu"}),
        *({"key": "sku", "operator": "Exists"}, {"value": "present"}),
    ],
)
def test_another_key_value_or_effect_does_not_match(toleration: dict[str, Any]) -> None:
    assert not tolerated([toleration], GPU)


def test_every_taint_has_to_be_tolerated_but_one_that_only_prefers() -> None:
    assert may_run({"tolerations": [ON_GPU]}, {}, [GPU])
    assert not may_run({"tolerations": [ON_GPU]}, {}, [GPU, SPOT])
    assert may_run({"tolerations": [{"operator": "Exists"}]}, {}, [GPU, SPOT])
    assert may_run({}, {}, [Taint(key="busy", value="yes", effect=Effect.PREFER_NO_SCHEDULE)])
    assert not may_run({}, {}, [GPU])


def test_a_node_selector_rules_out_known_labels_with_another_value_only() -> None:
    for selector in ({"agentpool": "t4"}, {"unknown": "x"}, {}, None):
        assert may_run({"nodeSelector": selector}, {"agentpool": "t4"}, [])
    assert not may_run({"nodeSelector": {"agentpool": "a100"}}, {"agentpool": "t4"}, [])


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        *(("In", ["t4", "a100"], True), ("In", ["a100"], False), ("NotIn", ["a100"], True), ("NotIn", ["t4"], False)),
        *(("Exists", None, True), ("DoesNotExist", None, False), ("Gt", ["1"], False)),
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
