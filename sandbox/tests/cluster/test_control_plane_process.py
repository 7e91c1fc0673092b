"""Versions of a control plane, and the record of its processes."""

import json
import signal
import sys
from pathlib import Path

import pytest

from sandbox.base.errors import SandboxError
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.cluster.control_plane.start import emulated_version
from sandbox.tests.stack import until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.mark.parametrize(
    ("wanted", "emulated"), [("1.36", None), ("1.36.9", None), ("1.35.3", "1.35"), ("1.33", "1.33")]
)
def test_versions_within_reach_are_emulated(wanted: str, emulated: str | None) -> None:
    assert emulated_version(wanted, "1.36.2") == emulated


@pytest.mark.parametrize("wanted", ["1.37", "1.32"])
def test_other_versions_are_refused_with_the_supported_ones(wanted: str) -> None:
    with pytest.raises(SandboxError, match=r"1\.33 to 1\.36"):
        emulated_version(wanted, "1.36.2")


@pytest.mark.process
def test_a_reused_pid_is_never_signalled(tmp_path: Path) -> None:
    """A record with another start time or command line is not the process of that pid."""
    process = Process("sleeper", tmp_path)
    process.launch(SLEEP, [], {})
    try:
        record = json.loads(process.record.read_text())
        for change in ({"created": record["created"] - 3600}, {"command": ["other"]}):
            process.write(record | change)
            assert process.find() is None
            stop_all([process])
            assert process.exit_code() is None, "somebody else's process was stopped"
        process.write(record | {"pid": None})  # A start that was killed between launch and record.
        assert process.find()
    finally:
        assert process.child
        process.child.kill()
        process.child.wait()


@pytest.mark.process
def test_a_process_deaf_to_sigterm_is_killed(tmp_path: Path) -> None:
    process = Process("deaf", tmp_path)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    process.launch([sys.executable, "-c", code], [], {})
    assert until(lambda: "deaf" in process.log_tail())
    stop_all([process], grace=0.3)
    assert process.find() is None
    assert process.exit_code() == -signal.SIGKILL
