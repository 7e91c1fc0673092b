"""The runbooks of docs/runbooks.md as data: each alert's commands, their recorded answers, and its table of causes.

A line of a block that begins with `#` is a part of an answer, `...` in it is any text. A row's sign is in the code spans of its
first cell, one of which the commands must answer; a row without code spans fits if no row above it does.
"""

import re
from dataclasses import dataclass
from functools import cache

from tests.docs.pages import DOCS, tables_of

PAGE = DOCS / "runbooks.md"

_SPAN = re.compile(r"`([^`\n]+)`")
_BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"(?:[A-Z_0-9]+=\S+ )*(?:kubectl|pulumi) ")


@dataclass(frozen=True)
class Cause:
    """A row of a runbook's table."""

    signs: tuple[str, ...]
    text: str
    """The other cells."""

    def fits(self, answer: str) -> bool:
        return not self.signs or any(sign.lower() in answer.lower() for sign in self.signs)


@dataclass(frozen=True)
class Runbook:
    """The section of an alert: `runbooks()["SpotGone"].commands`."""

    alert: str
    commands: tuple[str, ...]
    """Those that run in the sandbox."""
    answers: tuple[str, ...]
    causes: tuple[Cause, ...]
    text: str

    def cause_of(self, answer: str) -> int | None:
        """Return the number of the first row that fits, as a reader finds it."""
        return next((number for number, cause in enumerate(self.causes) if cause.fits(answer)), None)

    def cures(self, row: int | None) -> list[str]:
        """Return the commands that a row tells to run, or the section's text where it has no table."""
        text = self.text if row is None else self.causes[row].text
        return [span for span in _SPAN.findall(text) if _COMMAND.match(f"{span} ")]

    def missing(self, answer: str) -> list[str]:
        """Return the recorded answers that are not in this one."""
        plain = _plain(answer)
        return [line for line in self.answers if not re.search(_pattern(line), plain, re.MULTILINE)]


def _plain(answer: str) -> str:
    return "\n".join(" ".join(line.split()) for line in answer.splitlines())


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part.strip()) for part in line.split("..."))


@cache
def runbooks() -> dict[str, Runbook]:
    """Return the runbooks by their alerts."""
    sections = re.split(r"^## (\w+)$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {alert: _runbook(alert, text) for alert, text in zip(sections[::2], sections[1::2], strict=True)}


def _runbook(alert: str, section: str) -> Runbook:
    run = [block for block in _BLOCK.findall(section) if not block.startswith("# not run")]
    lines = [line for block in run for line in block.splitlines() if line.strip()]
    rows = [row for table in tables_of(section) for row in table[1:]]
    text = re.sub(r"^\|.*$", "", _BLOCK.sub("", section), flags=re.MULTILINE)
    return Runbook(
        alert,
        tuple(line for line in lines if not line.startswith("#")),
        tuple(line.removeprefix("#").strip() for line in lines if line.startswith("#")),
        tuple(Cause(tuple(_SPAN.findall(row[0])), " ".join(row[1:])) for row in rows),
        text,
    )
