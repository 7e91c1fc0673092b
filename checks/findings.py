"""Findings: what a check says, and how findings become an exit status and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any


class State(StrEnum):
    """The result of a check."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing is wrong."""
    UNSEEN = "not seen"
    """The user may not read it, or it did not answer. Nothing is guessed from that."""
    WRONG = "wrong"


class Exit(IntEnum):
    """Exit statuses of `ready` and `preflight`."""

    READY = 0
    WRONG = 1
    UNASKED = 2
    """The command could not ask at all: no kubeconfig, no credentials, no answer, a faulty stack
    file."""
    UNSEEN = 3
    """Nothing that was seen is wrong, but not everything was seen."""


class Unasked(Exception):
    """Nothing can be asked. The text is one sentence for the user."""


@dataclass(frozen=True)
class Finding:
    """One sentence about one subject."""

    check: str
    """The check's name, such as `volumes`."""
    state: State
    says: str
    remedy: str = ""
    """What to do; empty where nothing is to be done."""
    source: str = ""
    """The page or file that the rule is from."""

    def as_json(self) -> dict[str, str]:
        """Return the keys of `--json`; empty ones are left out."""
        fields = {"check": self.check, "state": self.state.value, "says": self.says}
        return fields | {key: text for key in ("remedy", "source") if (text := getattr(self, key))}


def line(text: object) -> str:
    """Return a text of several lines as one line."""
    return " ".join(str(text).split())


def exit_status(findings: Iterable[Finding]) -> Exit:
    """Return the exit status that these findings ask for."""
    states = {finding.state for finding in findings}
    if State.WRONG in states:
        return Exit.WRONG
    return Exit.UNSEEN if State.UNSEEN in states else Exit.READY


def as_json(subject: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the document of `--json`. `subject`: the cluster or the stack."""
    findings = list(findings)
    status = exit_status(findings)
    return {
        "subject": subject,
        "ready": status == Exit.READY,
        "exitStatus": int(status),
        "findings": [finding.as_json() for finding in findings],
    }
