"""Output of `sandbox status`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.cli.status import show
from sandbox.cluster.control_plane import ControlPlane


class Plane:
    """A control plane without processes."""

    version, processes = "1.36.4-gke.1132000", cast("dict[str, Any]", {})

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def memory(self) -> int:
        return 0


def test_the_folder_of_a_control_plane_is_on_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder = Path("clusters") / ("example-ml-staging-europe-west4-ml-staging" * 2) / "[a]"
    show([cast(ControlPlane, Plane(folder))], [])
    assert f"in {folder}\n" in capsys.readouterr().out
