"""Builds Go programs in the background. A folder of finished programs appears complete or not at all.

Builds run one after another, because two at once would only take each other's cores and memory; but each begins while the
one before it links, which leaves a core idle.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import IO

from filelock import FileLock, Timeout

from sandbox.base.errors import ProgramError
from sandbox.toolchain.golang import Go, Report, kill, running
from sandbox.toolchain.progress import LISTING, Progress, listed

COLD_BUILD = 6 << 30  # bytes Go's caches grow to when every module is built for the first time
LEAST_FREE = 1 << 30  # bytes below which no build can end well: the linked programs alone are 0.6 GB
WAIT_SECONDS = 10.0  # between two "still waiting" lines
REPORT_EVERY = 10.0  # seconds between two progress lines

STANDARD = (
    *("archive/zip", "database/sql", "encoding/gob", "encoding/xml", "go/doc"),
    *("html/template", "image/png", "net/http/httptest", "net/http/pprof"),
)
"""Packages of the standard library that import nearly all of it that the programs need."""

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


class Builder:
    """Builds jobs in the order given. Use `start` and, whatever comes, `stop`."""

    def __init__(self, jobs: Sequence[Job], go: Go, report: Report) -> None:
        self._jobs, self._go, self._report = jobs, go, report
        self._progress = Progress({job.title: len(job.packages) for job in jobs})
        self._ended: dict[Path, Future[None]] = {job.target: Future() for job in jobs}
        self._linking = {job.target: Event() for job in jobs}
        self._stopping = Event()
        self._running: set[subprocess.Popen[str]] = set()
        self._unfinished: dict[str, Path] = {}
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
        """Wait until the programs in a job's folder are built. Raises ProgramError when they cannot be."""
        self._ended[target].result()

    def built(self, target: Path) -> bool:
        """Whether nobody needs to wait for a job."""
        return self._ended[target].done()

    def stop(self) -> None:
        """End what still runs, with its compilers; whoever waits gets a ProgramError."""
        self.abandon()
        for thread in self._threads:
            thread.join()

    def abandon(self) -> None:
        """As `stop`, without waiting. Takes no lock, so that a signal's handler may call it."""
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
            with locked(lock, f"builds {job.title}", self._report, self._stopping):
                if not job.target.is_dir():  # else the process waited for has built it
                    self._build(job)
            self._progress.over(job.title)
            ended.set_result(None)
        except BaseException as error:
            if isinstance(error, OSError):
                error = ProgramError(f"{error}\n{explain(str(error), job.target)}")
            ended.set_exception(error)
        finally:
            self._linking[job.target].set()

    def _build(self, job: Job) -> None:
        for abandoned in job.target.parent.glob(
            f".{job.target.name}-*"
        ):  # by a build that was killed: the lock is ours
            shutil.rmtree(abandoned, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{job.target.name}-", dir=job.target.parent))
        self._unfinished[job.title] = unfinished
        began = monotonic()
        self._report(f"building {job.title}")
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
            del self._unfinished[job.title]
            shutil.rmtree(unfinished, ignore_errors=True)
        self._report(f"built {job.title} in {duration(monotonic() - began)}")

    def _compile(self, job: Job, command: Sequence[str]) -> deque[str] | None:
        """Run `go build -v`; None, or the end of what it printed when it failed."""
        tail: deque[str] = deque(maxlen=20)
        mains = set(job.packages.values())
        with self._go_runs(command, job.source) as build, self._standard_library(job) as enough:
            assert build.stdout
            for line in map(str.rstrip, build.stdout):
                if line.startswith("go: downloading "):
                    self._progress.downloaded()
                elif _PACKAGE.match(line):
                    enough()
                    self._progress.compiled(job.title, line)
                    mains.discard(line)
                    if not mains:
                        # All that is left is to link them.
                        self._linking[job.target].set()
                elif line:
                    tail.append(line)
            failed = build.wait()
        if failed and self._stopping.is_set():
            raise ProgramError(f"stopped building {job.title}")
        return tail if failed else None

    @contextmanager
    def _standard_library(self, job: Job) -> Iterator[Callable[[], None]]:
        """Compile the standard library, which needs no download, until the build has all it needs and begins itself.

        Yields what is to be called then. Only the first build waits for downloads.
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
                        self._progress.compiled(job.title, line)

            thread = Thread(target=tell, daemon=True)
            thread.start()
            try:
                yield lambda: kill(build)
            finally:
                kill(build)
                thread.join()

    def _plan(self) -> None:
        """List the packages of every build, which also downloads their sources: a build takes cores, a download the network.

        A download that fails is not reported here: the build asks for the same module again and says what is wrong.
        """
        for job in self._jobs:
            with tempfile.TemporaryFile("w+") as output, suppress(ProgramError):
                command = ["list", *job.flags, "-deps", "-f", LISTING, *job.packages.values()]
                with self._go_runs(command, job.source, output) as listing:
                    assert listing.stderr
                    for line in listing.stderr:
                        if line.startswith("go: downloading "):
                            self._progress.downloaded()
                    if listing.wait():
                        return
                output.seek(0)
                if packages := listed(output.read()):
                    self._progress.planned(job.title, packages)

    def _tell(self) -> None:
        while not self._stopping.wait(REPORT_EVERY):
            unfinished = dict(self._unfinished)
            for title, folder in unfinished.items():
                self._progress.linked(title, len(list(folder.glob("*"))))
            if unfinished:
                self._report(f"building: {self._progress}")

    @contextmanager
    def _go_runs(
        self, command: Sequence[str], folder: Path, output: IO[str] | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """A `go` command that `stop` ends. Raises ProgramError after `stop`."""
        with running([str(self._go.path), *command], folder, self._go.environment, output) as process:
            self._running.add(process)
            try:
                # Only now: `abandon` first says so, and then ends what it sees.
                if self._stopping.is_set():
                    raise ProgramError("stopped building")
                yield process
            finally:
                self._running.remove(process)


def executable(package: str) -> str:
    """The name `go build` gives a program: the last part of its package that is no major version."""
    parts = package.split("/")
    return parts[-2] if re.fullmatch(r"v\d+", parts[-1]) else parts[-1]


def duration(seconds: float) -> str:
    """Whole seconds for a reader: `48s`, `3m 05s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


@contextmanager
def locked(path: Path, doing: str, report: Report, stopping: Event | None = None) -> Iterator[None]:
    """Hold a lock file; says so while another process has it. The system frees it when its holder dies.

    Raises ProgramError when it is not to be waited for any longer.
    """
    lock = FileLock(path)
    told: float | None = None
    while not lock.is_locked:
        if stopping and stopping.is_set():
            raise ProgramError(f"stopped waiting: another process {doing}")
        try:
            lock.acquire(timeout=0 if told is None else 0.2)
        except Timeout:
            if told is None or monotonic() - told >= WAIT_SECONDS:
                told = monotonic()
                report(f"waiting: another process {doing}")
    try:
        yield
    finally:
        lock.release()


def check_disk(folders: Sequence[Path], report: Report) -> None:
    """Warn when a cold build may not fit, refuse when none can. Raises ProgramError naming the directory."""
    warned = False
    for folder in folders:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free
        if free < LEAST_FREE:
            raise ProgramError(explain("no space left", folder))
        if free < COLD_BUILD and not warned:
            report(f"{folder} has {free / (1 << 30):.1f} GB free; a first build needs about 6 GB, a later one less")
            warned = True


def explain(output: str, folder: Path) -> str:
    """What to do about a failed build, from what it printed."""
    text = output.lower()
    if "no space left" in text or os.strerror(errno.ENOSPC).lower() in text:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free / (1 << 30)
        return (
            f"The disk is full: {folder} has {free:.1f} GB free and a first build needs about 6 GB there and in Go's"
            " caches. Free some space (`go clean -cache` empties Go's build cache), or point XDG_CACHE_HOME, GOCACHE"
            " and GOMODCACHE at a larger disk, then run the command again."
        )
    if "signal: killed" in text:
        return "The compiler was killed, most likely for want of memory: it needs about 4 GB. Run the command again."
    if "checksum mismatch" in text or "missing go.sum entry" in text or "updates to go.mod needed" in text:
        return "The pinned modules do not fit: `git status tools` must be clean; `go clean -modcache` refetches them."
    if any(sign in text for sign in ("dial tcp", "i/o timeout", "no such host", "proxyconnect", "tls:", "403", "502")):
        return "Go could not download a module: check the network and GOPROXY, then run the command again."
    return "Run the command again: what was compiled so far is kept in Go's build cache."
