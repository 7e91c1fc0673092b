"""The folders of killed commands."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from sandbox.cli.commands import main
from sandbox.engine.scratch import DRILL, PREVIEW, left, remove_left


def killed(root: Path, name: str) -> Path:
    """Make what a killed command leaves; return its folder."""
    folder = root / name
    folder.mkdir(parents=True)
    folder.with_suffix(".lock").touch()
    # Of the drill itself; it is no folder's.
    (root / "drill+running.lock.file").touch()
    return folder


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_the_folders_of_killed_commands_are_found_and_removed(tmp_path: Path) -> None:
    folder, other = killed(tmp_path, "drill+1"), killed(tmp_path, "preview+2")
    assert left(tmp_path, PREVIEW, DRILL) == [other, folder]
    said: list[str] = []
    remove_left(tmp_path, said.append, DRILL)
    assert said == [f"removing the folder of a command that was killed: {folder}"]
    assert names(tmp_path) == ["drill+running.lock.file", "preview+2", "preview+2.lock"]


def test_those_of_a_command_at_work_stay(tmp_path: Path) -> None:
    folder = killed(tmp_path, "drill+1")
    with FileLock(folder.with_suffix(".lock")):
        assert left(tmp_path, DRILL) == []
        remove_left(tmp_path, lambda line: None, DRILL)
    assert folder.exists()


def test_down_removes_them_and_status_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    folder = killed(tmp_path, "drill+1")
    assert f"has left {folder}: " in CliRunner().invoke(main, ["status"]).stderr
    assert CliRunner().invoke(main, ["down"]).exit_code == 0
    assert names(tmp_path) == ["drill+running.lock.file"]
