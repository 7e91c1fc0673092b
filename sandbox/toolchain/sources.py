"""Sources of pinned Go modules, for files that a module brings beside its programs, such as CustomResourceDefinitions."""

import json
import subprocess
from pathlib import Path

from sandbox.base.errors import ProgramError
from sandbox.base.home import PROJECT
from sandbox.base.notices import Notify
from sandbox.toolchain.golang import find_go
from sandbox.toolchain.modules import MODULES
from sandbox.toolchain.programs import cache_directory


def source(name: str, notify: Notify) -> Path:
    """The folder of the source that tools/<name> pins, in Go's module cache; fetched if it is missing.

    Raises ProgramError when it cannot be had.
    """
    module = next(each for each in MODULES if each.name == name)
    go = find_go(cache_directory(), PROJECT, notify)
    # Only the version of go.mod passes: go.sum has its hash.
    done = subprocess.run(
        [go.path, "mod", "download", "-json", f"{module.source}@{module.version}"],
        cwd=module.folder,
        env=go.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout) if done.stdout else {}
    if done.returncode or "Dir" not in answer:
        raise ProgramError(
            f"{module.source} {module.version} could not be fetched: {answer.get('Error') or done.stderr.strip()}"
        )
    return Path(answer["Dir"])
