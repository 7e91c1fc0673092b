"""A long-running process of a control plane, which later commands find again."""

import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

import psutil

from sandbox.base.files import write_private

CLOCK_STEP = 2.0  # seconds a start time may seem to move when the system's clock is set
LOG_LIMIT = 20 << 20  # bytes after which the next start begins a new log


class Process:
    """A named process below a control plane's directory: its record, its log, and the process itself.

    The record has pid, start time and command line. A pid is trusted only when all three match, so a reused pid is
    never signalled. The command line names the directory, so no two control planes share one.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.log = directory / "logs" / f"{name}.log"
        self.home = directory
        self.record = directory / "processes" / f"{name}.json"
        self.child: subprocess.Popen[bytes] | None = None
        self.log_start = 0

    def find(self) -> psutil.Process | None:
        """Return the running process, or None."""
        try:
            record = json.loads(self.record.read_text())
        except (FileNotFoundError, ValueError):
            return None
        # A start killed between launch and record leaves no pid: then only the command line identifies the process.
        known = record["pid"] is not None
        for pid in [record["pid"]] if known else psutil.pids():
            try:
                process = psutil.Process(pid)
                same_time = not known or abs(process.create_time() - record["created"]) < CLOCK_STEP
                if same_time and process.cmdline() == record["command"] and process.status() != psutil.STATUS_ZOMBIE:
                    return process
            except psutil.Error:
                continue
        return None

    def up_to_date(self, command: list[str], inputs: Iterable[Path]) -> bool:
        """Return whether it runs with this command line and with files of this content."""
        if self.find() is None:
            return False
        return bool(json.loads(self.record.read_text())["fingerprint"] == fingerprint(command, inputs))

    def launch(self, command: list[str], inputs: Iterable[Path], settings: Mapping[str, str]) -> None:
        """Start it in a session of its own: it outlives the command and the terminal that started it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.record.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.old"))
        record = {"pid": None, "created": None, "command": command, "fingerprint": fingerprint(command, inputs)}
        self.write(record)
        with self.log.open("ab") as log:
            self.log_start = log.tell()
            # A bare environment: ETCD_* variables and ~/.kwok would change the process.
            environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.home), **settings}
            self.child = subprocess.Popen(
                command,
                cwd=self.home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with suppress(psutil.NoSuchProcess):  # ended at once; `exit_code` tells
            launched = psutil.Process(self.child.pid)
            # Linux shows no command line for a moment after it has loaded the program.
            while not launched.cmdline() and self.exit_code() is None:
                sleep(0.001)
            self.write(record | {"pid": launched.pid, "created": launched.create_time()})

    def write(self, record: Mapping[str, object]) -> None:
        """Replace the record."""
        write_private(self.record, json.dumps(record, indent=1).encode())

    def exit_code(self) -> int | None:
        """Return the exit code of a process that this object launched; None while it runs or when another command launched it."""
        return self.child.poll() if self.child else None

    def log_tail(self, lines: int = 15) -> str:
        """Return the last lines of the log since this object launched it."""
        try:
            text = self.log.read_bytes()[self.log_start :].decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the process for a while, if it runs."""
        with suppress(psutil.NoSuchProcess):
            if process := self.find():
                process.suspend()
        try:
            yield
        finally:
            with suppress(psutil.NoSuchProcess):
                if process := self.find():
                    process.resume()

    def memory(self) -> int:
        """Return its resident bytes, 0 when it does not run."""
        process = self.find()
        try:
            return int(process.memory_info().rss) if process else 0
        except psutil.Error:
            return 0


def fingerprint(command: list[str], inputs: Iterable[Path]) -> str:
    """Return the digest of a command line and of the files it reads at start."""
    digest = hashlib.sha256("\0".join(command).encode())
    for path in inputs:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def stop_all(processes: Iterable[Process], grace: float = 3.0) -> None:
    """End processes together and wait for them; SIGKILL after `grace` seconds.

    None loses data by it. An API server that loses its store while it starts would take twenty.
    """
    running = {process.name: alive for process in processes if (alive := process.find())}
    for order, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        for alive in running.values():
            with suppress(psutil.NoSuchProcess):
                alive.send_signal(order)  # psutil checks again that the pid was not reused
        until = monotonic() + patience
        while (running := {name: alive for name, alive in running.items() if not gone(alive)}) and monotonic() < until:
            sleep(0.05)
    for process in processes:
        if process.name not in running:
            process.record.unlink(missing_ok=True)
            process.exit_code()  # collects a child's exit status, which ends a zombie


def gone(process: psutil.Process) -> bool:
    """Return whether a process has ended; a zombie has."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
