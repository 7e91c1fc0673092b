"""The engine's commands for one stack: one process each, to which this process serves the program.

The Automation API's `Stack` runs the same commands, and five more around an `up`: `version`, `stack select`, `stack output` twice
and `stack history`. Each takes 0.3 s, and nobody here reads what they print.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import IO, Any

import grpc
from google.protobuf import empty_pb2
from pulumi import automation
from pulumi.automation._server import LanguageServer
from pulumi.automation.errors import create_command_error
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import events_pb2_grpc, language_pb2_grpc

from sandbox.cloud.callers import OwnUser

Told = Callable[[str], object]
OnEvent = Callable[[EngineEvent], object]

# What the program or an event says may be longer than gRPC's 4 MB.
_LONGEST = 400 << 20
_WORKERS = 8
_END_SECONDS = 5


class EngineCommand:
    """Runs the engine's command line on one stack, in the folder of its project file.

    `program` declares the resources when the engine asks for them.
    """

    def __init__(
        self, binary: Path, stack: str, folder: Path, environment: Mapping[str, str], program: Callable[[], None]
    ) -> None:
        self.stack = stack
        self._binary, self._folder, self._environment, self._program = binary, folder, environment, program

    def init(self) -> None:
        """Make the stack in the engine's state. Raises CommandError."""
        self._run(["stack", "init", "--no-select"])

    def run(self, *arguments: str, on_output: Told, on_event: OnEvent = lambda event: None) -> dict[str, int]:
        """Run a command that declares or deletes resources, or says what it would do; returns the number of them by operation.

        Raises CommandError when the engine refuses, or something that it asks.
        """
        changes: dict[str, int] = {}

        def listen(event: EngineEvent) -> None:
            if event.summary_event:
                changes.update({str(op): count for op, count in event.summary_event.resource_changes.items()})
            on_event(event)

        with _serving(self._program, listen) as address:
            served = [f"--client={address}", "--exec-kind=auto.inline", f"--event-log=tcp://{address}"]
            self._run([*arguments, *served], on_output)
        return changes

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs with its secrets in clear text. Raises CommandError."""
        found: dict[str, Any] = json.loads(self._run(["stack", "output", "--json", "--show-secrets"]))
        return found

    def export_stack(self) -> automation.Deployment:
        """The stack's state with its secrets in clear text. Raises CommandError."""
        exported = json.loads(self._run(["stack", "export", "--show-secrets"]))
        return automation.Deployment(exported["version"], exported["deployment"])

    def import_stack(self, state: automation.Deployment) -> None:
        """Replace the stack's state. Raises CommandError."""
        with NamedTemporaryFile("w", encoding="utf-8") as file:
            json.dump(vars(state), file)
            file.flush()
            self._run(["stack", "import", "--file", file.name])

    def _run(self, arguments: list[str], on_output: Told = lambda line: None) -> str:
        """What a command prints. Raises CommandError."""
        process = subprocess.Popen(
            [self._binary, "--non-interactive", *arguments, "--stack", self.stack],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env={**os.environ, **self._environment},
            encoding="utf-8",
        )
        printed: tuple[list[str], list[str]] = [], []
        with process:
            assert process.stdout
            assert process.stderr
            reader = Thread(target=_read, args=[process.stderr, printed[1], on_output])
            reader.start()
            _read(process.stdout, printed[0], on_output)
            reader.join()
        out, err = ("\n".join(lines) for lines in printed)
        if process.returncode:
            raise create_command_error(automation.CommandResult(out, err, process.returncode))
        return out


def _read(stream: IO[str], lines: list[str], on_output: Told) -> None:
    for line in stream:
        lines.append(line.rstrip())
        on_output(lines[-1])


class _Events(events_pb2_grpc.EventsServicer):
    """Takes the engine's events."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event

    def StreamEvents(self, request_iterator: Iterator[Any], context: Any) -> Any:
        for request in request_iterator:
            try:
                self._on_event(EngineEvent.from_json(json.loads(request.event)))
            except Exception as defect:
                # The engine would end in the middle of its work.
                warnings.warn(f"an event of the engine could not be read: {defect!r}", stacklevel=1)
        return empty_pb2.Empty()


@contextmanager
def _serving(program: Callable[[], None], on_event: OnEvent) -> Iterator[str]:
    """Serve a program to the engine and take its events; yields the address. All events are taken when this ends."""
    workers = ThreadPoolExecutor(max_workers=_WORKERS)
    callers = OwnUser()
    server = grpc.server(
        workers,
        interceptors=[callers],
        options=[
            ("grpc.max_receive_message_length", _LONGEST),
            # Calls wait for as long as the program computes.
            ("grpc.server_max_unrequested_time_in_server", 30 * 60),
        ],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageServer(program), server)
    events_pb2_grpc.add_EventsServicer_to_server(_Events(on_event), server)
    callers.port = server.add_insecure_port("127.0.0.1:0")
    address = f"127.0.0.1:{callers.port}"
    server.start()
    try:
        yield address
    finally:
        server.stop(grace=_END_SECONDS).wait()
        workers.shutdown()
