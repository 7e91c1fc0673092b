"""Progress of the Go builds: compiled packages, their share of the whole, and the time that the rest takes here.

A package's time follows the size of its source and the number of its imports (measured: the sums for the engine and for the
cluster's programs are within 6 % of what they take). The rate is that of this run on this machine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

LISTING = '{{.ImportPath}}\t{{with .Module}}{{.Version}}{{end}}\t{{.Dir}}\t{{join .GoFiles "/"}}\t{{join .Imports " "}}'
"""The template of `go list` for `listed`."""

EACH_IMPORT = 7_000
"""Bytes of source that take as long as reading the exports of another package."""

EACH_LINK = 1_800_000
"""Bytes of source that take as long as linking one program."""

ENOUGH = 8.0
"""Seconds of compiling before its rate says anything."""

Key = tuple[str, str]
"""A package's import path and version; the standard library has no version."""


@dataclass(frozen=True)
class Package:
    """A Go package: its version, its compile time in bytes of source, and its imports."""

    version: str
    weight: int
    imports: tuple[str, ...] = ()


def listed(output: str) -> dict[str, Package]:
    """The packages that `go list -deps` printed by the template LISTING, by import path."""
    packages = {}
    for line in output.splitlines():
        if line.count("\t") == 4:
            path, version, folder, files, imports = line.split("\t")
            imported = tuple(imports.split())
            weight = _size(Path(folder), files.split("/")) + EACH_IMPORT * (1 + len(imported))
            packages[path] = Package(version, weight, imported)
    return packages


def _size(folder: Path, files: Iterable[str]) -> int:
    try:
        return sum((folder / name).stat().st_size for name in files if name)
    except OSError:
        return 0


def remaining(total: float, done: float, measured: float, seconds: float) -> float | None:
    """Seconds until the rest of `total` is done, if `measured` took `seconds`; None where that is too short to tell.

    `done` is larger than `measured` when a part was done before the measurement began.
    """
    if seconds < ENOUGH or measured <= 0:
        return None
    return max(0.0, total - done) * seconds / measured


def about(seconds: float) -> str:
    """An estimate as text: in minutes, and below 90 seconds in tens of seconds."""
    if seconds >= 90:
        return f"about {round(seconds / 60)} min"
    return f"about {max(10, round(seconds / 10) * 10)} s"


@dataclass
class _Job:
    """The state of one `go build`."""

    links: int
    plan: Mapping[str, Package] | None = None
    compiled: set[str] = field(default_factory=set)
    linked: int = 0
    over: bool = False

    def key(self, path: str) -> Key:
        assert self.plan is not None
        return path, self.plan[path].version

    def done(self) -> set[Key]:
        """The packages that are done: the compiled ones and their imports."""
        assert self.plan is not None
        if self.over:
            return {self.key(path) for path in self.plan}
        done: set[str] = set()
        open = [path for path in self.compiled if path in self.plan]
        while open:
            path = open.pop()
            if path not in done:
                done.add(path)
                open += [imported for imported in self.plan[path].imports if imported in self.plan]
        return {self.key(path) for path in done}


class Progress:
    """The progress of several builds as one. Their threads call its methods."""

    def __init__(self, links: Mapping[str, int]) -> None:
        """`links` has the number of programs that each build links."""
        self._jobs = {name: _Job(count) for name, count in links.items()}
        self._downloads = 0
        self._began: float | None = None
        self._lock = Lock()

    def planned(self, name: str, packages: Mapping[str, Package]) -> None:
        """All packages of a build are known."""
        with self._lock:
            self._jobs[name].plan = packages

    def downloaded(self) -> None:
        """A module has been downloaded."""
        with self._lock:
            self._downloads += 1

    def compiled(self, name: str, path: str) -> None:
        """A package of a build is being compiled."""
        with self._lock:
            self._began = self._began or monotonic()
            self._jobs[name].compiled.add(path)

    def linked(self, name: str, count: int) -> None:
        """So many programs of a build are linked."""
        with self._lock:
            self._jobs[name].linked = count

    def over(self, name: str) -> None:
        """A build has ended."""
        with self._lock:
            self._jobs[name].over = True
            self._jobs[name].linked = self._jobs[name].links

    def __str__(self) -> str:
        """The progress as text."""
        with self._lock:
            jobs = list(self._jobs.values())
            if any(job.plan is None for job in jobs):
                compiled = sum(len(job.compiled) for job in jobs)
                return f"{self._downloads} modules downloaded, {compiled} packages compiled"
            sizes = {job.key(path): package.weight for job in jobs for path, package in (job.plan or {}).items()}
            done = {key for job in jobs for key in job.done()}
            own = {job.key(path) for job in jobs for path in job.compiled if path in (job.plan or {})}
            linked = sum(job.linked for job in jobs)
            total = sum(sizes.values()) + EACH_LINK * sum(job.links for job in jobs)
            weight = sum(sizes[key] for key in done) + EACH_LINK * linked
            measured = sum(sizes[key] for key in own) + EACH_LINK * linked
            seconds = monotonic() - self._began if self._began is not None else 0.0
        left = remaining(total, weight, measured, seconds)
        counts = f"{len(done)} of {len(sizes)} packages ({weight * 100 // total} %)"
        return counts if left is None else f"{counts}, {about(left)} left"
