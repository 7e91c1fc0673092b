"""The engine's events: errors, warnings, broken policies, and the steps of a preview."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Half a second, which commands that ask no engine need not wait.
    from pulumi.automation.events import EngineEvent, PolicyEvent

_QUIET = ("same", "read", "refresh")
_MANDATORY = "mandatory"

_COLOUR = re.compile(r"<\{%.*?%\}>|\x1b\[[0-9;]*m")
"""The engine's colour tags, and a terminal's."""

_ADVICE = ("The resources in the stack have been deleted, but", "If you want to remove the stack completely,")


@dataclass(frozen=True)
class PolicyViolation:
    """A rule of the policy pack that the stack breaks."""

    policy: str
    level: str
    """"advisory" or "mandatory"."""
    resource: str
    """The resource's name; empty for a rule about the whole stack."""
    type: str
    urn: str
    message: str

    @classmethod
    def of(cls, event: PolicyEvent) -> PolicyViolation:
        """Read an event. Raises ValueError for an URN that is none."""
        urn = event.resource_urn or ""
        # urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME
        types, name = urn.split("::", 3)[2:] if urn else ("", "")
        return cls(
            event.policy_name, event.enforcement_level, name, types.rpartition("$")[2], urn, plain(event.message)
        )


@dataclass
class Diagnostics:
    """Errors, warnings and policy violations of one engine command, each once. `on_event` takes every event."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    violations: list[PolicyViolation] = field(default_factory=list)

    def on_event(self, event: EngineEvent) -> None:
        """Keep the error, warning or violation of an event, if it has one."""
        if event.policy_event and (violation := PolicyViolation.of(event.policy_event)) not in self.violations:
            self.violations.append(violation)
        if event.diagnostic_event:
            message = plain(event.diagnostic_event.message)
            lines = {"error": self.errors, "warning": self.warnings}.get(event.diagnostic_event.severity)
            if lines is not None and message not in lines:
                lines.append(message)

    def mandatory(self) -> list[str]:
        """Return the names of the mandatory policies that are broken."""
        return sorted({violation.policy for violation in self.violations if violation.level == _MANDATORY})


@dataclass
class Steps(Diagnostics):
    """The steps of a command as well: the object that `preview --json` and `up --json` print."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    stopped: bool = False
    """Whether a step failed, so that the stack may be half made."""

    def on_event(self, event: EngineEvent) -> None:
        """Keep also the step of an event, if it changes something."""
        super().on_event(event)
        self.stopped |= event.res_op_failed_event is not None
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

    def failed(self, reason: str) -> None:
        """Note that the command failed for this reason, which is kept where no event gave one."""
        mandatory = self.mandatory()
        if mandatory and all(error.endswith(" failed") for error in self.errors):
            # The engine says no more than "preview failed".
            self.errors = [f"mandatory policies are broken: {', '.join(mandatory)}"]
        elif not self.errors:
            self.errors.append(reason)

    def unexpected(self) -> str:
        """Return the error of a preview that must have no steps; empty when it has none."""
        changes = ", ".join(f"{step['op']} {step['name']}" for step in self.steps)
        return f"no changes were expected: {changes}" if changes else ""

    def as_json(self) -> dict[str, Any]:
        """Return the object to print."""
        keys = ("policy", "level", "resource", "urn", "message")
        violations = [{key: getattr(violation, key) for key in keys} for violation in self.violations]
        return {"steps": self.steps, "violations": violations, "warnings": self.warnings, "errors": self.errors}


def plain(message: str) -> str:
    """Return a message without colours."""
    return _COLOUR.sub("", message).strip()


def without_advice(on_output: Callable[[str], object]) -> Callable[[str], None]:
    """Pass the engine's lines on, without its advice at the end of a deletion: `down` removes the stack itself."""

    def pass_on(line: str) -> None:
        if not line.startswith(_ADVICE):
            on_output(line)

    return pass_on
