"""Known names near to a written one, for remedies."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def question(written: str, known: Iterable[str], most: int = 3) -> str:
    """`did you mean a or b? `, the nearest first, with a space behind it; empty where no name is near. Case does not count."""
    spelled = {name.lower(): name for name in known}
    # 0.8 takes one wrong letter in five; at difflib's own 0.6 half of a catalogue is near.
    close = [spelled[name] for name in difflib.get_close_matches(written.strip().lower(), spelled, n=most, cutoff=0.8)]
    *first, last = close or [""]
    return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}? " if close else ""
