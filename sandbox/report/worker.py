"""One engine command on one stack, in a process of its own: `python -m sandbox.report.worker up|preview STACK FOLDER`.

Two revisions of a program cannot share a process, whose modules have one name each. What was found is printed as one JSON object;
the engine's own lines are kept for when something fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.engine.policies import Pack, hosted

FALLBACK = "SANDBOX_FALLBACK_PACKAGES"
"""An environment variable: a folder of packages for what this sandbox needs and the environment of an older revision lacks."""


@dataclass
class Outcome:
    """The outcome of one engine command."""

    changes: list[dict[str, Any]] = field(default_factory=list)
    violations: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    """Run the command. Ends with 0 also when the engine failed: `errors` say so."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("up", "preview"))
    parser.add_argument("stack")
    parser.add_argument("project", type=Path)
    parser.add_argument("--cloud", type=Path)
    asked = parser.parse_args()
    if packages := os.environ.get(FALLBACK):
        # Last: the revision's own come first.
        sys.path.append(packages)
    # What the program prints must not end up in the object, nor what the programs print that it runs.
    printed = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # What the base breaks is no news.
    pack = Pack.of(asked.project) if asked.command == "preview" else None
    with hosted(pack):
        outcome = _run(asked.command, asked.stack, asked.project, asked.cloud, pack)
    with open(printed, "w", encoding="utf-8") as object:
        json.dump(vars(outcome), object)


def _run(command: str, stack: str, project: Path, cloud_file: Path | None, pack: Pack | None) -> Outcome:
    from pulumi.automation.errors import CommandError

    from sandbox.base.errors import SandboxError
    from sandbox.base.home import Home
    from sandbox.base.notices import discard, to_stderr
    from sandbox.engine import session
    from sandbox.report.listener import Listener

    listener = Listener()
    try:
        home = Home.of(stack, project)
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
