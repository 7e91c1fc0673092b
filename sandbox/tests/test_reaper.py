"""Processes of a killed test run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.tests.reaper import running
from sandbox.tests.stack import PROJECT, until

pytestmark = pytest.mark.process

RUN = """
import os, subprocess, sys, time
from pathlib import Path
from sandbox.tests import reaper

folder = Path(sys.argv[1])
os.environ[reaper.VARIABLE] = "a run"
reaper.start("a run", folder)
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
# As the sandbox starts its programs: in a session of their own, and with no variable of ours.
below = subprocess.Popen([*sleep, str(folder / "cluster")], env={}, start_new_session=True)
marked = subprocess.Popen(sleep, start_new_session=True)
beside = subprocess.Popen([*sleep, str(folder) + "-2/cluster"], env={}, start_new_session=True)
print(below.pid, marked.pid, beside.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_only_the_processes_of_a_run_end_with_it(tmp_path: Path, end: signal.Signals) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
        assert run.stdout
        below, marked, beside = map(int, run.stdout.readline().split())
        run.send_signal(end)
    try:
        assert until(lambda: not running(below) and not running(marked))
        assert running(beside)
    finally:
        os.kill(beside, signal.SIGKILL)
