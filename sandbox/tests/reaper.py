"""Reaper of the processes that a test run leaves behind, however the run ended: `python -m sandbox.tests.reaper MARK FOLDER`.

It waits for the end of its standard input, which comes when the process at the other end dies, even by SIGKILL. Then it kills
every process that has MARK in its environment or FOLDER in its command line: the sandbox's own processes have a bare
environment, and a path below the folder in their command.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

VARIABLE = "KUBEFLOW_SPOT_TEST_RUN"
_ROUNDS = 50


def start(mark: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a reaper for processes that this process, marked in its environment, starts from now on."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return subprocess.Popen(
        [sys.executable, "-m", "sandbox.tests.reaper", mark, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        cwd=Path(__file__).parents[2],
        # Ctrl-C is for the tests.
        start_new_session=True,
    )


def left(mark: str, folder: str) -> list[psutil.Process]:
    """Return the running processes of a run."""
    processes = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        try:
            # Whole names of folders: the run in /x/run does not end the one in /x/run-2.
            named = any(f"{folder}/" in f"{part}/" for part in process.cmdline())
            if (named or process.environ().get(VARIABLE) == mark) and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
        except psutil.Error:
            # The process has ended, or belongs to another user.
            continue
    return processes


def running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    # One read only: a process can end between two.
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def main(mark: str, folder: str) -> None:
    sys.stdin.buffer.read()
    for _ in range(_ROUNDS):
        # A killed process may just have started another one.
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
