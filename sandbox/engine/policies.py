"""A policy pack under the real engine without the engine's Python host.

The engine starts a pack by its plugin `pulumi-analyzer-policy-RUNTIME` where it finds no host of that runtime (pulumi v3.258.0,
analyzer_plugin.go, NewPolicyAnalyzer). A machine may well have a host for `python`, which then wants a `uv` and its own
virtual environment; so the engine reads a copy of the pack's project file that names a runtime nobody has.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.home import Home
from sandbox.engine import packhost, packplugin

PROJECT_FILE = "PulumiPolicy.yaml"
DEFAULT = "policy"
"""The pack's folder in a project that has one."""

_RUNTIME = "sandbox"


@dataclass(frozen=True)
class Pack:
    """A policy pack, and its configuration if it has any."""

    folder: Path
    config: Path | None = None

    @classmethod
    def of(cls, project: Path, config: Path | None = None) -> Pack | None:
        """The pack of a project; None where it has none."""
        folder = project / DEFAULT
        return cls(folder, config) if (folder / PROJECT_FILE).is_file() else None


@contextmanager
def hosted(pack: Pack | None) -> Iterator[None]:
    """Import what a pack needs, in a process beside this one, while the engine starts; it ends with this.

    A pack whose engine finds no such process runs as well, and starts a second later.
    """
    if pack is None:
        yield
        return
    # Short, as the name of a socket must be.
    folder = Path(mkdtemp(prefix="kubeflow-spot-"))
    address = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-u", "-P", packhost.__file__, folder, str(listener.fileno())],
            # What decides how Pulumi behaves comes from the engine.
            env={name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
        )
    os.environ[packplugin.VARIABLE] = address
    try:
        with process:
            try:
                yield
            finally:
                process.kill()
    finally:
        del os.environ[packplugin.VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def furnish(home: Home, pack: Pack) -> list[str]:
    """Put what starts a pack among the engine's plugins; returns the options of an engine command.

    The pack runs in this interpreter's environment. Raises SandboxError for a folder that is no pack written in Python.
    """
    # Only here: every command has the options of a pack, and a YAML library would cost each of them its start.
    from sandbox.base.yaml_file import read_yaml

    settings = read_yaml(pack.folder / PROJECT_FILE)
    runtime = settings.get("runtime")
    if (runtime.get("name") if isinstance(runtime, dict) else runtime) != "python":
        raise SandboxError(f"{pack.folder / PROJECT_FILE}: the sandbox runs packs of the runtime python only")
    copy, plugin = home.directory / "policy", home.engine / "plugins" / f"analyzer-policy-{_RUNTIME}-v0.0.0"
    for folder in (copy, plugin):
        folder.mkdir(parents=True, exist_ok=True)
    write_private(copy / PROJECT_FILE, json.dumps({**settings, "runtime": _RUNTIME}).encode())
    script = plugin / f"pulumi-analyzer-policy-{_RUNTIME}"
    command = shlex.join([sys.executable, "-I", "-S", packplugin.__file__])
    write_private(script, f'#!/bin/sh\nexec {command} "$1" {shlex.quote(str(pack.folder.resolve()))}\n'.encode())
    script.chmod(0o700)
    return ["--policy-pack", str(copy), *(["--policy-pack-config", str(pack.config)] if pack.config else [])]
