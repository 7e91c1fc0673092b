"""What a checkpoint saves: `python -m bench.checkpoints notice|goodput`.

notice: examples/training/train.py as a real process, told to end and killed some seconds later, by the time that a save takes.
goodput: draws docs/goodput.svg, and prints the best interval between two checkpoints, by how often spot machines are lost.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from bench import pictures
from drill.world.measurements import measurements
from sandbox.base.home import PROJECT

EVERY = 20
"""Steps between two checkpoints of the training that is ended."""
NOTICES = (1.0, 10.0, 15.0, 30.0)
"""Seconds from SIGTERM to SIGKILL: Azure often gives less than ten, GKE gives pods 15, and both clouds promise 30."""
SAVES = (0.1, 5.0, 12.0, 20.0, 40.0)
"""Seconds that a save takes."""
_STEP = 0.02
# The program itself, with saves as slow as those of a large model, and a line for each step.
_SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
import train
seconds, advanced, write = float(sys.argv[2]), train.advanced, train.Folder.write
def counted(settings, state):
    state = advanced(settings, state)
    print("did", state.step, flush=True)
    return state
def slowly(self, name, content):
    time.sleep(seconds)
    write(self, name, content)
train.advanced, train.Folder.write = counted, slowly
sys.exit(train.main(sys.argv[3:]))
"""


@dataclass(frozen=True)
class Lost:
    """A training that was ended: its steps when it ended, and those of its newest checkpoint."""

    done: int
    saved: int
    status: int
    """The exit status; -9 after SIGKILL."""

    @property
    def steps(self) -> int:
        """Steps that the next process does again."""
        return self.done - self.saved


def lost(folder: Path, save: float, notice: float) -> Lost:
    """Run the training, end it in the middle of its second interval, and kill it after the notice in seconds."""
    program = PROJECT / "examples" / "training"
    numbers = ["--steps", "100000", "--checkpoint-every", str(EVERY), "--seconds-per-step", str(_STEP)]
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW, str(program), str(save), "--checkpoints", str(folder), *numbers],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        done = 0
        for line in process.stdout:
            done = int(line.split()[1]) if line.startswith("did ") else done
            if done == EVERY + EVERY // 2:
                break
        process.terminate()
        try:
            rest, _ = process.communicate(timeout=notice)
        except subprocess.TimeoutExpired:
            process.kill()
            rest, _ = process.communicate()
        done = max([done, *(int(line.split()[1]) for line in rest.splitlines() if line.startswith("did "))])
    names = [path.stem.removeprefix("step-") for path in folder.glob("step-*.json")]
    return Lost(done, max((int(name) for name in names), default=0), process.returncode)


def notice() -> None:
    """Print the steps that are lost, by the time of a save and the notice."""
    cases = list(product(SAVES, NOTICES))
    with TemporaryDirectory() as folder, ThreadPoolExecutor(len(cases)) as pool:
        found = list(pool.map(lambda case: lost(Path(folder) / f"{case[0]}-{case[1]}", *case), cases))
    by_case = dict(zip(cases, found, strict=True))
    print(f"| a save takes | {' | '.join(f'{each:.0f} s of notice' for each in NOTICES)} |")
    print(f"|---|{'---|' * len(NOTICES)}")
    for save in SAVES:
        steps = [by_case[save, each].steps for each in NOTICES]
        cells = [f"{each} of {EVERY} steps" if each else "none" for each in steps]
        print(f"| {save:g} s | {' | '.join(cells)} |")


INTERVALS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120)
"""Minutes between two checkpoints."""
TAKES = (5.0, 30.0, 120.0)
"""Seconds that a save takes, for the table; the picture has 30."""
RESTART = 300.0
"""Seconds from a machine's order until the training goes on from its checkpoint. Assumed."""
GROUPS = ((1.5, 4.0), (4.0, 8.0), (8.0, 21.0))
"""Losses a day: between the least and the most of each group of measured rows."""
_SPELLS = 4000


def spells(least: float, most: float) -> list[float]:
    """Draw the seconds of spells of spot, by the measured rows with so many losses a day."""
    rows = [row for row in measurements() if least <= row.total_losses < most]
    draws = Random(f"{least} {most}")
    return [60 * rows[place % len(rows)].spells.at(draws.random()) for place in range(_SPELLS)]


