"""The folder of a drill's report."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drill import command
from drill.command import writable
from drill.world.basis import Basis
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from tests.drill import records

EMPTY = Basis({}, {}, {}, {}, ())


def request(directory: Path) -> command.Request:
    return command.Request("spot-gone", 1, directory)


def drill(folder: Path, directory: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]) -> None:
    """Run the command with this in place of a drill."""
    monkeypatch.setattr(command, "_drill_side", run)
    home = Home("dev", folder, folder / "home")
    try:
        command.drill(home, request(directory), lambda line: None, lambda side: lambda now, length: None)
    finally:
        assert not list(folder.rglob("tmp*")), "the probe is left"


@pytest.mark.parametrize("directory", ["/proc/nothing", "file/below"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_drill(
    directory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()

    def run(*others: Any) -> None:
        pytest.fail("the drill ran")

    with pytest.raises(SandboxError, match=r"report cannot be written into .*; .*--report-dir"):
        drill(tmp_path, tmp_path / directory, monkeypatch, run)


def test_the_result_is_printed_before_a_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*others: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("drill.report.write", full)
    with pytest.raises(SandboxError, match="No space left on device"):
        drill(
            tmp_path, tmp_path / "report", monkeypatch, lambda *others: command.Drilled(records.spot_gone(), EMPTY, [])
        )
    assert "Work lost for good" in capsys.readouterr().out


def test_a_folder_made_for_a_drill_that_fails_is_removed_and_another_stays(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("old", "new"):
        with pytest.raises(KeyboardInterrupt), writable(tmp_path / name):
            raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
