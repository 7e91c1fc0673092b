"""Creates whose result a killed engine did not record."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation

from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_provider import AzureProvider
from sandbox.base.checkpoint import Checkpoint
from sandbox.base.home import Home
from sandbox.cloud.provider import Props, Refused, Resource
from sandbox.cluster.kubernetes_provider import KubernetesProvider
from sandbox.engine.interrupted import Interrupted
from sandbox.tests.azure.conftest import GROUP, RecordingRuntime

URN = f"urn:pulumi:dev::kubeflow-spot::{GROUP}::ml"
INPUTS = {"resourceGroupName": "ml", "location": "westeurope"}
PENDING = {"urn": URN, "type": GROUP, "custom": True, "inputs": INPUTS, "parent": "urn:stack"}
ID = "/subscriptions/00000000-0000-4000-8000-00000000a2e5/resourceGroups/ml"


class State:
    """An engine's state, with the two commands that edit it."""

    def __init__(self, home: Home, **latest: Any) -> None:
        self.path = home.backend / ".pulumi" / "stacks" / "kubeflow-spot" / "dev.json"
        self.path.parent.mkdir(parents=True)
        self.write(**latest)

    def write(self, **latest: Any) -> None:
        self.path.write_text(json.dumps({"checkpoint": {"latest": latest}}))

    @property
    def latest(self) -> dict[str, Any]:
        newest: dict[str, Any] = json.loads(self.path.read_text())["checkpoint"]["latest"]
        return newest

    def export_stack(self) -> automation.Deployment:
        return automation.Deployment(3, self.latest)

    def import_stack(self, state: automation.Deployment) -> None:
        self.write(**(state.deployment or {}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home("dev", tmp_path, tmp_path)
    home.directory.mkdir()
    return home


@pytest.fixture
def azure(tmp_path: Path) -> AzureProvider:
    return AzureProvider(AzureCloud(tmp_path / "azure.json", RecordingRuntime()))


def resolved(home: Home, state: State, **providers: Any) -> str:
    lines: list[str] = []
    interrupted: Any = Interrupted(home, Checkpoint(home))
    interrupted.resolve(state, {name.replace("_", "-"): provider for name, provider in providers.items()}, lines.append)
    return "\n".join(lines)


def creating(resource: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"resource": resource, "type": "creating"}]


def test_a_created_resource_is_in_the_state_as_if_the_answer_had_arrived(home: Home, azure: AzureProvider) -> None:
    id, outputs = azure.create(Resource(GROUP, "ml", URN, inputs=INPUTS))
    state = State(home, resources=[], pending_operations=creating(PENDING))
    output = resolved(home, state, azure_native=azure)
    assert state.latest == {"resources": [{**PENDING, "id": id, "outputs": outputs}]}
    assert f"{GROUP} ml: {ID}" in output
    assert "with a real cloud" in output.lower()


def test_a_resource_that_was_not_created_is_dropped_silently(home: Home, azure: AzureProvider) -> None:
    state = State(home, resources=[], pending_operations=creating(PENDING))
    assert resolved(home, state, azure_native=azure) == ""
    assert state.latest == {"resources": []}


def test_an_entry_outlives_an_engine_that_took_silence_for_a_refusal(home: Home, azure: AzureProvider) -> None:
    state = State(home, resources=[], pending_operations=creating(PENDING))
    with Interrupted(home, Checkpoint(home)).keep(URN):
        azure.create(Resource(GROUP, "ml", URN, inputs=INPUTS))
    state.write(resources=[])
    assert ID in resolved(home, state, azure_native=azure)
    assert [resource["id"] for resource in state.latest["resources"]] == [ID]


def test_an_entry_with_an_answer_changes_nothing(home: Home, azure: AzureProvider) -> None:
    state = State(home, resources=[], pending_operations=creating(PENDING))
    with Interrupted(home, Checkpoint(home)).keep(URN):
        id, outputs = azure.create(Resource(GROUP, "ml", URN, inputs=INPUTS))
    answered = [{**PENDING, "id": id, "outputs": outputs}]
    state.write(resources=answered)
    assert resolved(home, state, azure_native=azure) == ""
    assert state.latest == {"resources": answered}


FAILED = automation.errors.CommandError(automation.CommandResult("", "", 255))


@pytest.mark.parametrize(
    ("create", "engine", "left", "in_doubt"),
    [
        pytest.param(None, None, [], False, id="an engine that succeeds has all answers"),
        pytest.param(None, FAILED, [{**PENDING, "id": ID}], False, id="what the state has is answered"),
        pytest.param(Refused("no"), FAILED, [], False, id="a refused create has made nothing"),
        pytest.param(OSError("no answer"), FAILED, [], True, id="an answer was lost"),
        pytest.param(None, FAILED, None, True, id="the state was cut off before it had the answer"),
    ],
)
def test_an_entry_is_kept_while_the_end_of_its_create_is_in_doubt(
    create: Exception | None, engine: Exception | None, left: Any, in_doubt: bool, home: Home, azure: AzureProvider
) -> None:
    state = State(home, resources=[], pending_operations=creating(PENDING))
    interrupted = Interrupted(home, Checkpoint(home))
    with suppress(automation.errors.CommandError), interrupted.until_the_engine_ends():
        with suppress(Refused, OSError), interrupted.keep(URN):
            if create:
                raise create
        state.path.write_text("{") if left is None else state.write(resources=left)
        if engine:
            raise engine
    state.write(resources=left or [])
    # It exists by now, whoever has made it.
    azure.create(Resource(GROUP, "ml", URN, inputs=INPUTS))
    assert (ID in resolved(home, state, azure_native=azure)) == in_doubt


def test_a_replacement_takes_the_place_of_the_deleted_resource(home: Home, azure: AzureProvider) -> None:
    azure.create(Resource(GROUP, "ml", URN, inputs=INPUTS))
    old = {**PENDING, "id": ID, "pendingReplacement": True}
    state = State(home, resources=[old], pending_operations=creating(PENDING))
    resolved(home, state, azure_native=azure)
    (only,) = state.latest["resources"]
    assert (only["id"], "pendingReplacement" in only) == (ID, False)


class Cluster(KubernetesProvider):
    """A cluster with one object."""

    def find(self, resource: Resource) -> tuple[str, Props] | None:
        assert self._kubeconfig == "apiVersion: v1"
        return "default/pull", {
            "kind": "Secret",
            "stringData": {"password": "geheim"},
            "data": {"password": "Z2VoZWlt"},
        }


def test_secrets_of_an_object_are_secret_in_the_state(home: Home) -> None:
    def secret(value: Any) -> dict[str, str]:
        return {
            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
            "plaintext": json.dumps(value),
        }

    provider = {"urn": "urn:provider", "type": "pulumi:providers:kubernetes", "id": "7", "inputs": {}}
    provider["inputs"] = {"kubeconfig": secret("apiVersion: v1")}
    pull = {
        "urn": "urn:pulumi:dev::kubeflow-spot::kubernetes:core/v1:Secret::pull",
        "type": "kubernetes:core/v1:Secret",
        "provider": "urn:provider::7",
        "inputs": {"kind": "Secret", "stringData": {"password": secret("geheim")}},
        "additionalSecretOutputs": ["data"],
    }
    state = State(home, resources=[provider], pending_operations=creating(pull))
    resolved(home, state, kubernetes=Cluster())
    outputs = state.latest["resources"][1]["outputs"]
    assert outputs["stringData"] == secret({"password": "geheim"})
    assert outputs["data"] == secret({"password": "Z2VoZWlt"})
    assert outputs["kind"] == "Secret"
