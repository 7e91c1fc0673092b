"""Traces of spot capacity in the published shape.

`{"metadata": {"gap_seconds": N}, "data": [available instances, ...]}`, as in
github.com/skypilot-org/spot-traces: a file for one machine in one zone, a number every N seconds.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from drill.world.capacity import ALL
from drill.world.record import Step
from sandbox.base.errors import SandboxError

MOST_BYTES = 16 << 20
"""The largest published file has 0.2 MB."""
MOST_SECONDS = 366 * 24 * 3600
MOST_NODES = 100_000

_SHAPE = '{"metadata": {"gap_seconds": 300}, "data": [4, 4, 0]}'


def read_trace(path: Path, machine: str, zone: str = ALL) -> list[Step]:
    """Read the changes of capacity in a trace, from second 0; the last number lasts.

    The file does not say its machine and zone. Raises SandboxError for a file that cannot be read,
    is too large, or has another shape.
    """
    gap, data = _content(path)
    changed = [place for place, nodes in enumerate(data) if not place or nodes != data[place - 1]]
    return [Step(place * gap, machine, zone, data[place]) for place in changed]


def _content(path: Path) -> tuple[float, list[int]]:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as missing:
        # A name with a zero byte gives a ValueError.
        why = getattr(missing, "strerror", None) or missing
        raise SandboxError(f"the trace {path} cannot be read: {why}") from None
    if len(raw) > MOST_BYTES:
        raise SandboxError(
            f"the trace {path} is larger than {MOST_BYTES >> 20} MiB;"
            " cut it, or write a larger gap_seconds"
        )
    try:
        content = json.loads(raw.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as broken:
        raise SandboxError(f"the trace {path} is not JSON: {_short(broken)}") from None
    if problems := _problems(content):
        head = f"the trace {path} is not of the published shape, {_SHAPE}:"
        raise SandboxError("\n  ".join([head, *problems]))
    return content["metadata"]["gap_seconds"], content["data"]


def _problems(content: Any) -> list[str]:
    if not isinstance(content, dict):
        return ["it is no object"]
    problems = []
    metadata = content.get("metadata")
    gap = metadata.get("gap_seconds") if isinstance(metadata, dict) else None
    if gap is None:
        problems.append("metadata.gap_seconds is missing: write the seconds between two numbers")
    elif not _is_number(gap) or not 1 <= gap <= MOST_SECONDS:
        problems.append(
            f"metadata.gap_seconds is {_short(gap)}: write seconds from 1 to {MOST_SECONDS}"
        )
    data = content.get("data")
    if not isinstance(data, list) or not data:
        return [*problems, "data is missing or empty: write the numbers of available instances"]
    wrong = [place for place, nodes in enumerate(data) if not _is_count(nodes)]
    problems += [
        f"data[{place}] is {_short(data[place])}: write a whole number from 0 to {MOST_NODES}"
        for place in wrong[:10]
    ]
    if len(wrong) > 10:
        problems.append(f"and {len(wrong) - 10} more numbers")
    if not problems and gap is not None and gap * len(data) > MOST_SECONDS:
        numbers = f"data has {len(data)} numbers, {gap:g} s apart"
        problems.append(f"{numbers}: a trace lasts at most {MOST_SECONDS} s")
    return problems


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= MOST_NODES


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _short(value: object) -> str:
    text = str(value) if isinstance(value, Exception) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
