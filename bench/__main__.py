"""`python -m bench`: every figure from a sandbox of its own, several runs, median with minimum and maximum.

Nothing is built here: run `make up` once before. A cold `make up` is measured on a machine with empty caches by
`time make up`.
"""

import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench import admission, program, whole
from bench.figures import Figures, seconds
from bench.peers.compared import preview_figures, program_figures
from sandbox.cluster import clusters
from sandbox.tests.subjects import SUBJECTS
from tests.admission.bed import Bed

RUNS = 3
TURNS = 5

PROGRAM_RUNS = 11
POOL_ROUNDS = 25
POOLS = (10, 25, 50)

PODS = 400
BURST = 250
"""Pods made in turn for their latency, and at once for the scheduler."""


def sandbox_figures(stack: str, home: Path, environment: dict[str, str], figures: Figures) -> None:
    """Measure a stack's sandbox: up, again, preview, down."""
    add = figures.add

    run = partial(seconds, sys.executable, "-m", "sandbox", environment=environment)
    up, down, outputs, status = (partial(run, name, "--stack", stack) for name in ("up", "down", "outputs", "status"))
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
        preview_figures(stack, TURNS, environment, figures)
        add(f"{stack}: outputs", [outputs() for _ in range(RUNS)], "s", 2)
        add(f"{stack}: status", [status() for _ in range(RUNS)], "s", 2)
        add("sandbox --help", [run("--help") for _ in range(RUNS)], "s", 2)
        planes = clusters.planes(home / stack / "clusters")
        add(f"{stack}: memory of the running sandbox", [sum(plane.memory() for plane in planes) / 1e6], "MB", 1)
    finally:
        down()


def pool_figures(stack: str, figures: Figures) -> None:
    """Measure what one more pool on a stack's cloud costs the program."""
    few, some, many = POOLS
    each = whole.pool(stack, PROGRAM_RUNS, few, many)
    name = f"program, {stack}: one more pool, whole process incl. exit (CPU)"
    figures.add(name, [1000 * spent for spent in each], "ms", 1)
    own = program.pools(stack, POOL_ROUNDS, POOLS)
    before = [(b - a) / (some - few) * 1000 for a, b in zip(own[few], own[some], strict=True)]
    beyond = [(b - a) / (many - some) * 1000 for a, b in zip(own[some], own[many], strict=True)]
    figures.add(f"program, {stack}: one more pool, {few} to {some} (CPU)", before, "ms", 1)
    figures.add(f"program, {stack}: one more pool, {some} to {many} (CPU)", beyond, "ms", 1)
    ratio = statistics.median(beyond) / statistics.median(before)
    figures.add(f"program, {stack}: the second / the first", [ratio], "x", 2)


def admission_figures(figures: Figures) -> None:
    """Measure the cost of the policies for a pod, beside two measurements without policies.

    On GKE the class's policy is in force everywhere: its cost is in its check duration alone.
    """
    without, profile, again = admission.NAMESPACES
    with tempfile.TemporaryDirectory() as folder, admission.bed(Path(folder), SUBJECTS["staging"]) as bed:
        _latency(bed, "staging's policies", figures)
    with tempfile.TemporaryDirectory() as folder, admission.bed(Path(folder), SUBJECTS["dev"]) as bed:
        _latency(bed, "the policies", figures)
        rates = [{name: admission.throughput(bed, name, BURST) for name in admission.NAMESPACES} for _ in range(RUNS)]
        figures.add("pods scheduled, no policy", [rate[without] for rate in rates], "/s", 0)
        for name, other in (("with / without the policies", profile), ("without / without (A/A)", again)):
            figures.add(f"pods scheduled: {name}", [rate[other] / rate[without] for rate in rates], "x", 2)
        admission.hollow_out(bed)
        _latency(bed, "one policy that does nothing", figures)


def _latency(bed: Bed, label: str, figures: Figures) -> None:
    without, profile, again = admission.NAMESPACES
    before = admission.check_durations(bed)
    rounds = [admission.latencies(bed, PODS) for _ in range(RUNS)]
    p50 = [{name: statistics.median(values) for name, values in times.items()} for times in rounds]
    figures.add(f"pod created, beside {label} (p50)", [times[without] for times in p50], "ms", 2)
    figures.add(f"pod created: what {label} adds (p50)", [times[profile] - times[without] for times in p50], "ms", 2)
    nothing = f"pod created: what nothing adds, beside {label} (A/A, p50)"
    figures.add(nothing, [times[again] - times[without] for times in p50], "ms", 2)
    for policy, (spent, checks) in admission.check_durations(bed).items():
        earlier, fewer = before.get(policy, (0, 0))
        if checks > fewer:
            mean = (spent - earlier) / (checks - fewer) * 1000
            figures.add(f"{label}: mean of the API server's own check duration", [mean], "ms", 2)


def main() -> None:
    """Measure and print."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SANDBOX_HOME": home}
        for stack in SUBJECTS:
            sandbox_figures(stack, Path(home), environment, figures)
    program_figures(PROGRAM_RUNS, figures)
    for stack in program.SPOT:
        pool_figures(stack, figures)
    admission_figures(figures)
    pure = (sys.executable, "-m", "pytest", "-q", "-m", "not (program or process or engine or slow)")
    figures.add("pure tests", [seconds(*pure, environment=dict(os.environ)) for _ in range(3)], "s")
    figures.print()


if __name__ == "__main__":
    main()
