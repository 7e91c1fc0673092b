"""The training of examples/training as a real process, which is told to end and killed as a pod's container is."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

PROGRAM = Path(__file__).resolve().parents[1] / "examples" / "training" / "train.py"
STEPS, EVERY = 240, 20
_PACE = 0.01
"""Seconds of a step: so long that nobody is too late to end it."""


@dataclass
class Training:
    """One run, in as many processes as it takes. Its checkpoints are in a folder."""

    folder: Path
    program: Path = PROGRAM
    pace: float = _PACE
    attempts: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def begin(self) -> None:
        """Start the next process."""
        numbers = ["--steps", str(STEPS), "--checkpoint-every", str(EVERY), "--seconds-per-step", str(self.pace)]
        self.attempts += 1
        self._process = subprocess.Popen(
            [sys.executable, str(self.program), "--checkpoints", str(self.folder), *numbers],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def saved(self) -> int:
        """Return the steps of the newest checkpoint."""
        names = [path.stem for path in self.folder.glob("step-*.json")]
        return max((int(name.removeprefix("step-")) for name in names), default=0)

    def lose(self, after: int, *, noticed: bool = True, forwarded: bool = True) -> int:
        """End the process when so many steps are saved; return its exit code, -9 when it was killed.

        With a notice it gets SIGTERM, and SIGKILL if it does not end; without, SIGKILL alone. A notice that is not `forwarded`
        ends the process that started it, and so the container, at once: the launcher of Kubeflow Pipelines does not wait.
        """
        process = self._process
        assert process is not None
        until = monotonic() + 30
        while self.saved() < after:
            assert process.poll() is None, f"the training ended by itself with {process.returncode}"
            assert monotonic() < until, f"{after} steps were not saved within 30 s"
            sleep(0.002)
        if noticed:
            process.terminate()
        if not noticed or not forwarded:
            process.kill()
        try:
            return process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def finish(self) -> int:
        """Wait until the process ends by itself; return its exit code."""
        assert self._process is not None
        return self._process.wait(60)

    def result(self) -> dict[str, Any] | None:
        """Return the numbers with which the run ended; None before."""
        path = self.folder / "result.json"
        found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
        return found


def undisturbed(folder: Path) -> dict[str, Any]:
    """Return the numbers of a run that nothing interrupts."""
    training = Training(folder, pace=0.0)
    training.begin()
    assert training.finish() == 0
    result = training.result()
    assert result is not None
    return result
