"""uv, which installs Python environments beside this one."""

import os
import subprocess
import sys
from pathlib import Path

from sandbox.base.tokens import without_tokens


def sync(project: Path, environment: Path, *options: str, script: Path) -> subprocess.CompletedProcess[str]:
    """Install the packages of a project's lock file into an environment, with this Python; the project itself stays out.

    uv puts its own path into the environment of programs it runs; elsewhere the `script` finds or fetches one. It gets no tokens of
    this environment but those of package indexes.
    """
    uv = os.environ.get("UV") or str(script)
    command = [uv, "sync", "--locked", *options, "--no-install-project", "--quiet"]
    command += ["--project", str(project), "--python", sys.executable]
    settings = without_tokens(os.environ, but="UV_INDEX")
    settings.pop("VIRTUAL_ENV", None)
    settings["UV_PROJECT_ENVIRONMENT"] = str(environment)
    return subprocess.run(command, check=False, env=settings, capture_output=True, text=True, cwd=project)
