"""Stacks that an earlier commit brought up (`tests/recorded`): the program declares the same today, so a preview is empty.

The engine reads every resource again, from the emulated cloud and from a real API server, as `up` does, and compares it with what
the program declares. A logical name or an input that changed shows as a step. Where a change is meant, record again, in a checkout
of the commit before it: `python -m tests.recorded.record COMMIT`.
"""

from pathlib import Path

import pytest

from sandbox.cluster.control_plane import ControlPlane
from tests.recorded.record import STACKS, restored

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_that_an_earlier_commit_brought_up_does_not_change(
    name: str, tmp_path: Path, api_server: ControlPlane
) -> None:
    with restored(name, tmp_path, api_server) as stack:
        assert stack.steps() == []
