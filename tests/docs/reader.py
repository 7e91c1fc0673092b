"""A reader at a shell: `kubectl` is real, `pulumi` is the sandbox's engine by a few lines of shell."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from sandbox.tests.stack import PROJECT, Stack
from sandbox.toolchain.programs import ensure

PROGRAMS = {
    "sandbox": """
        command=$1; shift
        case "$command" in diff-release) exec "$PYTHON" -m sandbox "$command" "$@";; esac
        case " $* " in *" --stack "*) ;; *) set -- --stack "$STACK" "$@";; esac
        exec "$PYTHON" -m sandbox "$command" --cwd "$FOLDER" "$@" """,
    "pulumi": """
        case "$1" in
          up | preview) exec sandbox "$1";;
          stack) sandbox outputs --json | "$PYTHON" -c "$PICK" "$3";;
          *) exit 9;;
        esac""",
}
"""What stands for a program on the PATH, in shell."""


def install(folder: Path) -> Path:
    """Write the programs of the pages into a folder, and return it."""
    for name, body in PROGRAMS.items():
        (folder / name).write_text(f"#!/bin/bash\n{textwrap.dedent(body)}\n")
        (folder / name).chmod(0o755)
    (folder / "kubectl").symlink_to(ensure(["kubectl"], print)["kubectl"])
    return folder


def bash(stack: Stack, programs: Path, text: str, options: str = "") -> subprocess.CompletedProcess[str]:
    """Run lines of shell in the stack's project, with bash's `options`; what it prints is in `stdout` and `stderr`."""
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "KUBECONFIG": str(stack._plane().admin_kubeconfig),
        "PYTHON": sys.executable,
        "PYTHONPATH": str(PROJECT),
        "STACK": stack.name,
        "FOLDER": str(stack.project),
        "PICK": "import json, sys; print(json.dumps(json.load(sys.stdin)[sys.argv[1]]))",
    }
    return subprocess.run(
        ["bash", *options.split(), "-c", text],
        cwd=stack.project, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
