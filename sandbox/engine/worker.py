"""One engine command on one stack, in a process of its own: `python -m sandbox.engine.worker up|preview STACK FOLDER`.

Two revisions of a program cannot share a process, because their modules have the same names. The outcome is printed as one JSON
object; notices go to stderr.
"""

import argparse
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.engine.policies import Pack, hosted

FALLBACK = "SANDBOX_FALLBACK_PACKAGES"
"""An environment variable: a folder of packages that this sandbox needs and the environment of an older revision may lack."""


@dataclass
class Outcome:
    """The outcome of one engine command."""

    changes: list[dict[str, Any]] = field(default_factory=list)
    violations: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    """Run the command. The exit code is 0 also when the engine failed: `errors` has the reasons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("up", "preview"))
    parser.add_argument("stack")
    parser.add_argument("project", type=Path)
    parser.add_argument("--cloud", type=Path)
    parser.add_argument("--config-file", type=Path)
    arguments = parser.parse_args()
    if packages := os.environ.get(FALLBACK):
        # Last: the revision's own packages come first.
        sys.path.append(packages)
    # Output of the program and of its child processes must stay out of the JSON object.
    printed = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # Policies that the base breaks are no news.
    pack = Pack.of(arguments.project, arguments.stack) if arguments.command == "preview" else None
    with hosted(pack):
        outcome = _run(
            arguments.command, arguments.stack, arguments.project, arguments.cloud, arguments.config_file, pack
        )
    with open(printed, "w", encoding="utf-8") as object:
        json.dump(vars(outcome), object)


def _run(
    command: str, stack: str, project: Path, cloud_file: Path | None, config_file: Path | None, pack: Pack | None
) -> Outcome:
    from pulumi.automation.errors import CommandError

    from sandbox.base.errors import SandboxError
    from sandbox.base.home import Home
    from sandbox.base.notices import discard, to_stderr
    from sandbox.engine import session
    from sandbox.engine.listener import Listener

    listener = Listener()
    try:
        home = Home.of(stack, project).with_options(config_file)
        with session.open(home, to_stderr, cloud_file=cloud_file, pack=pack) as opened:
            if command == "up":
                opened.up(discard, listener.on_event)
            else:
                opened.preview(discard, listener.on_event)
    except (CommandError, SandboxError) as failed:
        listener.failed(str(failed))
    return Outcome(
        changes=[change.model_dump(mode="json") for change in listener.changes],
        violations=[violation.model_dump(mode="json") for violation in listener.policy_violations()],
        warnings=listener.warnings,
        errors=listener.errors,
        outputs=listener.outputs,
    )


if __name__ == "__main__":
    main()
