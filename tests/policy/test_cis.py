"""docs/cis.md against the rules, the stack file's keys, and the controls that the benchmarks have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policy.rules import RULES

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "cis.md").read_text()

CONTROLS = {
    "AKS": "2.1:1 3.1:4 3.2:9 4.1:6 4.2:5 4.4:2 4.5:2 4.6:3 5.1:4 5.2:1 5.3:1 5.4:5 5.5:2",
    "GKE": "2.1:1 2.2:2 3.1:4 3.2:9 4.1:10 4.2:1 4.3:2 4.4:2 4.5:1 4.6:4 5.1:4 5.2:2 5.3:1 5.4:1 5.5:7 5.6:7 5.7:2 5.8:3 5.9:2"
    " 5.10:5",
}
"""Chapters, and the number of controls in each: aquasecurity/kube-bench, cfg/aks-1.7 and cfg/gke-1.6.0."""

KINDS = {"rule", "program", "setting", "service", "no"}


def chapter(title: str) -> str:
    return re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:][["AKS", "GKE", "Rules of ours"].index(title)]


def rows(title: str) -> list[tuple[str, str, str]]:
    """Control, topic and answer of each row."""
    cells = [line.strip("| ").split(" | ") for line in chapter(title).splitlines() if re.match(r"\| \d", line)]
    return [(control, topic, answer) for control, topic, answer in cells]


def numbers(control: str) -> list[str]:
    """The controls of a row: one, or from the first to the last."""
    first, _, last = control.partition("-")
    chapter, _, begin = first.rpartition(".")
    return [f"{chapter}.{number}" for number in range(int(begin), int((last or first).rpartition(".")[2]) + 1)]


def rules_in(answer: str) -> set[str]:
    """The rules that an answer names."""
    parts = re.findall(r"\*\*rule\*\*((?:,? `[a-z-]+`)+)", answer)
    return {name for part in parts for name in re.findall(r"`([a-z-]+)`", part)}


@pytest.mark.parametrize("benchmark", CONTROLS)
def test_the_page_has_every_control_once_and_in_order(benchmark: str) -> None:
    wanted = [
        f"{chapter}.{number + 1}"
        for chapter, count in (entry.split(":") for entry in CONTROLS[benchmark].split())
        for number in range(int(count))
    ]
    assert [number for control, _, _ in rows(benchmark) for number in numbers(control)] == wanted


@pytest.mark.parametrize("benchmark", CONTROLS)
def test_an_answer_is_of_a_kind_and_names_what_exists(benchmark: str) -> None:
    keys = set(re.findall(r"^\| `(\w+)` \|", (PROJECT / "docs" / "stack-file.md").read_text(), re.MULTILINE))
    for control, _, answer in rows(benchmark):
        kinds = re.findall(r"\*\*(\w+)\*\*", answer)
        assert kinds, control
        assert set(kinds) <= KINDS, control
        if "rule" in kinds:
            assert rules_in(answer), control
        # Who says no says why.
        assert not answer.startswith("**no**") or re.match(r"\*\*no\*\*: .{12}", answer), control
        for path in re.findall(r"`((?:cloud|pools\[\])[\w.\[\]]*)`", answer):
            assert set(re.findall(r"\w+", path)) - {"cloud", "pools"} <= keys, path


def test_each_rule_is_in_a_table_or_is_ours() -> None:
    named = {name for benchmark in CONTROLS for *_, answer in rows(benchmark) for name in rules_in(answer)}
    ours = set(re.findall(r"`([a-z-]+)`", chapter("Rules of ours")))
    assert named | ours == {rule.name for rule in RULES}
    assert named & ours == set()
