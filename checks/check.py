"""Check: one question to a subject (a cluster, an account in a cloud), and the words of its
findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from checks.findings import Finding, State

S = TypeVar("S")


class NotSeen(Exception):
    """The user could not read a part of the subject. The text says which and why."""


class NotCompared(Exception):
    """The subject lacks what the check compares with; another check reports that."""


@dataclass(frozen=True)
class Remark:
    """A finding without the name of its check: `wrong("no zone b", "correct `zones`")` makes
    one."""

    state: State
    says: str
    remedy: str = ""


def ok(says: str) -> Remark:
    """Return a remark that something is as it should be."""
    return Remark(State.OK, says)


def note(says: str, remedy: str = "") -> Remark:
    """Return a remark worth knowing; nothing is wrong."""
    return Remark(State.NOTE, says, remedy)


def wrong(says: str, remedy: str) -> Remark:
    """Return a defect and its remedy."""
    return Remark(State.WRONG, says, remedy)


@dataclass(frozen=True)
class Check(Generic[S]):
    """One check. `judge` yields what it finds; it says `ok` itself."""

    name: str
    judge: Callable[[S], Iterable[Remark]]
    source: str = ""
    right: str = "examples/roles/ready.yaml lists the rights"
    """Where to look when the user may not read something."""

    def findings(self, subject: S) -> Iterator[Finding]:
        """Yield all findings. An unseen part ends the check and is itself a finding."""
        try:
            for remark in self.judge(subject):
                yield Finding(self.name, remark.state, remark.says, remark.remedy, self.source)
        except NotSeen as unseen:
            yield Finding(
                self.name,
                State.UNSEEN,
                str(unseen),
                f"give the user the right to read it: {self.right}",
            )
        except NotCompared as why:
            yield Finding(self.name, State.NOTE, f"not compared: {why}")


def some(names: Iterable[str]) -> str:
    """Return the first three names and the number of others."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:3])
    return f"{shown} and {len(ordered) - 3} more" if len(ordered) > 3 else shown
