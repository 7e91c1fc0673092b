"""The stack files of tests/configs: each happy one is good, each error one is bad for its one reason and no other."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from config.base.problems import Problem
from config.stack_file import loader

CONFIGS = Path(__file__).parents[1] / "configs"
HAPPY = sorted(CONFIGS.glob("*.happy.yaml"))
ERROR = sorted(CONFIGS.glob("*.error.*.yaml"))
TEN = "ten-mistakes"


def settings(path: Path) -> dict[str, Any]:
    """The settings that the program gets of a stack file."""
    config: dict[str, Any] = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["config"]
    return {key.removeprefix("kubeflow-spot:"): value for key, value in config.items()}


def expectations(path: Path, word: str) -> list[tuple[str, str]]:
    """Path and start of the message of each `# word: PATH: MESSAGE` line, sorted."""
    return sorted(re.findall(rf"^# {word}: (\S+): (.+)$", path.read_text(), re.MULTILINE))


def shortened(problems: list[Problem], wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The problems as the file lists them: as much of each message as it has."""
    starts = dict(wanted)
    return [(p.path, p.what[: len(starts.get(p.path, p.what))]) for p in problems]


@pytest.mark.parametrize("path", [*HAPPY, *ERROR], ids=lambda path: path.name)
def test_a_file_has_exactly_the_problems_it_names(path: Path) -> None:
    spec, problems = loader.read(settings(path))
    errors, warnings = expectations(path, "expect"), expectations(path, "warns")
    assert shortened([p for p in problems if not p.warning], errors) == errors
    assert shortened([p for p in problems if p.warning], warnings) == warnings
    assert bool(errors) == (spec is None) == (path in ERROR)


def test_an_error_file_is_near_a_happy_one_and_has_one_reason() -> None:
    for path in ERROR:
        if not path.name.startswith(TEN):
            happy = path.with_name(f"{path.name.partition('.')[0]}.happy.yaml")
            changes = difflib.ndiff(body(happy), body(path))
            assert 1 <= sum(line.startswith(("-", "+")) for line in changes) <= 4, path.name
            assert len(expectations(path, "expect")) == 1, path.name


def body(path: Path) -> list[str]:
    """A stack file without its comments."""
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_a_file_with_ten_mistakes_reports_all_ten() -> None:
    paths = [path for path in ERROR if path.name.startswith(TEN)]
    assert [len(expectations(path, "expect")) for path in paths] == [10, 10]


def test_there_are_many_of_both() -> None:
    google = [[path for path in paths if path.name.startswith("gke-")] for paths in (HAPPY, ERROR)]
    assert len(HAPPY) - len(google[0]) >= 20
    assert len(ERROR) - len(google[1]) >= 60
    assert len(google[0]) >= 15
    assert len(google[1]) >= 60
    unused = [path.name for path in CONFIGS.iterdir() if path not in {*HAPPY, *ERROR}]
    assert unused == ["existing.cloud.yaml"]
