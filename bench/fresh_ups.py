"""`python -m bench.fresh_ups 40 staging`: how many fresh `up`s of the real engine on a `file://` backend succeed.

Each has a sandbox of its own, as on a fresh machine: the first update of a stack writes its state while the program starts.
"""

import os
import subprocess
import sys
import tempfile
from typing import Any

from sandbox.base.home import PROJECT


def main(runs: int, stack: str) -> None:
    """Run, and print the number of successes and every failure's output."""
    succeeded = 0
    for run in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "SANDBOX_HOME": home}
            options: dict[str, Any] = {"cwd": PROJECT, "env": environment, "capture_output": True, "text": True}
            done, _ = (
                subprocess.run((sys.executable, "-m", "sandbox", each, "--stack", stack), check=False, **options)
                for each in ("up", "down")
            )
        succeeded += not done.returncode
        print(f"{succeeded} of {run}", "" if not done.returncode else f"{done.stdout}\n{done.stderr}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
