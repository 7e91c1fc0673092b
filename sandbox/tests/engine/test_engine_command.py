"""Commands of the engine, with a script in place of the engine that records its requests."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pulumi import automation
from pulumi.automation.errors import CommandError, StackNotFoundError
from pulumi.automation.events import EngineEvent

from sandbox.engine.command import EngineCommand

pytestmark = pytest.mark.process

# Records its arguments, sends the given events, then prints and ends as configured.
SCRIPT = """#!{python}
import json, os, sys
from pathlib import Path
folder = Path(__file__).parent
with (folder / "asked").open("a") as asked:
    asked.write(json.dumps(sys.argv[1:]) + "\\n")
answer = json.loads((folder / "answer.json").read_text())
for argument in sys.argv:
    if argument.startswith("--event-log=tcp://"):
        import grpc
        from pulumi.runtime.proto import events_pb2, events_pb2_grpc
        channel = grpc.insecure_channel(argument.removeprefix("--event-log=tcp://"))
        sent = (events_pb2.EventRequest(event=json.dumps(event)) for event in answer.get("events", ()))
        events_pb2_grpc.EventsStub(channel).StreamEvents(sent)
    if argument == "--file":
        (folder / "imported").write_text(Path(sys.argv[sys.argv.index(argument) + 1]).read_text())
print(answer.get("out", ""))
print(answer.get("err", ""), file=sys.stderr)
sys.exit(answer.get("code", 0))
"""


class Fake:
    """A script in place of the engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        binary = folder / "engine"
        binary.write_text(SCRIPT.format(python=sys.executable))
        binary.chmod(0o755)
        self.command = EngineCommand(binary, "dev", folder, {}, lambda: None)

    def answer(self, **answer: Any) -> None:
        (self.folder / "answer.json").write_text(json.dumps(answer))

    def commands(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "asked").read_text().splitlines()]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def event(**content: Any) -> dict[str, Any]:
    return {"sequence": 1, "timestamp": 1, **content}


def diagnostic(message: str) -> dict[str, Any]:
    return event(diagnosticEvent={"message": message, "color": "never", "severity": "info"})


SUMMARY = event(
    summaryEvent={
        "maybeCorrupt": False,
        "durationSeconds": 1,
        "resourceChanges": {"create": 2, "same": 1},
        "PolicyPacks": {},
    }
)


def messages(taken: list[str]) -> Callable[[EngineEvent], None]:
    def take(event: EngineEvent) -> None:
        if event.diagnostic_event:
            taken.append(event.diagnostic_event.message)

    return take


def test_a_change_is_one_command_and_all_its_events_are_handled_at_its_end(fake: Fake) -> None:
    fake.answer(events=[*(diagnostic(str(number)) for number in range(500)), SUMMARY], out="one\ntwo", err="three")
    taken: list[str] = []
    lines: list[str] = []
    changes = fake.command.run("up", "--yes", on_output=lines.append, on_event=messages(taken))
    assert changes == {"create": 2, "same": 1}
    assert taken == [str(number) for number in range(500)]
    assert sorted(lines) == ["one", "three", "two"]
    (arguments,) = fake.commands()
    assert arguments[:3] == ["--non-interactive", "up", "--yes"]
    assert arguments[-2:] == ["--stack", "dev"]
    assert "--exec-kind=auto.inline" in arguments


def test_a_failed_command_raises_its_output(fake: Fake) -> None:
    fake.answer(code=255, out="error: a lock", events=[diagnostic("before")])
    taken: list[str] = []
    with pytest.raises(CommandError, match="error: a lock"):
        fake.command.run("preview", on_output=print, on_event=messages(taken))
    assert taken == ["before"]
    fake.answer(code=255, err="error: no stack named 'dev' found")
    with pytest.raises(StackNotFoundError):
        fake.command.outputs()


def test_an_event_that_cannot_be_handled_ends_nothing(fake: Fake) -> None:
    fake.answer(events=[diagnostic("one"), SUMMARY])

    def broken(event: EngineEvent) -> None:
        if event.diagnostic_event:
            raise ValueError("no such field")

    with pytest.warns(UserWarning, match="no such field"):
        assert fake.command.run("up", on_output=print, on_event=broken) == {"create": 2, "same": 1}


def test_a_state_is_exported_and_imported_and_no_copy_of_it_stays(fake: Fake, tmp_path: Path) -> None:
    fake.answer(out=json.dumps({"version": 3, "features": ["one"], "deployment": {"resources": []}}))
    state = fake.command.export_stack()
    assert vars(state) == {"version": 3, "deployment": {"resources": []}}
    fake.command.import_stack(automation.Deployment(3, {"resources": [{"urn": "urn:it"}]}))
    assert json.loads((tmp_path / "imported").read_text())["deployment"] == {"resources": [{"urn": "urn:it"}]}
    exported, imported = fake.commands()
    assert "--show-secrets" in exported
    assert not Path(imported[imported.index("--file") + 1]).exists()
