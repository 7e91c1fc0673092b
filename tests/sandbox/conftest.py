"""Fixtures of several tests of the sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache and nothing on PATH but the system's basics."""
    for name in ("KUBEBUILDER_ASSETS", "GOFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "path").mkdir()
    for tool in ("sh", "mkdir", "cat", "touch", "sleep"):
        (tmp_path / "path" / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path
