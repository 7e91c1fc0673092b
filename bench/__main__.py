"""`python -m bench`: every figure from a sandbox of its own, several runs, median with minimum and maximum.

Nothing is built here: run `make up` once before. A cold `make up` is measured on a machine with empty caches by
`time make up`.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sandbox import clusters

PROJECT = Path(__file__).resolve().parent.parent
RUNS = 3

PROGRAM = """
import sandbox, time
began = time.process_time()
import pulumi, pulumi_kubernetes, pulumi_azure_native as azure
for module in (azure.resources, azure.network, azure.authorization, azure.managedidentity, azure.containerservice):
    hasattr(module, "__all__")
import pulumi_kubernetes.core.v1, pulumi_kubernetes.apps.v1
imported = time.process_time()
import yaml
from spec import stackfile
raw = {k.partition(":")[2]: v for k, v in yaml.safe_load(open("Pulumi.dev.yaml"))["config"].items()}
assert stackfile.read(raw)[0]
print(imported - began, time.process_time() - imported)
"""


def seconds(*command: str, environment: dict[str, str]) -> float:
    """Wall-clock seconds of a command that must succeed."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    taken = time.monotonic() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return taken


def main() -> None:
    """Measure and print."""
    console = Console()
    table = Table(
        title=f"{RUNS} runs, {os.cpu_count()} cores, Python {platform.python_version()}", title_justify="left"
    )
    for column in ("figure", "median", "min", "max"):
        table.add_column(column, justify="left" if column == "figure" else "right")

    def add(figure: str, values: list[float], unit: str) -> None:
        low, mid, high = min(values), statistics.median(values), max(values)
        table.add_row(figure, *(f"{value:.1f} {unit}" for value in (mid, low, high)))
        console.print(f"{figure}: {mid:.1f} {unit}")

    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SANDBOX_HOME": home}
        sandbox = (sys.executable, "-m", "sandbox")

        def command(*arguments: str) -> Callable[[], float]:
            return lambda: seconds(*sandbox, *arguments, environment=environment)

        up, down, preview = command("up"), command("down"), command("preview", "--json")
        ups: list[float] = []
        downs: list[float] = []
        for _ in range(RUNS):
            ups.append(up())
            downs.append(down())
        add("up from nothing, programs built", ups, "s")
        add("down", downs, "s")
        up()
        try:
            add("up again, no change", [up() for _ in range(RUNS)], "s")
            add("preview, no change", [preview() for _ in range(RUNS)], "s")
            planes = clusters.planes(Path(home) / "dev" / "clusters")
            add("memory of the running sandbox", [sum(plane.memory() for plane in planes) / 1e6], "MB")
        finally:
            down()

    split = [
        [float(part) for part in subprocess.check_output([sys.executable, "-c", PROGRAM], cwd=PROJECT).split()]
        for _ in range(RUNS)
    ]
    add("program: import of the SDKs (CPU)", [imported for imported, _ in split], "s")
    add("program: settings (CPU)", [checked for _, checked in split], "s")
    pure = (sys.executable, "-m", "pytest", "-q", "-m", "not (program or process or engine or slow)")
    add("pure tests", [seconds(*pure, environment=dict(os.environ)) for _ in range(3)], "s")
    console.print(table)


main()
