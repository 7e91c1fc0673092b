"""Commands of the sandbox as a user gives them, each in a process of its own that starts in milliseconds.

A new interpreter spends most of a short command on importing Pulumi. Therefore one process imports the modules once, and every
command is a fork of it (`multiprocessing`, start method "forkserver"), with its own process, environment and exit code, and no
trace of earlier commands. Tests that signal a command, or read a terminal's half-written output, start an interpreter.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox.tests import tally

_LOADED = (
    *("sandbox.cli.commands", "sandbox.engine.session", "sandbox.engine.out_of_band", "sandbox.cli.status"),
    # The program: imports of `__main__.py` come from the checkout itself, for every stack.
    *("components.settings", "components.cluster", "components.azure.azure_target", "components.gcp.gcp_target"),
    # What that loads when it is used, and what tests spare it.
    "sandbox.tests.preloaded",
)
_PATIENCE = 900
"""Seconds after which a command counts as hung."""

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(list(_LOADED))


def run(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, prepare: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `sandbox` with these arguments and wait for its end; `prepare` is called in its process before."""
    with TemporaryDirectory(prefix="kubeflow-spot-") as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        settings = dict(os.environ if environment is None else environment)
        process = _FORKS.Process(
            target=_command, args=(list(arguments), settings, str(output), str(errors), os.getcwd(), prepare)
        )
        process.start()
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(
                f"sandbox {' '.join(arguments)} has not ended after {_PATIENCE} s:\n{errors.read_text()}"
            )
        done = subprocess.CompletedProcess(
            ["sandbox", *arguments], process.exitcode, output.read_text(), errors.read_text()
        )
        process.close()
    tally.command(arguments[0], done.stderr)
    return done


def _command(
    arguments: list[str],
    environment: dict[str, str],
    output: str,
    errors: str,
    folder: str,
    prepare: Callable[[], None] | None,
) -> None:
    """Run a command in the forked process."""
    for stream, path in ((1, output), (2, errors)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["sandbox", *arguments]
    from sandbox.cli.commands import main

    if prepare:
        prepare()
    try:
        main(arguments, prog_name="sandbox")
    finally:
        # A forked process leaves these to its parent; the process of a command runs them itself.
        with suppress(Exception):
            atexit._run_exitfuncs()
