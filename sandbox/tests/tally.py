"""Numbers of commands and control planes in a test run, printed at its end so that growth is visible."""

import re
from collections import Counter

DONE: Counter[str] = Counter()
"""The numbers of this process. Workers of pytest-xdist pass theirs to the process that prints."""

PLANE, KUBECTL = "control plane", "kubectl call"

_STARTED = re.compile(r"^control plane \S+: .* ready in ", re.MULTILINE)


def command(name: str, output: str) -> None:
    """Count a command of the sandbox, and the control planes that it reports as started."""
    DONE[KUBECTL if name == "kubectl" else f"sandbox {name}"] += 1
    DONE[PLANE] += len(_STARTED.findall(output))


def report(line: str) -> None:
    """Count the report of a control plane that a test starts itself; pytest shows the line when the test fails."""
    print(line)
    DONE[PLANE] += len(_STARTED.findall(line))


def kubectl() -> None:
    """Count a call of kubectl."""
    DONE[KUBECTL] += 1


def lines() -> list[str]:
    """Return lines for the end of a run."""
    return [f"{count:5} {name}{'s' if count != 1 else ''}" for name, count in DONE.most_common()]
