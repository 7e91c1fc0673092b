"""What a disk that is full leaves of a report."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from drill import report
from tests.drill import records


def test_a_full_disk_leaves_the_earlier_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.json").write_text("earlier")
    monkeypatch.setattr("drill.report.files._files", lambda _: {"report.json": b"new", "report.html": b"new"})
    calls = iter([None, OSError(errno.ENOSPC, "No space left on device")])

    def full(_: int) -> None:
        if error := next(calls):
            raise error

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        report.write(report.build(records.empty()), tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.json", "earlier")]
