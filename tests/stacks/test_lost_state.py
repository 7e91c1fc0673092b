"""A wholly lost state, by the real engine: docs/tasks/recover.md, "The state is wholly lost"."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pulumi.automation.errors import CommandError

from checks.findings import Exit
from checks.lost_state import import_command, trim_command
from sandbox.azure.azure_ids import SUBSCRIPTION
from sandbox.base.home import Home
from sandbox.cloud.program_requests import ProgramRequests
from sandbox.engine import session
from sandbox.engine.command import EngineCommand
from sandbox.tests.pods import notebook
from sandbox.tests.stack import Stack
from sandbox.tests.subjects import DEV, STAGING, Subject
from tests.docs.pages import DOCS, blocks
from tests.stacks.test_import import language

# A minute and a half a stack: two imports, each between previews of the whole program.
pytestmark = [pytest.mark.engine, pytest.mark.slow]

CHANGED = {
    "dev": {
        "ml-dev": {
            *(f"agentPoolProfiles[{number}].nodeTaints" for number in range(2)),
            "apiServerAccessProfile.authorizedIPRanges",
        },
        "ml-dev-general": {"nodeTaints"},
    },
    "staging": {
        "ml-staging": {"deletionProtection", "minMasterVersion", "removeDefaultNodePool"},
        "ml-staging-compute-class": {"metadata.labels", "spec"},
    },
}
"""The updates that are left, and their properties: empty lists; what the providers do not read."""


class Recovery:
    """The page's commands on a sandbox's stack, whose state is in a file."""

    def __init__(self, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stack, self.home, self._monkeypatch = stack, Home.of(stack.name, stack.project), monkeypatch
        self.folder = stack.project.parent
        self.imported: list[str] = []

    def lose_state(self) -> None:
        """Delete the state, its older versions and the sandbox's own copy, without which it begins an empty one."""
        shutil.rmtree(self.home.backend)
        shutil.rmtree(self.home.directory / "state-copy")

    def round(self, *options: str) -> int:
        """Do the page's round once; return the exit status of `import-file`."""
        plan, file, state = (self.folder / name for name in ("plan.json", "import.json", "state.json"))
        # Nothing of the program asks for what `pulumi import` reads.
        self._monkeypatch.setattr(ProgramRequests, "_has", lambda *_: True)
        self._monkeypatch.setattr(ProgramRequests, "checks", lambda *_: True)
        with session.open(self.home, print) as engine, language() as served:
            command, lines = engine.command, list[str]()
            command.run("preview", "--json", "--import-file", str(file), on_output=lines.append)
            text = "\n".join(lines)
            # Messages of the standard error stand before and after.
            plan.write_text(re.search(r"^\{$.*?^\}$", text, re.DOTALL | re.MULTILINE)[0])  # type: ignore[index]
            filled = CliRunner().invoke(import_command.main, [str(plan), str(file), *options])
            assert filled.exit_code != Exit.UNASKED, filled.output
            self.imported += re.findall(r'"id": "(.+)"', file.read_text())
            asks = EngineCommand(
                command._binary, command.stack, command._folder, {**command._environment, **served}, print
            )
            asks._run(["import", *arguments(file)])
            exported = command._run(["stack", "export"])
            trimmed = CliRunner().invoke(trim_command.main, [str(plan)], input=exported)
            assert trimmed.exit_code == Exit.READY, trimmed.output
            state.write_text(trimmed.stdout)
            command._run(["stack", "import", "--file", str(state)])
        self._monkeypatch.undo()
        return filled.exit_code


def arguments(file: Path) -> list[str]:
    """Return the arguments of the page's `pulumi import`, with this file and no question."""
    (line,) = [
        line for block in blocks(DOCS / "tasks" / "recover.md") for line in block.text.splitlines()
        if line.strip().startswith("pulumi import ")
    ]  # fmt: skip
    words = [str(file) if word == "import.json" else word for word in line.split()[2:]]
    return words if "--yes" in words else [*words, "--yes"]


@pytest.fixture(params=[DEV, STAGING], ids=lambda subject: subject.name)
def subject(request: pytest.FixtureRequest) -> Subject:
    found: Subject = request.param
    return found


@pytest.fixture
def stack(tmp_path: Path, subject: Subject) -> Iterator[Stack]:
    stack = Stack.copy(tmp_path, subject.name)
    stack.up()
    yield stack
    stack.run("down", "--force")


def uids(stack: Stack) -> dict[str, str]:
    """Return the nodes, and the pods of the default namespace, by name."""
    found = [*stack.get("nodes")["items"], *stack.get("pods")["items"]]
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}


def test_a_stack_is_taken_back_and_goes_on_as_before(
    stack: Stack, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack.run("scale", subject.spot, "1")
    notebook(stack, subject.spot)
    before = uids(stack)
    recovery = Recovery(stack, monkeypatch)
    recovery.lose_state()
    account = () if subject is STAGING else ("--account", SUBSCRIPTION)
    assert recovery.round(*account) == Exit.UNSEEN
    assert recovery.round(*account) == Exit.READY

    # The engine's own provider, which reads the last update's outputs, is made anew.
    left = [step for step in stack.steps() if step[:2] != ("create", "default")]
    assert {operation for operation, _, _ in left} == {"update"}
    assert {name: set(properties) for _, name, properties in left} == CHANGED[stack.name]
    stack.up()
    assert stack.steps() == []
    assert uids(stack) == before

    # An edit changes a pool and objects of the layer, as the field managers that these have from before.
    config = stack.config
    config["pools"].append(subject.another)
    stack.write(config)
    stack.up()
    assert stack.steps() == []
    assert before.items() <= uids(stack).items()
    # A field that goes away goes away in the cluster as well.
    config["pools"].pop()
    stack.write(config)
    stack.up()
    contract = json.dumps(stack.get("configmap", "kubeflow-spot", "-n", "kube-public")["data"])
    assert subject.another["name"] not in contract


@pytest.mark.parametrize("subject", [DEV], ids=["dev"])
def test_only_what_is_the_stacks_own_is_imported(
    stack: Stack, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another stack in the same subscription.
    other = Stack(stack.project, stack.home, "other")
    config: dict[str, Any] = {**stack.config, "cluster": {"name": "ml-other"}}
    other.write(config)
    other.run("up", "--beside", "dev")
    recovery = Recovery(stack, monkeypatch)
    recovery.lose_state()
    # Another subscription has nothing of it, and the engine says so before it changes the state.
    elsewhere = SUBSCRIPTION.replace("a2e5", "a2e6")
    with pytest.raises(CommandError, match=rf"{elsewhere}/resourceGroups/ml-dev' does not exist"):
        recovery.round("--account", elsewhere)
    monkeypatch.undo()
    recovery.imported.clear()
    recovery.round("--account", SUBSCRIPTION)
    recovery.round("--account", SUBSCRIPTION)
    # Objects inside the cluster have no id of Azure's; they are of the cluster that the program's kubeconfig names.
    of_azure = [id for id in recovery.imported if id.startswith("/subscriptions/")]
    assert len(of_azure) > 5
    assert [id for id in of_azure if "ml-dev" not in id] == []
    assert [id for id in recovery.imported if "other" in id] == []
    assert other.steps() == []
    other.run("down", "--force")
