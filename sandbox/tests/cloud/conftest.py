"""Both emulated clouds."""

from pathlib import Path

import pytest

from sandbox.tests.engine_side import no_waiting_for_the_disk
from sandbox.tests.spot_bed import Bed, on_azure, on_gcp

__all__ = ["no_waiting_for_the_disk"]


@pytest.fixture(params=[on_azure, on_gcp], ids=["azure", "gcp"])
def bed(request: pytest.FixtureRequest, tmp_path: Path) -> Bed:
    made: Bed = request.param(tmp_path)
    return made
