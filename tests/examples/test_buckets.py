"""Examples that use a bucket ask for no more than a profile has: its own names and its own prefix (docs/storage.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import contracts
from tests.examples.environment import inside


@pytest.mark.slow
@pytest.mark.process
def test_the_data_of_the_long_training_are_copied_with_the_rights_of_a_profile(tmp_path: Path) -> None:
    program = Path(__file__).with_name("copies_inside.py")
    copied = inside(contracts.written(tmp_path), "team-a/", program=program)
    assert copied == {"objects": ["team-a/run-1/data/settings.json"], "refused": []}
