"""Events and lines of the engine that are kept."""

from __future__ import annotations

from typing import Any

from pulumi.automation.events import EngineEvent

from sandbox.engine.events import Steps, without_advice


def diagnostic(severity: str, message: str) -> EngineEvent:
    content = {"severity": severity, "message": message, "color": "raw"}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 0, "diagnosticEvent": content})


def violation(level: str, policy: str) -> EngineEvent:
    pack = {"policyPackName": "kubeflow-spot", "policyPackVersion": "1", "policyPackVersionTag": "1"}
    broken: dict[str, Any] = {"message": "is open", "color": "raw", "policyName": policy, "enforcementLevel": level}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 0, "policyEvent": {**broken, **pack}})


def steps(*events: EngineEvent) -> Steps:
    taken = Steps()
    for event in events:
        taken.on_event(event)
    return taken


def test_a_preview_that_failed_for_a_policy_alone_names_the_mandatory_ones() -> None:
    failed = steps(
        violation("mandatory", "open-api"), violation("advisory", "tags"), diagnostic("error", "preview failed")
    )
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
