"""Replays: the autoscaler decides what the real program decided, in the same order and at the same times within one scan.

SANDBOX_RECORDINGS names a folder with other recordings of the same format.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from . import replay, script

_OWN = Path(__file__).parent / "recordings"
FOLDER = Path(os.environ.get("SANDBOX_RECORDINGS") or _OWN)
RECORDINGS = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
DRAWN = [recording for recording in RECORDINGS if recording.get("firstDecisionCounts")]

# Recordings of which something else than the autoscaler's decisions is not replayed, and why.
UNLIKE = {
    "priority-class-below-cutoff": (
        "placement",
        "the real scheduler tried a pod of priority -11 first, which the later pod of priority -10 displaced",
    ),
}


def names(recordings: list[Any]) -> list[str]:
    return [recording["name"] for recording in recordings]


@pytest.mark.parametrize("recording", RECORDINGS, ids=names(RECORDINGS))
def test_what_was_recorded_is_decided_again(recording: Any) -> None:
    spared = UNLIKE.get(recording["name"], ("", ""))[0]
    seed, wrong = replay.replayed(recording, spared)
    assert seed is not None, f"no draw of {replay.SEEDS} is like the recording; the closest: {wrong}"


@pytest.mark.parametrize("recording", RECORDINGS, ids=names(RECORDINGS))
def test_scans_before_the_autoscaler_wakes_can_be_left_out(recording: Any) -> None:
    spared = UNLIKE.get(recording["name"], ("", ""))[0]
    seed, wrong = replay.replayed(recording, spared, skipping=True)
    assert seed is not None, wrong


@pytest.mark.parametrize("recording", DRAWN, ids=names(DRAWN))
def test_draws_have_the_recorded_outcomes_and_no_other(recording: Any) -> None:
    assert replay.firsts(recording, range(12)) == set(recording["firstDecisionCounts"])


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_said_to_be_unlike_is_unlike(name: str) -> None:
    recording = json.loads((_OWN / f"{name}.json").read_text())
    seed, wrong = replay.replayed(recording)
    assert (seed, [text.split(":")[0] for text in wrong]) == (None, [UNLIKE[name][0]])


def test_the_same_seed_and_world_give_the_same_decisions() -> None:
    recording = json.loads((_OWN / "second-burst-while-nodes-boot.json").read_text())
    runs = [replay.run(script.read(recording), 7).decisions for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"steps": [{"t": 5.0, "what": "the volcano erupts and nodes are cordoned"}]}, "volcano"),
        ({"faults": [{"group": "all", "fault": "the clouds are pink"}]}, "pink"),
        ({"flags": ["--scan-interval=5s", "--no-such-flag=1"]}, "--no-such-flag"),
    ],
)
def test_a_recording_that_is_not_understood_is_not_replayed_in_silence(change: Any, missing: str) -> None:
    recording = json.loads((_OWN / "cpu-pods-alone.json").read_text())
    seed, wrong = replay.replayed(recording | change)
    assert seed is None
    assert missing in wrong[0]
