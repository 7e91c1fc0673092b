"""The listener: an engine command's changes, diagnostics and outputs, for the report."""

from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent

from sandbox.engine.changes import Change, Level, Violation, change
from sandbox.engine.events import Diagnostics, plain

_REFUSED = "preview failed"
"""The engine's whole error where a mandatory policy is broken, although it did preview."""

_STACK = "pulumi:pulumi:Stack"


@dataclass
class Listener(Diagnostics):
    """`on_event` is the Automation API's callback."""

    changes: list[Change] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    """The stack's outputs, secrets hidden by the engine. Empty when the program ended early."""

    def on_event(self, event: EngineEvent) -> None:
        """Keep what the report needs of an event."""
        try:
            super().on_event(event)
            if entry := change(event):
                self.changes.append(entry)
            if event.res_outputs_event and event.res_outputs_event.metadata.type == _STACK:
                new = event.res_outputs_event.metadata.new
                self.outputs = dict(new.outputs or {}) if new else {}
        except Exception as defect:
            # The caller only warns of what a callback raises, and a report without the change would be believed.
            self.errors.append(f"an event of the engine could not be read: {defect!r}")
            raise

    def policy_violations(self) -> list[Violation]:
        """Return the violations as the report has them: every level but mandatory is advisory."""
        return [
            Violation(
                policy=violation.policy,
                level=Level.MANDATORY if violation.level == Level.MANDATORY else Level.ADVISORY,
                resource=violation.resource,
                type=violation.type,
                message=violation.message,
            )
            for violation in self.violations
        ]

    def failed(self, reason: str) -> None:
        """Note that the command failed for this reason, which is kept where no event gave one. A broken policy is a violation."""
        if self.mandatory():
            self.errors = [error for error in self.errors if error != _REFUSED]
        elif not self.errors:
            self.errors.append(plain(reason))
