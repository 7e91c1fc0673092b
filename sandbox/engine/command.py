"""The engine's commands for one stack: one process each, to which this process serves the program.

The Automation API's `Stack` runs the same commands, and five more around an `up`: `version`, `stack select`, `stack output`
twice and `stack history`. Each takes 0.3 s, and the sandbox does not need their output.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import IO, Any

from pulumi import automation
from pulumi.automation.errors import create_command_error
from pulumi.automation.events import EngineEvent

from sandbox.cloud.program_requests import ProgramRequests
from sandbox.engine.language_host import OnEvent, serving

OnOutput = Callable[[str], object]


class EngineCommand:
    """Runs the engine's command line on one stack, in the folder of its project file.

    `program` declares the resources when the engine asks for them. `root` is the folder of the stack file as the user wrote it;
    `requests` gets those of the program.
    """

    def __init__(
        self,
        binary: Path,
        stack: str,
        folder: Path,
        environment: Mapping[str, str],
        program: Callable[[], None],
        root: Path | None = None,
        requests: ProgramRequests | None = None,
    ) -> None:
        self.stack, self._root, self._requests = stack, root, requests
        self._binary, self._folder, self._environment, self._program = binary, folder, environment, program

    def init(self) -> None:
        """Create the stack in the engine's state. Raises CommandError."""
        self._run(["stack", "init", "--no-select"])

    def run(self, *arguments: str, on_output: OnOutput, on_event: OnEvent = lambda event: None) -> dict[str, int]:
        """Run a command that runs the program or deletes resources; returns the number of resources by operation.

        Raises CommandError when the engine, the program or a provider fails.
        """
        changes: dict[str, int] = {}

        def listen(event: EngineEvent) -> None:
            if event.summary_event:
                changes.update({str(op): count for op, count in event.summary_event.resource_changes.items()})
            on_event(event)

        with serving(self._program, listen, self._root, self._requests) as address:
            served = [f"--client={address}", "--exec-kind=auto.inline", f"--event-log=tcp://{address}"]
            self._run([*arguments, *served], on_output)
        return changes

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs with its secrets in clear text. Raises CommandError."""
        outputs: dict[str, Any] = json.loads(self._run(["stack", "output", "--json", "--show-secrets"]))
        return outputs

    def export_stack(self) -> automation.Deployment:
        """Return the stack's state with its secrets in clear text. Raises CommandError."""
        exported = json.loads(self._run(["stack", "export", "--show-secrets"]))
        return automation.Deployment(exported["version"], exported["deployment"])

    def import_stack(self, state: automation.Deployment) -> None:
        """Replace the stack's state. Raises CommandError."""
        with NamedTemporaryFile("w", encoding="utf-8") as file:
            json.dump(vars(state), file)
            file.flush()
            self._run(["stack", "import", "--file", file.name])

    def _run(self, arguments: list[str], on_output: OnOutput = lambda line: None) -> str:
        """Return the standard output of a command. Raises CommandError."""
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


def _read(stream: IO[str], lines: list[str], on_output: OnOutput) -> None:
    for line in stream:
        lines.append(line.rstrip())
        on_output(lines[-1])
