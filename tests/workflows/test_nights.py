"""examples/nights: a workflow that a user copies beside those of the project."""

import re
import shutil
from pathlib import Path

import pytest

from tests.workflows.files import FOLDER, PROJECT, jobs, read, workflow
from tests.workflows.test_rules import actionlint, checkout, zizmor

__all__ = ["checkout"]

NIGHTS = PROJECT / "examples" / "nights" / "nights.yml"


@pytest.mark.process
@pytest.mark.tools
def test_the_linters_find_nothing(checkout: Path) -> None:
    shutil.copy(NIGHTS, checkout / ".github" / "workflows")
    done = actionlint(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = zizmor(checkout)
    assert done.returncode == 0, done.stdout


def test_its_actions_are_those_of_the_project() -> None:
    ours = "".join(path.read_text() for path in FOLDER.rglob("*.yml"))
    used = re.findall(r"uses: (\S+@\S+ # \S+)", NIGHTS.read_text())
    assert len(used) == 2
    assert [action for action in used if action not in ours] == []


def test_it_waits_for_an_update_of_the_stack_and_has_its_environment() -> None:
    (job,) = jobs(NIGHTS).values()
    (up,) = jobs(FOLDER / "workflows" / "up.yml").values()
    assert job["concurrency"]["group"] == up["concurrency"]["group"].replace("${{ inputs.stack }}", job["environment"])


def test_it_stops_at_one_of_its_times_and_starts_before_the_look_for_drift() -> None:
    start, stop = [entry["cron"] for entry in read(NIGHTS)[True]["schedule"]]  # type: ignore[index]
    (job,) = jobs(NIGHTS).values()
    assert f"'{stop}'" in job["env"]["EVENING"]
    (drift,) = [entry["cron"] for entry in workflow("drift")[True]["schedule"]]  # type: ignore[index]
    minutes = [int(hour) * 60 + int(minute) for minute, hour in (cron.split()[:2] for cron in (start, drift))]
    assert minutes[0] + 30 <= minutes[1]
