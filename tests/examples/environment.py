"""The environment of the examples: kfp and the Kubeflow SDKs by examples/uv.lock, in the user's cache, apart from the program's."""

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.base.tokens import without_tokens
from sandbox.toolchain import locked_environment
from sandbox.toolchain.programs import cache_directory
from tests.components.program import PROJECT

EXAMPLES = PROJECT / "examples"
INSIDE = Path(__file__).with_name("inside.py")
PACKAGE = PROJECT / "kubeflow" / "python"


@cache
def python() -> str:
    """Return the Python of the environment, which is made once and kept."""
    locked = b"".join((EXAMPLES / name).read_bytes() for name in ("pyproject.toml", "uv.lock"))
    digest = hashlib.sha256(locked + sys.version.encode()).hexdigest()[:16]
    home = cache_directory() / "environments" / f"examples-{digest}"
    # Another checkout has the same environment: our own package is read from this one's files.
    ours = ("--no-install-package", "kubeflow-spot-placement")
    done = locked_environment.sync(EXAMPLES, home, *ours, script=PROJECT / "scripts" / "uv")
    assert done.returncode == 0, done.stderr
    return str(home / "bin" / "python")


def inside(contract: Path, *arguments: str, program: Path = INSIDE) -> Any:
    """Return what `inside.py`, or another program, answers to a command. Nothing in it may ask a package index."""
    folders = [PACKAGE, EXAMPLES / "pipelines", EXAMPLES / "sdk", EXAMPLES / "training"]
    settings = without_tokens(os.environ) | {
        "PATH": os.pathsep.join([str(Path(python()).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "KUBEFLOW_SPOT_CONTRACT": str(contract),
    }
    for name in ("VIRTUAL_ENV", "PYTHONHOME"):
        settings.pop(name, None)
    command = [python(), str(program), *arguments]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, cwd=contract.parent, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
