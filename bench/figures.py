"""Figures: median, minimum and maximum of several runs, printed one by one and as a table."""

import os
import platform
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from sandbox.base.home import PROJECT


class Figures:
    """A table that is filled by `add` and printed at the end."""

    def __init__(self) -> None:
        self._console = Console()
        title = f"{os.cpu_count()} cores, Python {platform.python_version()}"
        self._table = Table(title=title, title_justify="left")
        for column in ("figure", "median", "min", "max", "runs"):
            self._table.add_column(column, justify="left" if column == "figure" else "right")

    def add(self, figure: str, values: list[float], unit: str, digits: int = 1) -> None:
        """Add a row, and print it at once."""
        low, mid, high = min(values), statistics.median(values), max(values)
        self._table.add_row(figure, *(f"{value:.{digits}f} {unit}" for value in (mid, low, high)), str(len(values)))
        self._console.print(f"{figure}: {mid:.{digits}f} {unit}")

    def print(self) -> None:
        """Print the table."""
        self._console.print(self._table)


def seconds(*command: str, environment: dict[str, str]) -> float:
    """Return the wall-clock seconds of a command that must succeed."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    taken = time.monotonic() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return taken
