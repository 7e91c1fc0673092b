"""The scratch folder in which stacks come up for one comparison. It is removed however the comparison ends."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import psutil
from filelock import FileLock, Timeout

from sandbox.base.errors import SandboxError
from sandbox.base.notices import Notify
from sandbox.base.tokens import without_tokens
from sandbox.cluster import clusters
from sandbox.engine.environment import Environment
from sandbox.engine.worker import Outcome
from sandbox.toolchain import programs

# No stack's name has a plus, so these are no stacks' folders.
PREVIEW, DRILL = "preview+", "drill+"
_SECONDS = 2
"""Patience with the processes of a command. Nothing is kept of it, and an API server that lost its store takes twenty to end."""


class Scratch:
    """Runs engine commands on stacks whose state is below one folder. Use `opened`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ended = False
        self._lock = threading.Lock()

    def build(self, notify: Notify) -> None:
        """Build the programs that are missing. Raises SandboxError."""
        programs.ensure(["pulumi", *clusters.PROGRAMS], notify)

    def run(
        self,
        command: str,
        stack: str,
        project: Path,
        environment: Environment,
        notify: Notify,
        cloud: Path | None,
        config_file: Path | None = None,
    ) -> Outcome:
        """Run `up` or `preview` on a stack with the program in a folder; `notify` gets the sandbox's progress.

        The program gets no tokens: it is another revision's, or a stranger's.

        Raises SandboxError when the program cannot be run at all.
        """
        arguments = [environment.python, "-m", "sandbox.engine.worker", command, stack, str(project)]
        arguments += ["--cloud", str(cloud)] if cloud else []
        arguments += ["--config-file", str(config_file)] if config_file else []
        # Python imports first from the folder it starts in, so that folder is empty.
        start = self.folder / "nothing"
        start.mkdir(exist_ok=True)
        with self._lock:
            if self._ended:
                raise SandboxError("interrupted")
            process = subprocess.Popen(
                arguments,
                cwd=start,
                env={**without_tokens(os.environ), **environment.variables, "SANDBOX_HOME": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        lines: list[str] = []

        def listen() -> None:
            assert process.stderr
            for line in process.stderr:
                lines.append(line.rstrip())
                notify(lines[-1])

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        assert process.stdout
        printed = process.stdout.read()
        process.wait()
        listener.join()
        if process.returncode:
            raise SandboxError("\n".join(lines[-20:]) or f"the engine's process ended with {process.returncode}")
        return Outcome(**json.loads(printed))

    def stop(self) -> None:
        """End the running commands; no other begins."""
        with self._lock:
            self._ended = True
        # By their environment: also those of a comparison that was killed.
        for process in psutil.process_iter():
            if _home(process) == str(self.folder):
                _end(process)

    def remove(self) -> None:
        """Stop, end the control planes, and remove the folder."""
        self.stop()
        for planes in self.folder.glob("*/clusters"):
            for plane in clusters.planes(planes):
                clusters.remove(plane.directory)
        shutil.rmtree(self.folder)


@contextmanager
def opened(root: Path, notify: Notify, prefix: str = PREVIEW) -> Iterator[Scratch]:
    """Yield a new scratch folder below a sandbox's root. The folder of a killed comparison, or of another command of
    this prefix, is removed first.

    An interrupt or SIGTERM ends the commands and removes the folder.
    """
    root.mkdir(parents=True, exist_ok=True)
    remove_left(root, notify, prefix)
    folder = root / f"{prefix}{secrets.token_hex(4)}"
    with FileLock(folder.with_suffix(".lock")), _terminated_as_interrupted():
        folder.mkdir(mode=0o700)
        scratch = Scratch(folder)
        try:
            yield scratch
        finally:
            scratch.remove()
            folder.with_suffix(".lock").unlink(missing_ok=True)


def remove_left(root: Path, notify: Notify, *prefixes: str) -> None:
    """Remove the folders of killed commands of these prefixes below a sandbox's root, and end their processes."""
    for lock in _locks(root, prefixes):
        with _ended(lock) as ended:
            if not ended:
                continue
            folder = lock.with_suffix("")
            if folder.exists():
                notify(f"removing the folder of a command that was killed: {folder}")
                Scratch(folder).remove()
            lock.unlink(missing_ok=True)


def left(root: Path, *prefixes: str) -> list[Path]:
    """Return the folders of killed commands of these prefixes below a sandbox's root."""
    found = []
    for lock in _locks(root, prefixes):
        with _ended(lock) as ended:
            if ended and lock.with_suffix("").exists():
                found.append(lock.with_suffix(""))
    return found


def _locks(root: Path, prefixes: Iterable[str]) -> list[Path]:
    return [lock for prefix in prefixes for lock in sorted(root.glob(f"{prefix}*.lock"))]


@contextmanager
def _ended(lock: Path) -> Iterator[bool]:
    """Yield whether the command that held a lock has ended; then the lock is held meanwhile."""
    held = FileLock(lock, timeout=0)
    try:
        held.acquire()
    except Timeout:
        # Another command is at work.
        yield False
        return
    try:
        yield True
    finally:
        held.release()


def _home(process: psutil.Process) -> str | None:
    try:
        # Cheaper than the environment of every process.
        return process.environ().get("SANDBOX_HOME") if "sandbox.engine.worker" in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _end(process: psutil.Process) -> None:
    """End a process and its children, the engine above all."""
    try:
        family = [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.terminate()
    _, alive = psutil.wait_procs(family, timeout=_SECONDS)
    for member in alive:
        with suppress(psutil.NoSuchProcess):
            member.kill()


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM, which a cancelled job gets, like an interrupt at the keyboard."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
