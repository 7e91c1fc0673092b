"""What `sandbox status` shows, and what `sandbox up` says of an update."""

from pathlib import Path
from typing import Any, cast

import pytest

from sandbox.cli.outputs import summary
from sandbox.cli.status import show
from sandbox.cloud.spot_nodes import Bound
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


def test_bounds_of_spot_machines_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    bounds = [Bound("Standard_NC4as_T4_v3", 0), Bound("g2-standard-8", 2, "europe-west4-a", silent=True)]
    show([], [], bounds)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "spot capacity of Standard_NC4as_T4_v3: none",
        "spot capacity of g2-standard-8 in zone europe-west4-a: 2, requests beyond it are accepted and never fulfilled",
    ]


BEFORE: dict[str, Any] = {"release": "r2026-11", "pools": [{"name": "t4"}], "queueing": {}}


@pytest.mark.parametrize(
    ("counts", "before", "after", "said"),
    [
        ({"same": 25}, BEFORE, BEFORE, "nothing changed"),
        ({"same": 25}, BEFORE, BEFORE | {"queueing": {"items": []}}, "changed outputs: queueing"),
        ({"same": 25}, BEFORE, {"release": "r2026-11", "new": None}, "changed outputs: new, pools, queueing"),
        ({"update": 1, "create": 2}, BEFORE, BEFORE | {"pools": []}, "2 create, 1 update, changed outputs: pools"),
        ({"update": 1}, BEFORE, BEFORE, "1 update"),
        # All outputs of a first update are new.
        ({"create": 25}, {}, BEFORE, "25 create"),
    ],
)
def test_resources_are_counted_and_changed_outputs_are_named(
    counts: dict[str, int], before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    assert summary(counts, before, after) == said
