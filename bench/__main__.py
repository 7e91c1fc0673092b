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

from bench import admission, program, whole
from sandbox.cluster import clusters
from tests.subjects import SUBJECTS

PROJECT = Path(__file__).resolve().parent.parent
THREE = PROJECT / "bench" / "three"
RUNS = 3
TURNS = 5

PROGRAM_RUNS = 7
WHOLE_RUNS = 11
POOL_ROUNDS = 25
POOLS = (10, 25, 50)

PODS = 400
BURST = 250
"""Pods made in turn for their latency, and at once for the scheduler."""


def seconds(*command: str, environment: dict[str, str]) -> float:
    """Wall-clock seconds of a command that must succeed."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    taken = time.monotonic() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return taken


def sandbox_figures(
    stack: str, home: Path, environment: dict[str, str], add: Callable[[str, list[float], str, int], None]
) -> None:
    """A stack's sandbox: up, again, preview, down; its preview in turns with that of a program of three resources."""

    def command(name: str, *arguments: str, of: str = stack) -> Callable[[], float]:
        whole = (sys.executable, "-m", "sandbox", name, "--stack", of, *arguments)
        return lambda: seconds(*whole, environment=environment)

    up, down, preview = command("up"), command("down"), command("preview", "--json")
    outputs, status = command("outputs"), command("status")
    three = {name: command(name, "--cwd", str(THREE), of=THREE.name) for name in ("up", "down")}
    with_policies = command("preview", "--cwd", str(THREE), "--policy-pack", str(PROJECT / "policy"), of=THREE.name)
    ups: list[float] = []
    downs: list[float] = []
    for _ in range(RUNS):
        ups.append(up())
        downs.append(down())
    add(f"{stack}: up from nothing, programs built", ups, "s", 1)
    add(f"{stack}: down", downs, "s", 1)
    up()
    try:
        add(f"{stack}: up again, no change", [up() for _ in range(RUNS)], "s", 1)
        three["up"]()
        turns = [(preview(), with_policies()) for _ in range(TURNS)]
        add(f"{stack}: preview, no change", [own for own, _ in turns], "s", 1)
        add("three resources: preview, no change, the same policies", [other for _, other in turns], "s", 1)
        add(f"{stack}: its preview / that of three resources", [own / other for own, other in turns], "x", 2)
        three["down"]()
        add(f"{stack}: outputs", [outputs() for _ in range(RUNS)], "s", 2)
        add(f"{stack}: status", [status() for _ in range(RUNS)], "s", 2)
        add(
            "sandbox --help",
            [seconds(sys.executable, "-m", "sandbox", "--help", environment=environment) for _ in range(RUNS)],
            "s",
            2,
        )
        planes = clusters.planes(home / stack / "clusters")
        add(f"{stack}: memory of the running sandbox", [sum(plane.memory() for plane in planes) / 1e6], "MB", 1)
    finally:
        down()


def program_figures(add: Callable[[str, list[float], str, int], None]) -> None:
    """The program's own time by part, its whole process, and what one more pool costs.

    In the parts Pulumi's mocks run in the same process, in other threads, which are not counted. In the whole process they do
    not run: the engine's part is played outside, and everything inside is counted.
    """
    for stack in SUBJECTS:
        splits = program.stack(stack, PROGRAM_RUNS)
        for clock, name in ((program.CPU, "CPU"), (program.WALL, "wall")):
            for part, label in program.PARTS.items():
                add(f"program, {stack}: {label} ({name})", [split[part][clock] for split in splits], "s", 2)
            total = [sum(part[clock] for part in split.values()) for split in splits]
            add(f"program, {stack}: all of it ({name})", total, "s", 2)
        ratios = [sum(part[program.CPU] for part in split.values()) / split["pulumi"][program.CPU] for split in splits]
        add(f"program, {stack}: all of it / import of Pulumi (CPU)", ratios, "x", 1)

    for stack, values in whole.stacks(tuple(SUBJECTS), WHOLE_RUNS).items():
        add(f"program, {stack}: whole process incl. exit (CPU)", values, "s", 2)
    each = whole.pool(WHOLE_RUNS, POOLS[0], POOLS[-1])
    add("program: one more pool, whole process incl. exit (CPU)", [1000 * seconds for seconds in each], "ms", 1)

    few, some, many = POOLS
    own = program.pools(POOL_ROUNDS, POOLS)
    before = [(b - a) / (some - few) * 1000 for a, b in zip(own[few], own[some], strict=True)]
    beyond = [(b - a) / (many - some) * 1000 for a, b in zip(own[some], own[many], strict=True)]
    add(f"program: one more pool, {few} to {some} (CPU)", before, "ms", 1)
    add(f"program: one more pool, {some} to {many} (CPU)", beyond, "ms", 1)
    add("program: the second / the first", [statistics.median(beyond) / statistics.median(before)], "x", 2)


