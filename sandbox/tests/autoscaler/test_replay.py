"""Replays: the autoscaler decides what the real program decided, in the same order and at the same times within one scan.

SANDBOX_RECORDINGS names a folder with other recordings of the same format.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from . import replay, script
from .replay import EXPECTED, FOLDER, SEEDS, UNLIKE, recordings

RECORDINGS = recordings(Path(os.environ.get("SANDBOX_RECORDINGS") or FOLDER))
DRAWN = [recording for recording in RECORDINGS if recording.get("firstDecisionCounts")]


def names(recordings: list[Any]) -> list[str]:
    return [recording["name"] for recording in recordings]


@pytest.mark.parametrize("recording", RECORDINGS, ids=names(RECORDINGS))
def test_what_was_recorded_is_decided_again_in_the_share_of_seeds_that_draws_leave(recording: Any) -> None:
    least = EXPECTED.get(recording["name"], (1.0, ""))[0]
    agreed = replay.share(recording, SEEDS[: 20 if least < 1.0 else 8])
    assert agreed >= least, f"{agreed:.0%} of seeds; the first differs in {replay.agrees(recording, 0)}"


def test_there_are_fifty_recordings_and_few_in_which_something_is_drawn() -> None:
    own = {recording["name"] for recording in recordings()}
    assert len(own) >= 50
    assert EXPECTED.keys() <= own
    assert len(EXPECTED) <= 10


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
    recording = json.loads((FOLDER / f"{name}.json").read_text())
    seed, wrong = replay.replayed(recording)
    assert (seed, [text.split(":")[0] for text in wrong]) == (None, [UNLIKE[name][0]])


def test_the_same_seed_and_world_give_the_same_decisions() -> None:
    recording = json.loads((FOLDER / "second-burst-while-nodes-boot.json").read_text())
    runs = [replay.run(script.read(recording), 7).decisions for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"steps": [{"t": 5.0, "what": "the volcano erupts and nodes are cordoned"}]}, "volcano"),
        ({"faults": [{"group": "all", "fault": "the clouds are pink"}]}, "pink"),
        ({"steps": [{"t": 5.0, "what": "the ConfigMap now prefers the moon"}]}, "moon"),
        ({"flags": ["--scan-interval=5s", "--no-such-flag=1"]}, "--no-such-flag"),
    ],
)
def test_a_recording_that_is_not_understood_raises(change: Any, missing: str) -> None:
    recording = json.loads((FOLDER / "cpu-pods-alone.json").read_text())
    with pytest.raises(ValueError, match=f"not understood: .*{missing}"):
        script.read(recording | change)


def test_outcomes_are_never_read_from_a_recording() -> None:
    recording = json.loads((FOLDER / "evicted-job-pod-node-deleted-only.json").read_text())
    without = {**recording, "timeline": [], "decisions": [], "placement": {}, "nodesAtEnd": {}, "events": []}
    assert replay.run(script.read(without), 3).decisions == replay.run(script.read(recording), 3).decisions
