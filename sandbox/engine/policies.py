"""Policy packs under the real engine, without the engine's Python host.

The engine starts a pack by its plugin `pulumi-analyzer-policy-RUNTIME` where it finds no host of that runtime (pulumi v3.258.0,
analyzer_plugin.go, NewPolicyAnalyzer). A machine may well have a host for `python`, which then wants a `uv` and its own
virtual environment; so the engine reads a copy of the pack's project file that names a runtime of the sandbox's own.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.home import Home
from sandbox.engine import policy_host, policy_plugin

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
    def of(cls, project: Path, stack: str, config: Path | None = None) -> Pack | None:
        """Return the pack of a project, configured by the stack's own file beside it unless by `config`; None where it
        has none.
        """
        folder = project / DEFAULT
        if not (folder / PROJECT_FILE).is_file():
            return None
        own = folder / f"config.{stack}.json"
        return cls(folder, config or (own if own.is_file() else None))


@contextmanager
def hosted(pack: Pack | None) -> Iterator[None]:
    """Import a pack's libraries in a process beside this one while the engine starts; the process ends with this.

    A pack whose engine finds no such process runs as well, and starts a second later.
    """
    if pack is None:
        yield
        return
    # A short prefix: the path of a socket has about 100 characters at most.
    with TemporaryDirectory(prefix="kubeflow-spot-", ignore_cleanup_errors=True) as folder:
        address = f"{folder}/socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            process = subprocess.Popen(
                [sys.executable, "-u", "-P", policy_host.__file__, folder, str(listener.fileno())],
                # The engine passes the settings that decide how Pulumi behaves.
                env={name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
            )
        os.environ[policy_plugin.VARIABLE] = address
        with process:
            try:
                yield
            finally:
                process.kill()
                del os.environ[policy_plugin.VARIABLE]


def install(home: Home, pack: Pack) -> list[str]:
    """Install the plugin that starts a pack; returns the engine's options for the pack.

    The pack runs in this interpreter's environment. Raises SandboxError for a folder that is no pack written in Python.
    """
    # Only here: every command has the options of a pack, and a YAML library would cost each of them its start.
    from sandbox.base.yaml_file import read_yaml

    settings = read_yaml(pack.folder / PROJECT_FILE)
    runtime = settings.get("runtime")
    if (runtime.get("name") if isinstance(runtime, dict) else runtime) != "python":
        raise SandboxError(f"{pack.folder / PROJECT_FILE}: the sandbox runs only packs with the runtime python")
    copy, plugin = home.directory / "policy", home.engine / "plugins" / f"analyzer-policy-{_RUNTIME}-v0.0.0"
    for folder in (copy, plugin):
        folder.mkdir(parents=True, exist_ok=True)
    write_private(copy / PROJECT_FILE, json.dumps({**settings, "runtime": _RUNTIME}).encode())
    script = plugin / f"pulumi-analyzer-policy-{_RUNTIME}"
    command = shlex.join([sys.executable, "-I", "-S", policy_plugin.__file__])
    write_private(script, f'#!/bin/sh\nexec {command} "$1" {shlex.quote(str(pack.folder.resolve()))}\n'.encode())
    script.chmod(0o700)
    return ["--policy-pack", str(copy), *(["--policy-pack-config", str(pack.config)] if pack.config else [])]
