"""What a report keeps of the engine's events."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from sandbox.report.listener import Listener
from sandbox.report.model import Level, Violation

URN = "urn:pulumi:prod::kubeflow-spot::azure-native:containerservice:ManagedCluster::ml-prod"


def listened(*events: dict[str, Any]) -> Listener:
    listener = Listener()
    for event in events:
        listener.on_event(EngineEvent.from_json({"sequence": 1, "timestamp": 0, **event}))
    return listener


def said(severity: str, message: str) -> dict[str, Any]:
    return {"diagnosticEvent": {"severity": severity, "message": message, "color": "raw"}}


def violated(level: str, urn: str | None = URN) -> dict[str, Any]:
    told = {"message": "<{%reset%}>is open\x1b[0m to all", "color": "raw", "policyName": "open-api", "resourceUrn": urn}
    pack = {"policyPackName": "kubeflow-spot", "policyPackVersion": "1", "policyPackVersionTag": "1"}
    return {"policyEvent": {**told, **pack, "enforcementLevel": level}}


def test_a_change_with_a_long_value_is_kept_and_the_value_cut() -> None:
    def state(data: str) -> dict[str, Any]:
        type = "kubernetes:core/v1:ConfigMap"
        own = {"type": type, "urn": URN, "custom": True, "id": "", "parent": "", "provider": ""}
        return {**own, "inputs": {"data": data}, "outputs": {}}

    step = {"op": "update", "urn": URN, "type": "kubernetes:core/v1:ConfigMap", "provider": "", "diffs": ["data"]}
    metadata = {**step, "old": state("a"), "new": state("b" * 100_000)}
    (found,) = listened({"resourcePreEvent": {"metadata": metadata}}).changes
    (data,) = found.properties
    assert (data.path, data.before) == ("data", '"a"')
    assert data.after
    assert (len(data.after), data.after[-3:]) == (20_000, "bb…")


def test_errors_and_warnings_are_kept_once_without_colours_and_nothing_else_is() -> None:
    found = listened(
        said("warning", "<{%fg 3%}>the image is old<{%reset%}>\n"),
        said("warning", "the image is old"),
        said("error", "release: is missing"),
        said("error", "release: is missing"),
        said("info", "hello"),
    )
    assert (found.warnings, found.errors) == (["the image is old"], ["release: is missing"])


def test_a_violation_names_policy_level_and_resource() -> None:
    group = "urn:pulumi:prod::kubeflow-spot::kubeflow-spot:index:KubeflowCluster$azure-native:resources:ResourceGroup::ml-prod"
    found = listened(
        violated("mandatory"), violated("mandatory"), violated("mandatory", group), violated("advisory", None)
    )
    told = {"policy": "open-api", "level": Level.MANDATORY, "resource": "ml-prod", "message": "is open to all"}
    assert found.policy_violations() == [
        Violation.model_validate({**told, "type": "azure-native:containerservice:ManagedCluster"}),
        Violation.model_validate({**told, "type": "azure-native:resources:ResourceGroup"}),
        Violation(policy="open-api", level=Level.ADVISORY, resource="", message="is open to all"),
    ]


def test_a_command_that_failed_without_a_word_is_an_error() -> None:
    found = listened()
    found.failed("code: 255")
    assert found.errors == ["code: 255"]


def test_a_command_that_failed_for_what_was_told_is_not_told_again() -> None:
    broken, wrong, warned = (
        # As the engine does, which says no more.
        listened(violated("mandatory"), said("error", "preview failed")),
        listened(said("error", "no")),
        listened(violated("advisory")),
    )
    for found in (broken, wrong, warned):
        found.failed("code: 255")
    assert (broken.errors, wrong.errors, warned.errors) == ([], ["no"], ["code: 255"])


def test_the_outputs_are_the_stack_s() -> None:
    def outputs(type: str, new: dict[str, Any] | None) -> dict[str, Any]:
        return {"resOutputsEvent": {"metadata": {"op": "same", "urn": URN, "type": type, "new": new}}}

    stack = outputs("pulumi:pulumi:Stack", {"outputs": {"release": "r2026-11"}})
    assert listened(stack, outputs("kubeflow-spot:index:KubeflowCluster", {"outputs": {"a": 1}})).outputs == {
        "release": "r2026-11"
    }
    assert listened(outputs("pulumi:pulumi:Stack", None)).outputs == {}


def test_an_event_that_cannot_be_read_is_an_error_of_the_stack_and_no_missing_line() -> None:
    listener = Listener()
    unreadable = EngineEvent.from_json({"sequence": 1, "timestamp": 0, "policyEvent": {"resourceUrn": "no urn at all"}})
    with pytest.raises(ValueError, match="unpack"):
        listener.on_event(unreadable)
    assert "could not be read" in listener.errors[0]
