"""Policies of work that is lost, by the stack file: the default of such work, and what the program knows of the cluster."""

from typing import Any

import pytest

from components.layer.scheduling import lost_pods
from components.resources import wire
from config.model.scheduling import Scheduling
from tests.components.program import PROJECT, declare, stack_config

POLICIES = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"


def scheduling(placement: str) -> Scheduling:
    return Scheduling.model_validate({"defaults": {"other": {"gpu": placement}}})


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        ("on-demand", "so its pods stay on demand unless a label kubeflow-spot.dev/placement asks for spot"),
        ("prefer-spot", "and its pods prefer-spot all the same, as scheduling.defaults.other says"),
    ],
)
def test_the_notice_says_where_such_work_runs(placement: str, words: str) -> None:
    policy, _ = lost_pods.warning(scheduling(placement), "dev")
    (validation,) = wire(policy)["spec"]["validations"]
    assert words in validation["messageExpression"]


def judging(**changes: Any) -> list[str]:
    settings = stack_config(PROJECT / "Pulumi.dev.yaml")
    declared = declare({**settings, **{f"kubeflow-spot:{key}": value for key, value in changes.items()}})
    return sorted(name for name in declared.of(POLICIES) if "lost-pods" in name)


def test_only_work_that_stays_on_demand_is_refused_for_want_of_room() -> None:
    both = ["ml-dev-lost-pods-guard", "ml-dev-lost-pods-notice"]
    assert judging() == both
    moved = {"defaults": {"other": {"gpu": "prefer-spot"}}}
    assert judging(scheduling=moved) == ["ml-dev-lost-pods-notice"]
    # Below Kubernetes 1.36 nothing is marked, and nothing prefers spot by itself.
    assert judging(release="r2026-09") == ["ml-dev-lost-pods-notice"]
    # Another default, taken back again.
    assert judging(scheduling={"defaults": {"job": {"gpu": "on-demand"}}}) == both
