"""Guards of two stacks in one cluster: what one lets in, an update of the other never forbids."""

import json
from typing import Any

import pulumi
import pytest

from components.layer import names
from components.layer.scheduling import guard, neighbours
from components.resources import wire
from config.clouds import registry
from config.model.scheduling import Scheduling

BURNS = {"namespace": "team-a", "selector": {"app": "burn-in"}, "reason": "tests every new machine"}
IN_KUBEFLOW = {**BURNS, "namespace": "kubeflow"}
A, B = {"profileLabels": {"team": "a"}}, {"profileLabels": {"team": "b"}}


def excepting(*entries: dict[str, Any], **guard: Any) -> dict[str, Any]:
    return {"guard": {"exceptions": entries, **guard}}


def contract(stack: str, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"name": f"kubeflow-spot-{stack}", "labels": names.labels(stack)},
        "data": neighbours.published(Scheduling.model_validate(settings)),
    }


def check(wanted: dict[str, Any], *contracts: dict[str, Any]) -> tuple[str, ...]:
    return neighbours.check_neighbours(Scheduling.model_validate(wanted), "dev", contracts)


@pytest.mark.parametrize(
    ("wanted", "theirs"),
    [
        ({}, {}),
        (excepting(BURNS), excepting(BURNS)),
        # A wider exception covers a narrower one.
        (
            excepting(BURNS),
            excepting({**BURNS, "selector": {"app": "burn-in", "of": "x"}, "rules": ["tolerates-spot"]}),
        ),
        (A, B | excepting(BURNS)),
        (excepting(mode="warn"), excepting(BURNS, IN_KUBEFLOW)),
        (excepting(platformNamespaces=["auth"]) | A, B | excepting(IN_KUBEFLOW, pipelineNamespaces=["kubeflow"])),
    ],
)
def test_guards_that_agree_stand_beside_each_other(wanted: dict[str, Any], theirs: dict[str, Any]) -> None:
    # Where this stack excepts more, that has no effect: the other guard forbids it.
    assert all("stay forbidden by" in warning for warning in check(wanted, contract("other", theirs)))


@pytest.mark.parametrize(
    ("wanted", "theirs", "pods"),
    [
        ({}, excepting(BURNS), "pods app=burn-in in team-a"),
        (A, excepting(BURNS), "pods app=burn-in in team-a"),
        (A, B | excepting(IN_KUBEFLOW), "pods app=burn-in in kubeflow"),
        (excepting({**BURNS, "rules": ["tolerates-spot"]}), excepting(BURNS), "requires-spot"),
        (excepting({**BURNS, "selector": {"app": "burn-in", "of": "x"}}), excepting(BURNS), "pods app=burn-in"),
        (
            A | excepting(additionalPlatformNamespaces=["monitoring"]),
            B | excepting({**BURNS, "namespace": "monitoring"}),
            "pods app=burn-in in monitoring",
        ),
        ({}, excepting(mode="warn"), "pods that break a rule (mode warn)"),
        ({}, excepting(deviceClasses=["gpu.nvidia.com"]), "pods with claims"),
        (A, B | excepting(pipelineNamespaces=["kubeflow"]), "steps of pipelines in kubeflow"),
    ],
)
def test_a_guard_that_would_forbid_what_another_excepts_is_refused_and_one_that_does_so_already_stays(
    wanted: dict[str, Any], theirs: dict[str, Any], pods: str
) -> None:
    other = contract("other", theirs)
    with pytest.raises(pulumi.RunError) as refused:
        check(wanted, other)
    assert pods in str(refused.value)
    assert "stack 'other'" in str(refused.value)
    # It was there before the other's exception.
    (warning,) = check(wanted, contract("dev", wanted), other)
    assert pods in warning
    # And from the other side: the exception has no effect.
    (warning,) = neighbours.check_neighbours(Scheduling.model_validate(theirs), "other", [contract("dev", wanted)])
    assert pods in warning
    assert "stay forbidden by the guard of stack 'dev'" in warning


def test_an_exception_in_a_further_namespace_is_no_profiles() -> None:
    ours = excepting({**BURNS, "namespace": "serving"}, additionalPlatformNamespaces=["serving"])
    assert check(ours, contract("other", {})) == ()


def test_a_change_that_forbids_more_is_refused() -> None:
    other = contract("other", excepting(BURNS))
    own = contract("dev", A | excepting(BURNS))
    with pytest.raises(pulumi.RunError, match="app=burn-in"):
        check(A, own, other)
    with pytest.raises(pulumi.RunError, match="app=burn-in"):
        check({}, contract("dev", excepting(mode="audit")), other)


def test_what_a_newer_program_publishes_is_told_and_no_obstacle() -> None:
    newer = contract("other", {}) | {"data": {neighbours.KEY: '{"guard": {"rulings": []}}'}}
    (warning,) = check({}, newer)
    assert "cannot read what the guard of stack 'other' excepts" in warning


def test_settings_as_by_default_publish_nothing() -> None:
    assert neighbours.published(Scheduling()) == {}
    assert neighbours.published(Scheduling.model_validate({"profiles": [{"namespace": "a"}]})) == {}


def test_both_lists_of_namespaces_are_published_as_the_one_that_older_programs_read() -> None:
    further = neighbours.published(Scheduling.model_validate(excepting(additionalPlatformNamespaces=["monitoring"])))
    guard = json.loads(further[neighbours.KEY])["guard"]
    assert guard["platformNamespaces"] == [*Scheduling().guard.platform_namespaces, "monitoring"]
    assert "additionalPlatformNamespaces" not in guard


def test_the_guard_of_the_platform_has_the_namespaces_of_both_lists() -> None:
    wanted = Scheduling.model_validate(excepting(additionalPlatformNamespaces=["monitoring"]))
    policies = dict(guard.policies(wanted, (), registry.registrations()[0].traits, "dev"))
    policy, _ = wire(policies["platform"])
    (named,) = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert named["operator"] == "In"
    assert {"kubeflow", "monitoring"} <= {*named["values"]}
