"""Listens to one engine command: what it does to resources, what it warns of, and what the stack's outputs become."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pulumi.automation.events import EngineEvent

from sandbox.engine.steps import REPEATED, plain
from sandbox.report.changes import change
from sandbox.report.model import Change, Level, Violation

_REFUSED = "preview failed"
"""All the engine says of a mandatory policy: it did preview."""

_STACK = "pulumi:pulumi:Stack"
_NO_NEWS = re.compile(r"using pulumi-analyzer-policy-\w+ from \$PATH")
"""How the sandbox starts a policy pack (`sandbox.engine.policies`)."""


@dataclass
class Listener:
    """`on_event` is the Automation API's callback."""

    changes: list[Change] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    """The stack's, with secrets hidden by the engine. Empty when the program ended early."""

    def on_event(self, event: EngineEvent) -> None:
        """Take what matters of one event."""
        try:
            self._take(event)
        except Exception as defect:
            # The Automation API only warns of what a callback raises, and a report without the change would be believed.
            self.errors.append(f"an event of the engine could not be read: {defect!r}")
            raise

    def _take(self, event: EngineEvent) -> None:
        if found := change(event):
            self.changes.append(found)
        if event.policy_event:
            self._violated(event)
        if event.diagnostic_event:
            self._told(event.diagnostic_event.severity, plain(event.diagnostic_event.message))
        if event.res_outputs_event and event.res_outputs_event.metadata.type == _STACK:
            new = event.res_outputs_event.metadata.new
            self.outputs = dict(new.outputs or {}) if new else {}

    def failed(self, reason: str) -> None:
        """The command ended with an error; one that no event told of is kept. A policy's refusal is told as a violation."""
        if any(found.level == Level.MANDATORY for found in self.violations):
            self.errors = [error for error in self.errors if error != _REFUSED]
        elif not self.errors:
            self.errors.append(plain(reason))

    def _told(self, severity: str, message: str) -> None:
        lines = {"error": self.errors, "warning": self.warnings}.get(severity)
        if (
            lines is not None
            and message not in lines
            and not message.startswith(REPEATED)
            and not _NO_NEWS.match(message)
        ):
            lines.append(message)

    def _violated(self, event: EngineEvent) -> None:
        told = event.policy_event
        assert told
        level = Level.MANDATORY if told.enforcement_level == Level.MANDATORY else Level.ADVISORY
        # urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME
        types, name = told.resource_urn.split("::", 3)[2:] if told.resource_urn else ("", "")
        found = Violation(
            policy=told.policy_name,
            level=level,
            resource=name,
            type=types.rpartition("$")[2],
            message=plain(told.message),
        )
        if found not in self.violations:
            self.violations.append(found)
