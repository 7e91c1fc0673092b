"""The page on drills is true: its scenarios, keys, options and verdicts are those of the program, and its examples are read."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from drill.cli import drill
from drill.judge.verdicts import verdicts
from drill.world import scenario
from drill.world.capacity import read_trace
from tests.docs import pages
from tests.drill import records

PAGE = pages.DOCS / "drill.md"
PICTURE = pages.DOCS / "drill.svg"

OBJECTS: list[type[BaseModel]] = [
    scenario.Scenario,
    scenario.Workload,
    scenario.Fault,
    scenario.CapacityChange,
    scenario.Eviction,
    scenario.Place,
]
"""The objects of a scenario, in the order of their tables."""


def tables(first: str) -> list[list[list[str]]]:
    """Return the rows of the tables whose first heading is this, without the heading row."""
    return [rows[1:] for rows in pages.tables(PAGE) if rows[0][0] == first]


def example(language: str) -> str:
    """Return the page's block of a language that is an example file."""
    (found,) = [block.text for block in pages.blocks(PAGE) if block.language == language]
    return found


def test_the_page_names_every_scenario_once() -> None:
    (rows,) = tables("to see")
    named = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])]
    assert sorted(named) == sorted(scenario.scenario_names())
    assert f"`{scenario.DEFAULT}` (default)" in PAGE.read_text()


@pytest.mark.parametrize("number", range(len(OBJECTS)), ids=[model.__name__ for model in OBJECTS])
def test_the_page_has_every_key_of_a_scenario(number: int) -> None:
    found = tables("key")
    assert len(found) == len(OBJECTS)
    keys = [key.strip("` ") for row in found[number] for key in row[0].split(",")]
    assert keys == [field.alias for field in OBJECTS[number].model_fields.values()]


def test_the_page_names_every_option_and_verdict() -> None:
    options = {name for each in drill.params for name in each.opts if name.startswith("--")}
    text = PAGE.read_text()
    assert [name for name in sorted(options - {"--cwd"}) if name not in text] == []
    (rows,) = tables("verdict")
    assert [row[0] for row in rows] == [verdict.name for verdict in verdicts(records.spot_gone())]


def test_the_examples_of_the_page_are_read(tmp_path: Path) -> None:
    own, traced = tmp_path / "own.yaml", tmp_path / "t4.json"
    own.write_text(example("yaml"))
    traced.write_text(example("json"))
    assert scenario.load_scenario(str(own)).faults
    assert [step.nodes for step in read_trace(traced, "a machine")] == [8, 2, 0, 4, 8]


def test_the_part_of_a_scenario_on_the_page_for_users_is_read(tmp_path: Path) -> None:
    (part,) = [block.text for block in pages.blocks(pages.DOCS / "workloads.md") if block.text.startswith("notice:")]
    (tmp_path / "own.yaml").write_text(f"description: saves\nlength: 8h\n{part}")
    (work,) = scenario.load_scenario(str(tmp_path / "own.yaml")).work
    assert work.save_takes == 45


def test_the_picture_is_of_the_default_scenario_and_small() -> None:
    """Drawn by a drill: the file `timeline.svg` of its report."""
    text = PICTURE.read_text()
    assert text.startswith("<svg ")
    assert f">Drill {scenario.DEFAULT}, stack dev</text>" in text
    assert len(text) < 200_000
