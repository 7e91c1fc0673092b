"""The cost of the program by itself: the unmodified `__main__.py` under Pulumi's mocks, in a process of its own.

`python -m bench.program ROUNDS STACK_FILE...` runs it and prints the time of its parts. CPU is that of the program's own
thread: the mocks answer in others. The stack's outputs are read here as the tests read them, which takes longer than what
Pulumi's host does with them; the interpreter's start and exit are not in. `bench.whole` measures the real process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

# Also writes bytecode where Python was asked to write none; without it imports take three times as long.
import sandbox as sandbox

PROJECT = Path(__file__).resolve().parent.parent
STACK_FILE = PROJECT / "Pulumi.dev.yaml"
"""The stack to which pools are added."""
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


def _run(rounds: int, stack_files: list[Path]) -> None:
    """Run the program on each stack file in each round; print the splits, and which modules had to be compiled, as JSON.

    Only the first run has imports.
    """
    clock = Clock()
    with clock.part("pulumi"):
        import pulumi as pulumi

    import pytest

    from tests.components import program

    early = {"pydantic", "pulumi_azure_native", "pulumi_gcp", "pulumi_kubernetes"} & sys.modules.keys()
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
        splits: list[list[Split]] = []
        for _ in range(rounds):
            splits.append([])
            for file in stack_files:
                config = program.stack_config(file)
                with clock.part("declare"), pytest.MonkeyPatch.context() as recorder:
                    program.declare(config, recorder)
                splits[-1].append({part: clock.spent.get(part, (0.0, 0.0)) for part in PARTS})
                clock.spent.clear()
    json.dump({"compiled": compiled, "splits": splits}, sys.stdout)


def _process(rounds: int, *stack_files: Path) -> list[list[Split]]:
    """Splits by round and stack file, of one process with warm bytecode."""
    command = (sys.executable, "-m", "bench.program", str(rounds), *map(str, stack_files))
    # The first run after a change compiles what changed.
    for _ in range(2):
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        result = json.loads(done.stdout)
        if not result["compiled"]:
            splits: list[list[Split]] = result["splits"]
            return splits
    sys.exit(f"no bytecode is kept of {result['compiled'][0]}: the figures would be those of the compiler")


def stack(name: str, runs: int) -> list[Split]:
    """A checked-in stack, in a process of its own each time."""
    return [_process(1, PROJECT / f"Pulumi.{name}.yaml")[0][0] for _ in range(runs)]


def pools(rounds: int, counts: tuple[int, ...]) -> dict[int, list[float]]:
    """CPU seconds for settings and declarations of stacks of so many spot pools, by their number; imports are done before."""
    with tempfile.TemporaryDirectory() as folder:
        _, *warm = _process(1 + rounds, *pool_files(Path(folder), counts))
    own = [[split["settings"][CPU] + split["declare"][CPU] for split in splits] for splits in warm]
    return dict(zip(counts, map(list, zip(*own, strict=True)), strict=True))


def pool_files(folder: Path, counts: Sequence[int]) -> list[Path]:
    """Files of stacks like STACK_FILE's with so many spot pools."""
    # Not above: Pulumi imports it too, and that counts.
    import yaml

    config = yaml.safe_load(STACK_FILE.read_text())["config"]
    spot = {"machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 2}
    files = [folder / f"Pulumi.pools{count}.yaml" for count in counts]
    for count, file in zip(counts, files, strict=True):
        config["kubeflow-spot:pools"] = [{"name": f"p{number}", **spot} for number in range(count)]
        file.write_text(yaml.safe_dump({"config": config}))
    return files


if __name__ == "__main__":
    _run(int(sys.argv[1]), [Path(file) for file in sys.argv[2:]])
