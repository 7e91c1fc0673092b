"""A script in place of `go`, and the processes that it starts."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import psutil

from sandbox.toolchain.builder import executable
from sandbox.toolchain.modules import MODULES


def write_script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


LINK = 'for o; do case $prev in -o) out=$o;; esac; prev=$o; done; for p in PROGRAMS; do : > "$out/$p"; done'


def fake_go(machine: Path, build: str = LINK, module: str = "cluster") -> None:
    """Write a `go` 1.26.8 whose `go build` of programs runs a shell script and notes its environment in $HOME/built."""
    packages = next(each.packages for each in MODULES if each.name == module).values()
    build = build.replace("PROGRAMS", " ".join(executable(package) for package in packages))
    body = f"""case "$1 $2 $*" in
    "env GOVERSION "*) echo go1.26.8;;
    "env "*) echo "$HOME/go-cache";;
    "build "*" -o "*) echo "$GOFLAGS|$GOTOOLCHAIN|$CGO_ENABLED|$GOWORK|$*" >> "$HOME/built"; {build};;
    esac"""
    write_script(machine / "path" / "go", body)


def members(group: int) -> list[psutil.Process]:
    """Return the processes of a process group that still run."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            processes += [process] if os.getpgid(process.pid) == group and process.status() != "zombie" else []
    return processes


def key_of(name: str) -> str:
    return next(module.key() for module in MODULES if module.name == name)


def until(condition: Callable[[], object]) -> None:
    deadline = monotonic() + 15
    while not condition():
        assert monotonic() < deadline
        sleep(0.05)
