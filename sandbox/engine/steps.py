"""What the engine tells: the steps of a preview, and its lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Half a second, which commands that ask no engine need not wait.
    from pulumi.automation.events import EngineEvent, PolicyEvent

REPEATED = "an unhandled error occurred:"

_QUIET = ("same", "read", "refresh")

_COLOUR = re.compile(r"<\{%.*?%\}>|\x1b\[[0-9;]*m")
"""The engine's marks of colour, and what a terminal makes of them."""

_ADVICE = ("The resources in the stack have been deleted, but", "If you want to remove the stack completely,")


@dataclass
class Steps:
    """The steps and error messages of one preview; `on_event` is the Automation API's callback."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    violations: list[dict[str, str]] = field(default_factory=list)
    """Rules of the policy pack that are broken; see `violation`."""

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
        if event.policy_event and (found := violation(event.policy_event)) not in self.violations:
            self.violations.append(found)
        if event.diagnostic_event and event.diagnostic_event.severity == "error":
            message = event.diagnostic_event.message.strip()
            if not message.startswith(REPEATED):
                self.errors.append(message)

    def failed(self, reason: str) -> None:
        """The preview ended with an error; one that no event told of is kept."""
        mandatory = sorted({found["policy"] for found in self.violations if found["level"] == "mandatory"})
        if mandatory and all(error.endswith(" failed") for error in self.errors):
            # All the engine says is "preview failed".
            self.errors = [f"mandatory policies are broken: {', '.join(mandatory)}"]
        elif not self.errors:
            self.errors.append(reason)

    def unexpected(self) -> str:
        """The changes of a preview that was to have none; empty when it has none."""
        changes = ", ".join(f"{step['op']} {step['name']}" for step in self.steps)
        return f"no changes were expected: {changes}" if changes else ""

    def as_json(self) -> dict[str, Any]:
        """The object `sandbox preview --json` prints."""
        return {"steps": self.steps, "violations": self.violations, "errors": self.errors}


def violation(event: PolicyEvent) -> dict[str, str]:
    """A broken rule as plain texts: its name, "advisory" or "mandatory", the resource, and what is wrong with it.

    A rule about the whole stack has no resource.
    """
    urn = event.resource_urn or ""
    return {
        "policy": event.policy_name,
        "level": event.enforcement_level,
        "resource": urn.rpartition("::")[2],
        "urn": urn,
        "message": plain(event.message),
    }


def plain(message: str) -> str:
    """Without the engine's marks of colour."""
    return _COLOUR.sub("", message).strip()


def without_advice(report: Callable[[str], None]) -> Callable[[str], None]:
    """Passes the engine's lines on, without what it advises at the end of a deletion: `down` removes the stack itself."""

    def told(line: str) -> None:
        if not line.startswith(_ADVICE):
            report(line)

    return told


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
