"""Ends what a run of the tests has left running, however the run ended: `python -m tests.reaper MARK FOLDER`.

It waits for the end of its standard input, which comes when the process that holds the other end dies, by SIGKILL too. Then it
kills every process that has MARK in its environment or FOLDER in its command line: the sandbox's own processes are given
a bare environment, and name a path below the folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

VARIABLE = "KUBEFLOW_SPOT_TEST_RUN"
_ROUNDS = 50


def start(mark: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a reaper for what this process, marked in its environment, starts from now on."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.reaper", mark, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        cwd=Path(__file__).parents[1],
        # Ctrl-C is for the tests.
        start_new_session=True,
    )


def left(mark: str, folder: str) -> list[psutil.Process]:
    """Running processes of a run."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            named = any(folder in part for part in process.cmdline())
            if (named or process.environ().get(VARIABLE) == mark) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            # It has ended, or is another user's.
            continue
    return found


def running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has collected yet does not."""
    # One look: between two, a process can go.
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def main(mark: str, folder: str) -> None:
    sys.stdin.buffer.read()
    for _ in range(_ROUNDS):
        # A process that is killed may just have started another.
        remaining = left(mark, folder)
        if not remaining:
            return
        for process in remaining:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
