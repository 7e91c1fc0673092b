"""What a preview would do, gathered from the engine's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent

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
            self.errors.append(event.diagnostic_event.message.strip())

    def failed(self, reason: str) -> None:
        """The preview ended with an error; one that no event told of is kept."""
        if not self.errors:
            self.errors.append(reason)

    def as_json(self) -> dict[str, Any]:
        """The object `sandbox preview --json` prints."""
        return {"steps": self.steps, "errors": self.errors}
