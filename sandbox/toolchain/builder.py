"""The builder of Go programs, in the background. A folder of finished programs appears complete or not at all.

Builds run one after another, because two at once would compete for cores and memory; but each begins while the build before
it links, which leaves a core idle.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import IO

from filelock import FileLock, Timeout

from sandbox.base.errors import ProgramError
from sandbox.base.notices import Notify
from sandbox.toolchain.build_errors import explain
from sandbox.toolchain.golang import Go, kill, running

WAIT_SECONDS = 10.0  # between two "still waiting" lines
REPORT_EVERY = 10.0  # seconds between two progress lines

STANDARD = (
    *("archive/zip", "database/sql", "encoding/gob", "encoding/xml", "go/doc"),
    *("html/template", "image/png", "net/http/httptest", "net/http/pprof"),
)
"""Packages of the standard library that import nearly all packages of it that the programs need."""

_PACKAGE = re.compile(r"^[A-Za-z0-9][\w.~+-]*(/[\w.~+-]+)*$")  # what `go build -v` prints for a package it compiles


@dataclass(frozen=True)
class Job:
    """One `go build`: programs by their Go packages, built from the module in `source` into the folder `target`."""

    source: Path
    packages: Mapping[str, str]
    flags: Sequence[str]
    target: Path

    @property
    def title(self) -> str:
        return ", ".join(self.packages)


@dataclass
class _Progress:
    """Counts of the Go builds. Packages that Go has in its cache are not compiled, so a warm build ends early."""

    downloads: int = 0
    compiled: set[tuple[str, str]] = field(default_factory=set)
    """Titles of jobs with the packages that they compiled."""
    packages: int = 0
    planned: int = 0
    """Jobs whose packages are counted."""

    def text(self, jobs: int) -> str:
        """Return the progress of that many jobs in words."""
        if self.planned < jobs:
            return f"{self.downloads} modules downloaded, {len(self.compiled)} packages compiled"
        return f"{len(self.compiled)} of at most {self.packages} packages compiled"


class Builder:
    """Builds jobs in the order given. Call `start`, and `stop` in any case."""

    def __init__(self, jobs: Sequence[Job], go: Go, notify: Notify) -> None:
        self._jobs, self._go, self._notify = jobs, go, notify
        self._progress = _Progress()
        self._ended: dict[Path, Future[None]] = {job.target: Future() for job in jobs}
        self._linking = {job.target: Event() for job in jobs}
        self._stopping = Event()
        self._running: set[subprocess.Popen[str]] = set()
        self._unfinished: set[Path] = set()
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Begin to build."""
        before: Event | None = None
        for job in self._jobs:
            self._begin(self._work, job, before)
            before = self._linking[job.target]
        self._begin(self._plan)
        self._begin(self._tell)

    def wait(self, target: Path) -> None:
        """Wait until the programs in a folder are built, if a job builds them. Raises ProgramError for a failed build."""
        if ended := self._ended.get(target):
            ended.result()

    def stop(self) -> None:
        """End the running builds with their compilers; a thread that waits for one gets a ProgramError."""
        self.abandon()
        for thread in self._threads:
            thread.join()

    def abandon(self) -> None:
        """Stop without waiting. Takes no lock, so that a signal's handler may call it."""
        self._stopping.set()
        for process in list(self._running):
            kill(process)

    def _begin(self, work: Callable[..., None], *arguments: object) -> None:
        self._threads.append(Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()

    def _work(self, job: Job, before: Event | None) -> None:
        ended = self._ended[job.target]
        try:
            if before:
                before.wait()
            lock = job.target.with_name(f"{job.target.name}.lock")
            with locked(lock, f"builds {job.title}", self._notify, self._stopping):
                if not job.target.is_dir():  # else the process that held the lock has built it
                    self._build(job)
            ended.set_result(None)
        except BaseException as error:
            if isinstance(error, OSError):
                error = ProgramError(f"{error}\n{explain(str(error), job.target)}")
            ended.set_exception(error)
        finally:
            self._linking[job.target].set()

    def _build(self, job: Job) -> None:
        # Left by a build that was killed: this one holds the lock.
        for abandoned in job.target.parent.glob(f".{job.target.name}-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{job.target.name}-", dir=job.target.parent))
        self._unfinished.add(unfinished)
        began = monotonic()
        self._notify(f"building {job.title}")
        try:
            command = ["build", "-v", *job.flags, "-o", f"{unfinished}{os.sep}", *job.packages.values()]
            tail = self._compile(job, command)
            if tail is not None:
                text = "\n".join(tail)
                raise ProgramError(f"building {job.title} failed:\n{text}\n{explain(text, job.target)}")
            for program, package in job.packages.items():
                (unfinished / executable(package)).rename(unfinished / program)
            unfinished.chmod(0o755)
            unfinished.rename(job.target)
        finally:
            self._unfinished.remove(unfinished)
            shutil.rmtree(unfinished, ignore_errors=True)
        self._notify(f"built {job.title} in {duration(monotonic() - began)}")

    def _compile(self, job: Job, command: Sequence[str]) -> deque[str] | None:
        """Run `go build -v`; None, or the last lines of its output when it failed."""
        tail: deque[str] = deque(maxlen=20)
        mains = set(job.packages.values())
        with self._go_runs(command, job.source) as build, self._standard_library(job) as enough:
            assert build.stdout
            for line in map(str.rstrip, build.stdout):
                if line.startswith("go: downloading "):
                    self._progress.downloads += 1
                elif _PACKAGE.match(line):
                    enough()
                    self._progress.compiled.add((job.title, line))
                    mains.discard(line)
                    if not mains:
                        # Only the linking is left.
                        self._linking[job.target].set()
                elif line:
                    tail.append(line)
            failed = build.wait()
        if failed and self._stopping.is_set():
            raise ProgramError(f"stopped building {job.title}")
        return tail if failed else None

    @contextmanager
    def _standard_library(self, job: Job) -> Iterator[Callable[[], None]]:
        """Compile the standard library, which needs no download, while the build downloads its modules.

        Yields the function that ends this. Only the first build waits for downloads.
        """
        if job is not self._jobs[0]:
            yield lambda: None
            return
        flags = [flag for flag in job.flags if flag.startswith("-gcflags")]
        with self._go_runs(["build", "-v", *flags, *STANDARD], job.source) as build:

            def tell() -> None:
                assert build.stdout
                for line in map(str.rstrip, build.stdout):
                    if _PACKAGE.match(line):
                        self._progress.compiled.add((job.title, line))

            thread = Thread(target=tell, daemon=True)
            thread.start()
            try:
                yield lambda: kill(build)
            finally:
                kill(build)
                thread.join()

    def _plan(self) -> None:
        """List the packages of every build, which also downloads their sources: a build takes cores, a download the network.

        A failed download is not reported here: the build asks for the same module again and reports the error.
        """
        for job in self._jobs:
            with tempfile.TemporaryFile("w+") as output, suppress(ProgramError):
                command = ["list", *job.flags, "-deps", *job.packages.values()]
                with self._go_runs(command, job.source, output) as listing:
                    assert listing.stderr
                    for line in listing.stderr:
                        if line.startswith("go: downloading "):
                            self._progress.downloads += 1
                    if listing.wait():
                        return
                output.seek(0)
                self._progress.packages += len(output.readlines())
                self._progress.planned += 1

    def _tell(self) -> None:
        while not self._stopping.wait(REPORT_EVERY):
            if self._unfinished:
                self._notify(f"building: {self._progress.text(len(self._jobs))}")

    @contextmanager
    def _go_runs(
        self, command: Sequence[str], folder: Path, output: IO[str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Yield a `go` command that `stop` ends. Raises ProgramError after `stop`."""
        with running([str(self._go.path), *command], folder, self._go.environment, output) as process:
            self._running.add(process)
            try:
                # Only now: `abandon` sets this first, and then ends the processes it sees.
                if self._stopping.is_set():
                    raise ProgramError("stopped building")
                yield process
            finally:
                self._running.remove(process)


def executable(package: str) -> str:
    """Return the name that `go build` gives a program: the last part of its package that is no major version."""
    parts = package.split("/")
    return parts[-2] if re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


def duration(seconds: float) -> str:
    """Return a time in whole seconds as text: `48s`, `3m 05s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


@contextmanager
def locked(path: Path, doing: str, notify: Notify, stopping: Event | None = None) -> Iterator[None]:
    """Hold a lock file, with a notice while another process holds it. The system frees it when its holder dies.

    Raises ProgramError when `stopping` ends the wait.
    """
    lock = FileLock(path)
    noticed: float | None = None
    while not lock.is_locked:
        if stopping and stopping.is_set():
            raise ProgramError(f"stopped waiting: another process {doing}")
        try:
            lock.acquire(timeout=0 if noticed is None else 0.2)
        except Timeout:
            if noticed is None or monotonic() - noticed >= WAIT_SECONDS:
                noticed = monotonic()
                notify(f"waiting: another process {doing}")
    try:
        yield
    finally:
        lock.release()
