"""The last update that a stack remembers, and a cluster that would move."""

from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from components import last_update
from components.last_update import LastUpdate
from components.resources import outputs_of
from config.model.fields import Reference


def test_outputs_that_cannot_be_read_are_one_clean_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(stack: str) -> None:
        raise Exception("incorrect passphrase")

    monkeypatch.setattr(last_update, "outputs_of", refused)
    with pytest.raises(pulumi.RunError, match="cannot be read: incorrect passphrase"):
        LastUpdate.read_outputs()


def test_a_state_that_the_engine_is_writing_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    torn = Exception("failed to load checkpoint: EOF")
    answers = iter([torn, torn, SimpleNamespace(value={"outputs": {"release": "r"}})])

    def invoke(token: str, arguments: dict[str, str]) -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(pulumi.runtime, "invoke", invoke)
    assert outputs_of("organization/kubeflow-spot/dev") == {"release": "r"}


@pytest.mark.parametrize("output", [None, "a user's own text", ["a"]])
def test_what_a_users_program_exports_is_not_taken_for_ours(output: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        last_update, "outputs_of", lambda stack: {"systemPool": "x", "pools": ["a"], "remembered": output}
    )
    assert LastUpdate.read_outputs() == LastUpdate()


PROGRAM = {"name": "ml", "instance": "dev"}
COMPONENT = {"component": "ml", "name": "lab", "instance": "dev-ml-1"}


@pytest.mark.parametrize(
    ("outputs", "component", "expected"),
    [
        ({"remembered": PROGRAM}, None, PROGRAM),
        # The same cluster, moved from the program to the package: its objects keep their names.
        ({"remembered": PROGRAM}, "ml", PROGRAM),
        ({"remembered": PROGRAM}, "other", {}),
        ({"remembered": COMPONENT}, "ml", COMPONENT),
        ({"any": COMPONENT, "text": "x"}, "ml", COMPONENT),
        # A component may have the name of another one's cluster.
        ({"remembered": COMPONENT}, "lab", {}),
        ({"remembered": COMPONENT}, None, {}),
        ({"users": {"name": "ml"}}, "ml", {}),
    ],
)
def test_a_cluster_finds_its_own_part_of_the_outputs(
    outputs: dict[str, Any], component: str | None, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_update, "outputs_of", lambda stack: outputs)
    assert LastUpdate.read_outputs(component).content == expected


ML = {"clusterName": "ml", "resourceGroup": "ml"}


@pytest.mark.parametrize(
    ("last_place", "place", "paths"),
    [
        ({}, ML, []),
        (ML, ML, []),
        (ML, {"clusterName": "two", "resourceGroup": "ml"}, ["cluster.name"]),
        (ML, {"clusterName": "ml", "resourceGroup": "two"}, ["cloud.resourceGroup"]),
        (ML, {"clusterName": "two", "resourceGroup": "two"}, ["cluster.name", "cloud.resourceGroup"]),
        # Another cloud, or an existing cluster
        (ML, {"clusterName": "ml", "project": "ml", "location": "europe-west4"}, ["cloud"]),
        (ML, {}, ["cloud"]),
        (
            {"clusterName": "ml", "project": "a", "location": "europe-west4"},
            {"clusterName": "ml", "project": "b", "location": "europe-west1"},
            ["cloud.project", "cloud.location"],
        ),
    ],
)
def test_the_cluster_of_the_last_update_stays_where_it_was(
    last_place: dict[str, str], place: dict[str, str], paths: list[str]
) -> None:
    problems = list(LastUpdate({"place": last_place}).moves({part: Reference(text) for part, text in place.items()}))
    assert [problem.path for problem in problems] == paths
    assert all("`pulumi destroy`, then `pulumi up`" in problem.remedy for problem in problems)
