"""Placement by default comes with the first Kubernetes that has it, and goes without a trace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.stack import Stack

pytestmark = pytest.mark.engine

POLICIES = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
KINDS = (
    "configmaps", "roles", "rolebindings", "resourcequotas", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
)  # fmt: skip
OURS = ("--all-namespaces", "-l", "app.kubernetes.io/part-of=kubeflow-spot")
ALWAYS = {"cluster-autoscaler-priority-expander"}
"""Of the layer, but nothing of scheduling's."""


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The dev stack on the release before Kubernetes 1.36, brought up."""
    stack = Stack.copy(tmp_path_factory.mktemp("older"))
    stack.write({**stack.config, "release": "r2026-09"})
    done = stack.run("up")
    assert "Kubernetes 1.35 has no MutatingAdmissionPolicy" in done.stdout + done.stderr
    yield stack
    stack.run("down")


def ours(stack: Stack, *kinds: str) -> set[str]:
    """Names of the stack's own objects of these kinds."""
    return {one["metadata"]["name"] for kind in kinds for one in stack.get(kind, *OURS)["items"]}


def test_a_release_on_1_35_has_the_guard_and_no_defaults_and_the_next_one_adds_them_and_replaces_nothing(
    older: Stack,
) -> None:
    assert "kubeflow-spot-dev-guard-profiles" in ours(older, *KINDS)
    shown = older.outputs()["scheduling"]
    assert shown["defaults"] == {}
    assert "scheduling.profiles" in shown["shortfall"][-1]
    older.write({**older.config, "release": "r2026-11"})
    steps = older.steps()
    assert {operation for operation, _, _ in steps} == {"create", "update"}
    assert sorted(name for operation, name, _ in steps if operation == "create") == [
        "ml-dev-defaults",
        "ml-dev-defaults",
        "ml-dev-defaults-binding",
    ]
    older.run("up")
    assert "kubeflow-spot-dev-defaults" in ours(older, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
    assert "shortfall" not in older.outputs()["scheduling"]
    assert older.steps() == []


def test_without_scheduling_no_object_of_it_is_left(older: Stack) -> None:
    older.write({**older.config, "release": "r2026-11", "scheduling": {"enabled": False}})
    older.run("up")
    assert ours(older, *KINDS, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings") == ALWAYS
    assert older.outputs()["scheduling"] == {"enabled": False}
    assert older.steps() == []
