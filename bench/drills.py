"""Figures of drills: `python -m bench.drills repeats [SCENARIO ...]|factor [SCENARIO ...]|large`.

Each brings its stacks up in a sandbox of its own.

repeats: three scenarios, or those named, five times each: verdicts and counts.
factor: three scenarios by events alone and five times as fast as real time: verdicts.
large: 500 nodes and 5,000 pods for an hour: seconds and memory.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import yaml

from sandbox.base.home import PROJECT

SEEDS = range(1, 6)
SHORT = ("burst-from-zero", "spot-gone", "spot-silent")

_WAVE = {"role": "trial", "count": 10, "pods": 50, "runFor": "2m"}
LARGE = {
    "description": "Every six minutes ten Jobs of fifty pods come, and find the 500 nodes that the first ones brought.",
    "length": "1h",
    "work": [
        {"name": "platform", "role": "platform", "kind": "Deployment", "count": 6, "gpus": 0, "namespace": "kubeflow"},
        *({"name": f"wave-{n}", "at": f"{1 + 6 * n}m", "checkpointEvery": "1m", **_WAVE} for n in range(9)),
        {"name": "last", "at": "55m", **_WAVE},
    ],
    "faults": [{"at": "30m", "evict": {"nodes": 100, "within": "3m"}}],
}


class Bench:
    """Stacks in a sandbox of their own."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder / "home")
        self._environment = {**os.environ, "SANDBOX_HOME": self.home}

    def up(self, stack: str, *arguments: str) -> None:
        self._run("up", "--stack", stack, *arguments)

    def drill(self, scenario: str, stack: str, *arguments: str) -> dict[str, Any]:
        """Return the report of a drill, with its seconds and the memory of all its processes."""
        began, peak = time.monotonic(), Peak()
        with peak:
            done = self._run("drill", scenario, "--stack", stack, "--json", *arguments, ok=(0, 1))
        report: dict[str, Any] = json.loads(done.stdout)
        return {**report, "seconds": time.monotonic() - began, "memory": peak.most}

    def down(self, stack: str) -> None:
        self._run("down", "--force", "--stack", stack)

    def _run(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("sandbox")), *arguments]
        done = subprocess.run(command, cwd=PROJECT, env=self._environment, capture_output=True, text=True, check=False)
        if done.returncode not in ok:
            words = f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}\n{words}")
        return done


class Peak:
    """The most memory of the processes of a drill: the command, and the copy's control plane, which it starts."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self.most = 0

    def __enter__(self) -> None:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.most = max(self.most, sum(self._sizes()))

    def _sizes(self) -> Iterator[int]:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                yield process.memory_info().rss


@contextmanager
def sandbox() -> Iterator[Bench]:
    """Yield a sandbox that is removed afterwards."""
    with TemporaryDirectory(prefix="kubeflow-spot-bench-") as folder:
        yield Bench(Path(folder))


def red(found: dict[str, Any]) -> str:
    """Return the names of the red verdicts."""
    return ", ".join(each["name"] for each in found["verdicts"] if each["ok"] is False) or "none"


def counts(found: dict[str, Any]) -> str:
    """Return what must be the same in every run: the verdicts, and where how many pods ran and were evicted."""
    verdicts = "".join({True: "+", False: "-", None: "."}[each["ok"]] for each in found["verdicts"])
    placed = {f"{each['role']} on {each['pool']}": (each["pods"], each["restarts"]) for each in found["placed"]}
    return f"{verdicts} {placed}"


def repeats(*scenarios: str) -> None:
    """Run scenarios, or those named, five times each on two stacks."""
    with sandbox() as bench:
        for stack in ("dev", "staging"):
            bench.up(stack)
            for scenario in scenarios or ("spot-gone-and-back", "burst-from-zero", "flapping"):
                seen = [counts(bench.drill(scenario, stack)) for _ in SEEDS]
                found = " | ".join(sorted(set(seen)))
                print(f"{stack} {scenario}: {len(set(seen))} different of {len(seen)}: {found}", flush=True)
            bench.down(stack)


def factor(*scenarios: str) -> None:
    """Run three scenarios, or those named, by events alone and by a clock five times as fast as real time."""
    with sandbox() as bench:
        bench.up("dev")
        for scenario in scenarios or SHORT:
            plain, paced = bench.drill(scenario, "dev"), bench.drill(scenario, "dev", "--factor=5")
            same = "same" if counts(plain).split()[0] == counts(paced).split()[0] else "DIFFERENT"
            took = f"{plain['seconds']:.0f} s and {paced['seconds']:.0f} s"
            print(f"{scenario}: {same} verdicts; {took}", flush=True)
        bench.down("dev")


def large() -> None:
    """Run 500 nodes and 5,000 pods for an hour."""
    with sandbox() as bench, TemporaryDirectory() as folder:
        content = yaml.safe_load((PROJECT / "Pulumi.dev.yaml").read_text())
        config = content["config"]
        config["kubeflow-spot:cloud"]["network"]["podCidr"] = "10.240.0.0/13"
        config["kubeflow-spot:pools"][1] |= {"maxNodes": 480, "fallback": [{"onDemand": {"maxNodes": 120}}]}
        stack, scenario = Path(folder) / "stack.yaml", Path(folder) / "large.yaml"
        stack.write_text(yaml.safe_dump(content))
        scenario.write_text(yaml.safe_dump(LARGE))
        bench.up("dev", "--config-file", str(stack))
        found = bench.drill(str(scenario), "dev")
        nodes = sum(each["peak"] for each in found["pools"])
        print(f"{nodes} nodes, {found['seconds']:.0f} s, {found['memory'] / 1e9:.2f} GB; red: {red(found)}")
        bench.down("dev")


if __name__ == "__main__":
    {"repeats": repeats, "factor": factor, "large": large}[sys.argv[1]](*sys.argv[2:])
