"""The copy of a stack's emulated cloud."""

from __future__ import annotations

from pathlib import Path

from drill.play.source import Captured, open_cloud
from sandbox.cloud.spot_nodes import Bound
from sandbox.tests.spot_bed import on_azure


def test_the_copy_has_the_machines_that_the_live_stack_was_denied(tmp_path: Path) -> None:
    bed = on_azure(tmp_path)
    bed.cloud.set_capacity(Bound(bed.machine, 0))
    bed.refused(1)
    copy = open_cloud("azure", tmp_path, Captured())
    assert copy.capacities() == []
    copy.grow(bed.id(), 1)
