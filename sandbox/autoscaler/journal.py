"""The loops' log: one line for each decision, for people to read."""

import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

_DECISION = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  pool ")
_TAIL = 64 << 10  # bytes


class Journal:
    """Writes lines to the process's log, and a lasting state only when it changes."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    def write(self, text: str) -> None:
        now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        # In one piece: the loops write side by side.
        sys.stdout.write(f"{now}  {text}\n")
        sys.stdout.flush()

    def state(self, subject: str, text: str) -> None:
        """Write the state of a subject when it has changed; empty for a good state."""
        if text and self._states.get(subject, "") != text:
            self.write(text)
        self._states[subject] = text


def pods(names: Sequence[str]) -> str:
    """Return `3 pods (default/a, default/b and 1 more)`."""
    shown = ", ".join(names[:2])
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{len(names)} {'pod' if len(names) == 1 else 'pods'} ({shown}{more})"


def decisions(log: Path, count: int) -> list[str]:
    """Return the last decisions in a log; none without a log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [line for line in lines if _DECISION.match(line)][-count:]
