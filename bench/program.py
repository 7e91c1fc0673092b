"""The cost of the program by itself: the unmodified `__main__.py` under Pulumi's mocks, in a process of its own.

`python -m bench.program ROUNDS ALIASES STACK_FILE...` runs it and prints the time of its parts. CPU is that of the program's own
thread: the mocks answer in others. The stack's outputs are read here as the tests read them, which takes longer than what
Pulumi's host does with them; the interpreter's start and exit are not in. `bench.whole` measures the real process.
"""

import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from itertools import product
from pathlib import Path
from typing import Any

# Also writes bytecode where Python was asked to write none; without it imports take three times as long.
import sandbox as sandbox

PROJECT = Path(__file__).resolve().parent.parent
SPOT = {
    "dev": {"machine": "Standard_NC4as_T4_v3", "capacity": "spot", "maxNodes": 2},
    "staging": {"machine": "g2-standard-8", "capacity": "spot", "maxNodes": 2},
}
"""The stacks to which pools are added, and the pools."""
# No program can avoid this one: it tells how fast the machine is just then.
PULUMI = "import of Pulumi alone"
SDKS = ("pulumi_azure_native", "pulumi_gcp", "pulumi_kubernetes")
OTHERS, SETTINGS, DECLARE = "all other imports", "settings", "declare"

CPU, WALL = 0, 1
Split = dict[str, tuple[float, float]]
"""CPU and wall-clock seconds by part: each module of an SDK is one."""


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


def _part(module: str) -> str:
    """Return the part to which the import of a module is charged."""
    package, _, inside = module.partition(".")
    return f"import of {package}.{inside.partition('.')[0]}".rstrip(".") if package in SDKS else OTHERS


def _run(rounds: int, aliases: list[bool], stack_files: list[Path]) -> None:
    """Run the program on each stack file in each round; print the splits, and which modules had to be compiled, as JSON.

    Only the first run has imports. A run without `aliases` has none of those that the SDKs' classes give their resources.
    """
    clock = Clock()
    with clock.part(PULUMI):
        import pulumi

    import pytest

    from tests.components import program

    early = {"pydantic", *SDKS} & sys.modules.keys()
    assert not early, f"imported before the clock runs: {early}"

    compiled: list[str] = []
    execute, translate = SourceFileLoader.exec_module, SourceFileLoader.source_to_code

    def timed_execute(loader: SourceFileLoader, module: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            return execute(loader, module)
        # The SDKs' modules load at the first use of a name in them, in the midst of declaring.
        with clock.part(_part(module.__name__)):
            return execute(loader, module)

    def noted_translate(loader: SourceFileLoader, data: Any, path: Any, **options: Any) -> Any:
        compiled.append(str(path))
        return translate(loader, data, path, **options)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(SourceFileLoader, "exec_module", timed_execute)
        monkeypatch.setattr(SourceFileLoader, "source_to_code", noted_translate)
        from components import settings

        monkeypatch.setattr(settings, "load", clock.part(SETTINGS)(settings.load))
        splits: list[list[Split]] = []
        for _ in range(rounds):
            splits.append([])
            for file, aliased in product(stack_files, aliases):
                config = program.stack_config(file)
                with pytest.MonkeyPatch.context() as recorder:
                    if not aliased:
                        nothing = property(lambda self: None, lambda self, value: None)
                        recorder.setattr(pulumi.ResourceOptions, "aliases", nothing, raising=False)
                    with clock.part(DECLARE):
                        program.declare(config, recorder)
                splits[-1].append({part: spent for part, spent in clock.spent.items() if part})
                clock.spent.clear()
                # What this run leaves is not the next one's to collect.
                gc.collect()
                gc.freeze()
    json.dump({"compiled": compiled, "splits": splits}, sys.stdout)


def _process(rounds: int, *stack_files: Path, aliases: str = "1") -> list[list[Split]]:
    """Return splits by round and stack file, of one process with warm bytecode; by `aliases` "10" each with and without."""
    command = (sys.executable, "-m", "bench.program", str(rounds), aliases, *map(str, stack_files))
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
    """Return a checked-in stack, in a process of its own each time."""
    return [_process(1, PROJECT / f"Pulumi.{name}.yaml")[0][0] for _ in range(runs)]


def aliases(name: str, rounds: int) -> list[float]:
    """Return the CPU seconds that a checked-in stack's resources spend on aliases; imports are done before."""
    _, *warm = _process(1 + rounds, PROJECT / f"Pulumi.{name}.yaml", aliases="10")
    return [_own(with_them) - _own(without) for with_them, without in warm]


def pools(name: str, rounds: int, counts: tuple[int, ...]) -> dict[int, list[float]]:
    """Return the CPU seconds for settings and declarations of stacks, by their number of spot pools; imports are done before."""
    with tempfile.TemporaryDirectory() as folder:
        _, *warm = _process(1 + rounds, *pool_files(name, Path(folder), counts))
    own = [[_own(split) for split in splits] for splits in warm]
    return dict(zip(counts, map(list, zip(*own, strict=True)), strict=True))


def _own(split: Split) -> float:
    return split[SETTINGS][CPU] + split[DECLARE][CPU]


def pool_files(name: str, folder: Path, counts: Sequence[int]) -> list[Path]:
    """Write files of stacks like a checked-in one with so many spot pools."""
    # Not above: Pulumi imports it too, and that counts.
    import yaml

    config = yaml.safe_load((PROJECT / f"Pulumi.{name}.yaml").read_text())["config"]
    files = [folder / f"Pulumi.pools{count}.yaml" for count in counts]
    for count, file in zip(counts, files, strict=True):
        config["kubeflow-spot:pools"] = [{"name": f"p{number}", **SPOT[name]} for number in range(count)]
        file.write_text(yaml.safe_dump({"config": config}))
    return files


if __name__ == "__main__":
    _run(int(sys.argv[1]), [digit == "1" for digit in sys.argv[2]], [Path(file) for file in sys.argv[3:]])
