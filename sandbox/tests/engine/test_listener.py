"""Contents of a report, steps, and lines that are kept, from the engine's events."""

from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from sandbox.engine.changes import Level, Violation
from sandbox.engine.events import Diagnostics, Steps, without_advice
from sandbox.engine.listener import Listener

URN = "urn:pulumi:prod::kubeflow-spot::azure-native:containerservice:ManagedCluster::ml-prod"


def taken(taker: Diagnostics, *events: dict[str, Any]) -> Any:
    for event in events:
        taker.on_event(EngineEvent.from_json({"sequence": 1, "timestamp": 0, **event}))
    return taker


def listened(*events: dict[str, Any]) -> Listener:
    return taken(Listener(), *events)  # type: ignore[no-any-return]


def steps(*events: dict[str, Any]) -> Steps:
    return taken(Steps(), *events)  # type: ignore[no-any-return]


def diagnostic(severity: str, message: str) -> dict[str, Any]:
    return {"diagnosticEvent": {"severity": severity, "message": message, "color": "raw"}}


def violated(level: str, urn: str | None = URN, policy: str = "open-api") -> dict[str, Any]:
    violation = {
        "message": "<{%reset%}>is open\x1b[0m to all",
        "color": "raw",
        "policyName": policy,
        "resourceUrn": urn,
    }
    pack = {"policyPackName": "kubeflow-spot", "policyPackVersion": "1", "policyPackVersionTag": "1"}
    return {"policyEvent": {**violation, **pack, "enforcementLevel": level}}


def test_a_change_with_a_long_value_is_kept_and_its_value_truncated() -> None:
    def state(data: str) -> dict[str, Any]:
        type = "kubernetes:core/v1:ConfigMap"
        own = {"type": type, "urn": URN, "custom": True, "id": "", "parent": "", "provider": ""}
        return {**own, "inputs": {"data": data}, "outputs": {}}

    step = {"op": "update", "urn": URN, "type": "kubernetes:core/v1:ConfigMap", "provider": "", "diffs": ["data"]}
    metadata = {**step, "old": state("a"), "new": state("b" * 100_000)}
    (contents,) = listened({"resourcePreEvent": {"metadata": metadata}}).changes
    (data,) = contents.properties
    assert (data.path, data.before) == ("data", '"a"')
    assert data.after
    assert (len(data.after), data.after[-3:]) == (20_000, "bb…")


def test_only_errors_and_warnings_are_kept_once_and_without_colours() -> None:
    contents = listened(
        diagnostic("warning", "<{%fg 3%}>the image is old<{%reset%}>\n"),
        diagnostic("warning", "the image is old"),
        diagnostic("error", "release: is missing"),
        diagnostic("error", "release: is missing"),
        diagnostic("info", "hello"),
    )
    assert (contents.warnings, contents.errors) == (["the image is old"], ["release: is missing"])


def test_a_violation_names_policy_level_and_resource() -> None:
    group = "urn:pulumi:prod::kubeflow-spot::kubeflow-spot:index:KubeflowCluster$azure-native:resources:ResourceGroup::ml-prod"
    contents = listened(
        violated("mandatory"), violated("mandatory"), violated("mandatory", group), violated("advisory", None)
    )
    violation = {"policy": "open-api", "level": Level.MANDATORY, "resource": "ml-prod", "message": "is open to all"}
    assert contents.policy_violations() == [
        Violation.model_validate({**violation, "type": "azure-native:containerservice:ManagedCluster"}),
        Violation.model_validate({**violation, "type": "azure-native:resources:ResourceGroup"}),
        Violation(policy="open-api", level=Level.ADVISORY, resource="", message="is open to all"),
    ]


def test_a_failed_command_adds_no_error_to_a_reported_one_and_is_an_error_itself_where_it_was_silent() -> None:
    broken, wrong, warned = (
        # The engine's own message, which names no reason.
        listened(violated("mandatory"), diagnostic("error", "preview failed")),
        listened(diagnostic("error", "no")),
        listened(violated("advisory")),
    )
    for contents in (broken, wrong, warned):
        contents.failed("code: 255")
    assert (broken.errors, wrong.errors, warned.errors) == ([], ["no"], ["code: 255"])


def test_the_outputs_are_those_of_the_stack() -> None:
    def outputs(type: str, new: dict[str, Any] | None) -> dict[str, Any]:
        return {"resOutputsEvent": {"metadata": {"op": "same", "urn": URN, "type": type, "new": new}}}

    stack = outputs("pulumi:pulumi:Stack", {"outputs": {"release": "r2026-11"}})
    assert listened(stack, outputs("kubeflow-spot:index:KubeflowCluster", {"outputs": {"a": 1}})).outputs == {
        "release": "r2026-11"
    }
    assert listened(outputs("pulumi:pulumi:Stack", None)).outputs == {}


def test_an_unreadable_event_is_an_error_of_the_stack() -> None:
    listener = Listener()
    unreadable = EngineEvent.from_json({"sequence": 1, "timestamp": 0, "policyEvent": {"resourceUrn": "no urn at all"}})
    with pytest.raises(ValueError, match="unpack"):
        listener.on_event(unreadable)
    assert "could not be read" in listener.errors[0]


def test_a_preview_that_failed_for_a_policy_alone_names_the_mandatory_ones() -> None:
    failed = steps(violated("mandatory"), violated("advisory", policy="tags"), diagnostic("error", "preview failed"))
    failed.failed("code: 255")
    assert failed.errors == ["mandatory policies are broken: open-api"]
    assert [broken["policy"] for broken in failed.as_json()["violations"]] == ["open-api", "tags"]


def test_the_reason_of_a_failure_is_kept_where_no_event_gave_one() -> None:
    silent, explained = steps(), steps(diagnostic("error", "<{%fg 1%}>no such zone<{%reset%}>\n"))
    for failed in (silent, explained):
        failed.failed("code: 255")
    assert (silent.errors, explained.errors) == (["code: 255"], ["no such zone"])


def test_what_the_engine_advises_after_a_deletion_is_left_out_and_nothing_else_is() -> None:
    lines = ["Resources:", "    - 21 deleted", "", "Duration: 4s", ""]
    advice = [
        "The resources in the stack have been deleted, but the history and configuration associated with the stack are still"
        " maintained. ",
        "If you want to remove the stack completely, run `pulumi stack rm dev`.",
    ]
    passed: list[str] = []
    for line in [*lines, *advice]:
        without_advice(passed.append)(line)
    assert passed == lines