def losses_a_day(least: float, most: float) -> float:
    """Return the mean losses a day of a group."""
    return mean(row.total_losses for row in measurements() if least <= row.total_losses < most)


def goodput(lengths: Sequence[float], interval: float, save: float, *, saved_on_notice: bool) -> float:
    """Return the share of a spot machine's time that is work which counts. Times are seconds.

    Each spell begins with a restart; then work for an interval and a save follow each other. At its end the work since the last
    checkpoint is lost, unless a last save fits into the notice.
    """
    useful = 0.0
    for length in lengths:
        left = length - RESTART - (save if saved_on_notice else 0.0)
        if left > 0:
            cycles, rest = divmod(left, interval + save)
            useful += cycles * interval + (min(rest, interval) if saved_on_notice else 0.0)
    return useful / sum(lengths)


def best(lengths: Sequence[float], save: float, *, saved_on_notice: bool) -> tuple[int, float]:
    """Return the best interval in minutes, and its goodput."""
    found = {each: goodput(lengths, 60.0 * each, save, saved_on_notice=saved_on_notice) for each in INTERVALS}
    minutes = max(found, key=lambda each: found[each])
    return minutes, found[minutes]


_NO_SAVE = "no save fits: back to the last checkpoint"


def spec() -> dict[str, Any]:
    """Return the panels: the goodput by interval, a line for each group of losses, with and without a save on notice."""
    rows: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    names: list[str] = []
    for group in GROUPS:
        lengths, name = spells(*group), f"{losses_a_day(*group):.0f} losses a day"
        names.append(name)
        for fits, panel in ((True, "a save fits into the notice"), (False, _NO_SAVE)):
            shares = [100 * goodput(lengths, 60.0 * each, 30.0, saved_on_notice=fits) for each in INTERVALS]
            own = {"losses": name, "panel": panel}
            values = [{"minutes": m, "goodput": g, **own} for m, g in zip(INTERVALS, shares, strict=True)]
            rows += values
            dots.append(max(values, key=lambda row: row["goodput"]))
    x = {
        "field": "minutes",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, 120], "nice": False},
        "axis": {"title": "minutes between two checkpoints", "values": [1, 2, 5, 10, 20, 30, 60, 120]},
    }
    y = {
        "field": "goodput",
        "type": "quantitative",
        "scale": {"zero": False},
        "title": "work that counts, % of the time on spot",
    }
    colour = {
        "field": "losses",
        "sort": names,
        "scale": {"domain": names, "range": list(pictures.COLOURS[:2] + pictures.COLOURS[3:])},
        "title": "a machine has",
    }
    layers = [
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": colour}},
        {
            "transform": [{"filter": {"field": "best", "equal": True}}],
            "mark": {"type": "point", "filled": True, "size": 90},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]
    header = pictures.PANEL
    return {
        "data": {"values": [{**row, "best": row in dots} for row in rows]},
        "facet": {"column": {"field": "panel", "title": None, "sort": "descending", "header": header}},
        "spec": {"width": 330, "height": 240, "layer": layers},
    }


def draw() -> None:
    """Draw the picture, and print the best intervals."""
    words = [
        f"A save stops the work for 30 s, and a new machine works after {RESTART / 60:.0f} min. Spells of spot are as long as",
        "measured on AWS; nobody published the like for Azure.",
    ]
    pictures.write("goodput.svg", "How often to save: the dots are best", words, spec())
    print("| losses a day | a save takes | a save fits into the notice | no save fits |")
    print("|---|---|---|---|")
    for group, save in product(GROUPS, TAKES):
        lengths = spells(*group)
        cells = [best(lengths, save, saved_on_notice=fits) for fits in (True, False)]
        shown = " | ".join(f"every {minutes} min: {share:.0%}" for minutes, share in cells)
        print(f"| {losses_a_day(*group):.0f} | {save:.0f} s | {shown} |")


if __name__ == "__main__":
    began = time.monotonic()
    {"notice": notice, "goodput": draw}[sys.argv[1]]()
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
