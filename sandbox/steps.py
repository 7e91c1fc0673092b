"""What the engine tells: the steps of a preview, and its lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent

REPEATED = "an unhandled error occurred:"

_QUIET = ("same", "read", "refresh")


@dataclass
class Steps:
    """The steps and error messages of one preview; `on_event` is the Automation API's callback."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def on_event(self, event: EngineEvent) -> None:
        """Take what matters of one event: a step that changes something, or an error."""
        if event.resource_pre_event:
            step = event.resource_pre_event.metadata
            op = str(getattr(step.op, "value", step.op))
            if op not in _QUIET:
                self.steps.append(
                    {
                        "op": op,
                        "type": step.type,
                        "name": step.urn.rpartition("::")[2],
                        "urn": step.urn,
                        "diff": sorted(step.detailed_diff or step.diffs or []),
                    }
                )
        if event.diagnostic_event and event.diagnostic_event.severity == "error":
            message = event.diagnostic_event.message.strip()
            if not message.startswith(REPEATED):
                self.errors.append(message)

    def failed(self, reason: str) -> None:
        """The preview ended with an error; one that no event told of is kept."""
        if not self.errors:
            self.errors.append(reason)

    def as_json(self) -> dict[str, Any]:
        """The object `sandbox preview --json` prints."""
        return {"steps": self.steps, "errors": self.errors}


class Unrepeated:
    """Passes the engine's lines on, without the second report of an error the program itself raised.

    The Automation API logs such an error and also returns it to the engine, which prints it again in other words.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._skipped: int | None = None

    def __call__(self, line: str) -> None:
        indent = len(line) - len(line.lstrip())
        if REPEATED in line:
            self._skipped = indent
        elif self._skipped is None or not line.strip() or indent <= self._skipped:
            self._skipped = None
            self._report(line)
