"""The log's lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.autoscaler.journal import Journal, decisions, pods


def test_the_last_decisions_are_found_among_other_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    for number in range(4):
        journal.write(f"pool t4: {number} -> {number + 1} nodes")
        journal.write("node one: nvidia.com/gpu 1")
    log = tmp_path / "log"
    log.write_text("x" * (1 << 17) + "\n" + capsys.readouterr().out + "Traceback\n  pool: no\n")
    assert [line.partition("  ")[2] for line in decisions(log, 2)] == ["pool t4: 2 -> 3 nodes", "pool t4: 3 -> 4 nodes"]
    assert decisions(tmp_path / "none", 2) == []


def test_a_lasting_state_is_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal()
    for text in ("down", "down", "", "down", "broken"):
        journal.state("api", text)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("  ")[2] for line in lines] == ["down", "down", "broken"]


def test_pods_are_named_as_far_as_a_line_goes() -> None:
    assert pods(["a"]) == "1 pod (a)"
    assert pods(["a", "b"]) == "2 pods (a, b)"
    assert pods(["a", "b", "c", "d"]) == "4 pods (a, b and 2 more)"
