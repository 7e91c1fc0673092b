"""What the program costs by itself: the unmodified `__main__.py` under Pulumi's mocks, in a process of its own.

`python -m bench.program STACK_FILE` runs it once; `measure` does so several times, for the dev stack and for stacks of many
pools. CPU is that of the program's own thread: the mocks answer in others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

# Also sees to it that there is bytecode where Python was asked to write none; without, imports take three times as long.
import sandbox as sandbox

PROJECT = Path(__file__).resolve().parent.parent
STACK_FILE = PROJECT / "Pulumi.dev.yaml"
PARTS = {
    # No program can avoid this one: it tells how fast the machine is just then.
    "pulumi": "import of Pulumi alone",
    "import": "all other imports",
    "settings": "settings",
    "declare": "declare",
}

CPU, WALL = 0, 1
Split = dict[str, tuple[float, float]]
"""CPU and wall-clock seconds by part."""


class Clock:
    """Charges each moment to one part: the innermost."""

    def __init__(self) -> None:
        self.spent: Split = {}
        self._part, self._since = "", self._now()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        outer = self._turn_to(name)
        try:
            yield
        finally:
            self._turn_to(outer)

    def _turn_to(self, name: str) -> str:
        before, since, now = self._part, self._since, self._now()
        cpu, wall = self.spent.get(before, (0.0, 0.0))
        self.spent[before] = (cpu + now[CPU] - since[CPU], wall + now[WALL] - since[WALL])
        self._part, self._since = name, now
        return before

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.thread_time(), time.perf_counter()


def _run(stack_file: Path) -> None:
    """Run the program once; print its split, and the modules that had to be compiled, as JSON."""
    clock = Clock()
    with clock.part("pulumi"):
        import pulumi as pulumi

    import pytest

    from tests.components import program

    early = {"pydantic", "pulumi_azure_native", "pulumi_kubernetes"} & sys.modules.keys()
    assert not early, f"imported before the clock runs: {early}"

    compiled: list[str] = []
    execute, translate = SourceFileLoader.exec_module, SourceFileLoader.source_to_code

    def timed_execute(loader: SourceFileLoader, module: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return execute(loader, module)
        # The SDKs' modules load at the first use of a name in them, in the midst of declaring.
        with clock.part("import"):
            return execute(loader, module)

    def noted_translate(loader: SourceFileLoader, data: Any, path: Any, **options: Any) -> Any:
        compiled.append(str(path))
        return translate(loader, data, path, **options)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(SourceFileLoader, "exec_module", timed_execute)
        monkeypatch.setattr(SourceFileLoader, "source_to_code", noted_translate)
        from components import settings

        monkeypatch.setattr(settings, "load", clock.part("settings")(settings.load))
        config = program.stack_config(stack_file)
        with clock.part("declare"):
            program.declare(config, monkeypatch)
    json.dump({"compiled": compiled, "split": {part: clock.spent[part] for part in PARTS}}, sys.stdout)


def split(stack_file: Path) -> Split:
    """One run with warm bytecode, in a process of its own."""
    command = (sys.executable, "-m", "bench.program", str(stack_file))
    # The first run after a change compiles what changed.
    for _ in range(2):
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        found = json.loads(done.stdout)
        if not found["compiled"]:
            return {part: (cpu, wall) for part, (cpu, wall) in found["split"].items()}
    sys.exit(f"no bytecode is kept of {found['compiled'][0]}: the figures would be those of the compiler")


def measure(runs: int, pools: tuple[int, ...]) -> tuple[list[Split], dict[int, list[Split]]]:
    """Splits of the dev stack, and of stacks of so many spot pools, by their number. Each round runs all of them once."""
    # Not above: Pulumi imports it too, and that counts.
    import yaml

    config = yaml.safe_load(STACK_FILE.read_text())["config"]
    spot = {"machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 2}
    with tempfile.TemporaryDirectory() as folder:
        files = {count: Path(folder) / f"Pulumi.pools{count}.yaml" for count in pools}
        for count, file in files.items():
            config["kubeflow-spot:pools"] = [{"name": f"p{number}", **spot} for number in range(count)]
            file.write_text(yaml.safe_dump({"config": config}))
        rounds = [(split(STACK_FILE), {count: split(file) for count, file in files.items()}) for _ in range(runs)]
    return [dev for dev, _ in rounds], {count: [by_pools[count] for _, by_pools in rounds] for count in pools}


if __name__ == "__main__":
    _run(Path(sys.argv[1]))