def admission_figures(add: Callable[[str, list[float], str, int], None]) -> None:
    """The cost of the policies for a pod, beside two measurements without policies.

    On GKE the class's policy is in force everywhere: its cost is in its check duration alone.
    """
    without, profile, again = admission.NAMESPACES
    with tempfile.TemporaryDirectory() as folder, admission.bed(Path(folder), SUBJECTS["staging"]) as bed:
        _latency(bed, "staging's policies", add)
    with tempfile.TemporaryDirectory() as folder, admission.bed(Path(folder), SUBJECTS["dev"]) as bed:
        _latency(bed, "the policies", add)
        rates = [{name: admission.throughput(bed, name, BURST) for name in admission.NAMESPACES} for _ in range(RUNS)]
        add("pods scheduled, no policy", [rate[without] for rate in rates], "/s", 0)
        add("pods scheduled: with / without the policies", [rate[profile] / rate[without] for rate in rates], "x", 2)
        add("pods scheduled: without / without (A/A)", [rate[again] / rate[without] for rate in rates], "x", 2)
        admission.hollow_out(bed)
        _latency(bed, "one policy that does nothing", add)


def _latency(bed: admission.Bed, label: str, add: Callable[[str, list[float], str, int], None]) -> None:
    without, profile, again = admission.NAMESPACES
    before = admission.check_durations(bed)
    rounds = [admission.latencies(bed, PODS) for _ in range(RUNS)]
    p50 = [{name: statistics.median(values) for name, values in times.items()} for times in rounds]
    add(f"pod created, beside {label} (p50)", [times[without] for times in p50], "ms", 2)
    add(f"pod created: what {label} adds (p50)", [times[profile] - times[without] for times in p50], "ms", 2)
    add(
        f"pod created: what nothing adds, beside {label} (A/A, p50)",
        [times[again] - times[without] for times in p50],
        "ms",
        2,
    )
    for policy, (spent, checks) in admission.check_durations(bed).items():
        earlier, fewer = before.get(policy, (0, 0))
        if checks > fewer:
            mean = (spent - earlier) / (checks - fewer) * 1000
            add(f"{label}: mean of the API server's own check duration", [mean], "ms", 2)


def main() -> None:
    """Measure and print."""
    console = Console()
    table = Table(
        title=f"{RUNS} runs, {os.cpu_count()} cores, Python {platform.python_version()}", title_justify="left"
    )
    for column in ("figure", "median", "min", "max"):
        table.add_column(column, justify="left" if column == "figure" else "right")

    def add(figure: str, values: list[float], unit: str, digits: int = 1) -> None:
        low, mid, high = min(values), statistics.median(values), max(values)
        table.add_row(figure, *(f"{value:.{digits}f} {unit}" for value in (mid, low, high)))
        console.print(f"{figure}: {mid:.{digits}f} {unit}")

    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SANDBOX_HOME": home}
        for stack in SUBJECTS:
            sandbox_figures(stack, Path(home), environment, add)
    program_figures(add)
    admission_figures(add)
    pure = (sys.executable, "-m", "pytest", "-q", "-m", "not (program or process or engine or slow)")
    add("pure tests", [seconds(*pure, environment=dict(os.environ)) for _ in range(3)], "s")
    console.print(table)


if __name__ == "__main__":
    main()
