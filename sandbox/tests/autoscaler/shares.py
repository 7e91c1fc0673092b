"""The share of seeds whose replay is like its recording: `python -m sandbox.tests.autoscaler.shares` prints them.

A seed draws what the recorded program draws: where its loop is in its interval when the first pod comes, which of equal pods are
left, and one of equal groups.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import replay

FOLDER = Path(__file__).parent / "recordings"
SEEDS = range(20)

UNLIKE = {
    "priority-class-below-cutoff": (
        "placement",
        "the real scheduler tried a pod of priority -11 first, which the later pod of priority -10 displaced",
    ),
}
"""Recordings of which something else than the autoscaler's decisions is not replayed, and why."""

GROUPS = "one of two equal groups is drawn"
PHASE = "where the loop is in its interval when a pod comes decides what a scan sees"
EXPECTED: dict[str, tuple[float, str]] = {
    "configmap-catch-all-higher-number": (0.3, GROUPS),
    "no-priority-configmap": (0.3, GROUPS),
    "preferred-affinity-spot-expander-least-waste": (0.3, GROUPS),
    "preferred-affinity-spot-expander-most-pods": (0.3, GROUPS),
    "two-spot-groups-same-tier-different-size": (0.3, GROUPS),
    "two-zones-without-balancing": (0.3, GROUPS),
    "gpu-pods-trickle-one-each-10s": (0.3, PHASE),
    "steady-arrivals-at-a-silent-pool": (0.3, PHASE),
    # Not explained: a share that chance can reach, so these two prove little.
    "second-burst-while-nodes-boot": (0.1, f"{PHASE}; open"),
    "steady-arrivals-at-a-silent-pool-of-4": (0.05, f"{PHASE}, and which of equal pods is left, again and again; open"),
}
"""The least share of the recordings in which something is drawn, and what; of all others every seed agrees."""


def recordings(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The recordings in a folder."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def share(recording: dict[str, Any], seeds: Sequence[int] = SEEDS) -> float:
    """The share of a recording."""
    return replay.share(recording, seeds, UNLIKE.get(recording["name"], ("", ""))[0])


def main() -> None:
    """Print the table."""
    print("| recording | share of seeds | expected at least | drawn |\n|---|---|---|---|")
    whole = 0
    found = recordings()
    for recording in found:
        name, agreed = recording["name"], share(recording)
        least, why = EXPECTED.get(name, (1.0, ""))
        whole += agreed == 1.0
        print(f"| {name} | {agreed:.0%} | {least:.0%} | {why} |", flush=True)
    print(f"\n{len(found)} recordings, {len(SEEDS)} seeds; every seed agrees with {whole}.")


if __name__ == "__main__":
    main()
