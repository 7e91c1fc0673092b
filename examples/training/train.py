"""Training that loses nothing with its node: it keeps checkpoints, resumes from them and may run twice.

    python train.py --steps 400 --checkpoint-every 20 --checkpoints /mnt/checkpoints/run-1
    python train.py --steps 400 --checkpoint-every 20 --checkpoints gs://BUCKET/team-a/run-1

Only the standard library is needed; a bucket also needs fsspec and its driver (`gcsfs`, `adlfs`). The model is a small linear
regression on data that the seed alone decides, so that a run which was interrupted ends with exactly the numbers of one that
was not. Put a model of your own in place of `batch`, `gradient` and `State.weights`, and keep the rest:

- a checkpoint is written whole or not at all, and holds everything that the next step needs;
- step k reads nothing but the state and k, so that a step done twice is the same step;
- a finished run writes its result last: started again, it answers at once;
- SIGTERM ends the step, writes a checkpoint and exits with 143. A node gives 30 seconds on AKS, and pods 15 of them on GKE. A
  step of a Kubeflow pipeline gets none: its launcher ends at once, and only the checkpoints at intervals count (docs/workloads.md).
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import math
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

FEATURES, BATCH = 4, 16
TRUE_WEIGHTS = (2.0, -3.0, 0.5, 1.25)

INTERRUPTED = 143
"""Exit status after SIGTERM: 128 + 15."""

KEPT = 2
"""Checkpoints that stay: the newest, and the one before in case the newest cannot be read."""


class WrongRun(Exception):
    """The place holds checkpoints of a run with other settings."""


class Store(Protocol):
    """Files of one run. A file is there whole or not at all."""

    def names(self) -> list[str]:
        """Return the names of all files, sorted."""

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises FileNotFoundError."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in place of one of that name."""

    def remove(self, name: str) -> None:
        """Remove a file; a missing one is no error."""


class Folder:
    """A folder, such as a mounted volume or bucket."""

    _UNFINISHED = ".unfinished-"

    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(parents=True, exist_ok=True)
        for left in path.glob(f"{self._UNFINISHED}*"):  # by a process that was killed while it wrote
            left.unlink(missing_ok=True)

    def names(self) -> list[str]:
        return sorted(path.name for path in self._path.iterdir() if not path.name.startswith("."))

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        # A file that is renamed is there whole or not at all; one that is being written when the node goes is not.
        handle, unfinished = tempfile.mkstemp(prefix=self._UNFINISHED, dir=self._path)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, self._path / name)
        finally:
            Path(unfinished).unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)


class Bucket:
    """A path in a bucket or container, such as `gs://BUCKET/PATH` or `abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH`.

    An object appears with its last byte, so no temporary name is needed.
    """

    def __init__(self, url: str) -> None:
        import fsspec  # type: ignore[import-not-found, unused-ignore]  # only for buckets

        self._files, self._path = fsspec.core.url_to_fs(url.rstrip("/"))

    def names(self) -> list[str]:
        self._files.invalidate_cache()  # an earlier listing would hide the checkpoint of the pod before
        try:
            return sorted(str(path).rpartition("/")[2] for path in self._files.ls(self._path, detail=False))
        except FileNotFoundError:
            return []
        except Exception as refused:  # each driver has errors of its own
            raise SystemExit(f"error: {self._path} cannot be listed; a new right takes minutes: {refused}") from None

    def read(self, name: str) -> bytes:
        return bytes(self._files.cat_file(f"{self._path}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        self._files.pipe_file(f"{self._path}/{name}", content)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._path}/{name}")


def store(place: str) -> Store:
    """Return the store of a folder or of a bucket's URL."""
    return Bucket(place) if "://" in place else Folder(Path(place))


@dataclass(frozen=True)
class Settings:
    """A run: equal settings give equal numbers."""

    steps: int = 200
    learning_rate: float = 0.05
    seed: int = 7


@dataclass
class State:
    """Everything that the next step needs."""

    step: int
    """Steps that are done."""
    weights: list[float]
    loss: float


def batch(settings: Settings, step: int) -> list[tuple[list[float], float]]:
    """Return the samples of a step. A step's number and the seed decide them, never the steps before."""
    generator = random.Random(f"{settings.seed}/{step}")
    samples = []
    for _ in range(BATCH):
        features = [generator.uniform(-1, 1) for _ in range(FEATURES)]
        noise = generator.uniform(-0.01, 0.01)
        samples.append((features, product(TRUE_WEIGHTS, features) + noise))
    return samples


def product(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the sum of products; rounded once, so that it is the same number in every Python."""
    return math.fsum(x * y for x, y in zip(left, right, strict=True))


def gradient(weights: list[float], samples: list[tuple[list[float], float]]) -> tuple[list[float], float]:
    """Return the gradient of the mean squared error, and the error."""
    total, loss = [0.0] * len(weights), 0.0
    for features, wanted in samples:
        error = product(weights, features) - wanted
        loss += error * error / len(samples)
        for index, feature in enumerate(features):
            total[index] += 2 * error * feature / len(samples)
    return total, loss


def advanced(settings: Settings, state: State) -> State:
    """Return the state one step later."""
    slope, loss = gradient(state.weights, batch(settings, state.step))
    weights = [w - settings.learning_rate * s for w, s in zip(state.weights, slope, strict=True)]
    return State(state.step + 1, weights, loss)


def save(files: Store, settings: Settings, state: State) -> None:
    """Write a checkpoint; older ones go, but for the one before."""
    content = json.dumps({"settings": asdict(settings), "state": asdict(state)}, sort_keys=True)
    body = json.dumps({"content": content, "sha256": hashlib.sha256(content.encode()).hexdigest()})
    files.write(_checkpoint(state.step), body.encode())
    for name in _checkpoints(files)[:-KEPT]:
        files.remove(name)


def resume(files: Store, settings: Settings) -> State:
    """Return the state of the newest checkpoint that can be read, else the beginning.

    Raises WrongRun when it belongs to a run with other settings: its numbers would be a mixture.
    """
    for name in reversed(_checkpoints(files)):
        try:
            body = json.loads(files.read(name))
            content = body["content"]
            if hashlib.sha256(content.encode()).hexdigest() != body["sha256"]:
                raise ValueError("checksum")
        except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
            print(f"skipped checkpoint {name}: {error}", file=sys.stderr, flush=True)
            continue
        saved = json.loads(content)
        _same_run(name, saved["settings"], settings)
        return State(**saved["state"])
    return State(0, [0.0] * FEATURES, float("inf"))


def train(
    settings: Settings,
    files: Store,
    checkpoint_every: int,
    stopped: Callable[[], bool] = lambda: False,
    after_step: Callable[[State], None] = lambda state: None,
) -> State | None:
    """Train to the end; the last state, or None when `stopped` said so before. `after_step` sees every step that this
    call does. Raises WrongRun.
    """
    if "result.json" in files.names():
        saved = json.loads(files.read("result.json"))
        _same_run("result.json", saved["settings"], settings)
        return State(**saved["state"])
    state = resume(files, settings)
    while state.step < settings.steps:
        if stopped():
            save(files, settings, state)
            return None
        state = advanced(settings, state)
        after_step(state)
        if state.step % checkpoint_every == 0:
            save(files, settings, state)
    result = {"settings": asdict(settings), "state": asdict(state)}
    files.write("result.json", json.dumps(result, sort_keys=True).encode())
    return state


def _checkpoint(step: int) -> str:
    return f"step-{step:09d}.json"


def _checkpoints(files: Store) -> list[str]:
    return [name for name in files.names() if name.startswith("step-")]


def _same_run(name: str, saved: dict[str, Any], settings: Settings) -> None:
    if saved != asdict(settings):
        raise WrongRun(f"{name} belongs to a run with {saved}, not {asdict(settings)}: choose another place")


def main(arguments: list[str] | None = None) -> int:
    """Run as a program; the exit status."""
    parser = argparse.ArgumentParser(description="Training that resumes from its checkpoints.")
    parser.add_argument("--steps", type=int, default=Settings.steps)
    parser.add_argument("--learning-rate", type=float, default=Settings.learning_rate)
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--checkpoints", required=True, help="a folder, or a URL such as gs://BUCKET/PATH")
    parser.add_argument("--checkpoint-every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--gpu", action="store_true", help="end at once where the GPU's driver cannot be loaded")
    parser.add_argument("--seconds-per-step", type=float, default=0.0, help="makes the run as long as a real one")
    chosen = parser.parse_args(arguments)
    if chosen.gpu:
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError as missing:
            # Frameworks would train on the CPU and say so in one line of their logs, while the GPU is paid for.
            raise SystemExit(f"error: no driver of a GPU: {missing}; docs/workloads.md has the remedy") from None
    settings = Settings(chosen.steps, chosen.learning_rate, chosen.seed)
    files = store(chosen.checkpoints)
    told_to_end: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: told_to_end.append(number))

    def after_step(state: State) -> None:
        time.sleep(chosen.seconds_per_step)
        if state.step % chosen.checkpoint_every == 0:
            # The form that Katib's metrics collector reads: NAME=VALUE.
            print(f"step={state.step} loss={state.loss!r}", flush=True)

    try:
        state = train(settings, files, chosen.checkpoint_every, lambda: bool(told_to_end), after_step)
    except WrongRun as wrong:
        print(f"error: {wrong}", file=sys.stderr, flush=True)
        return 2
    if state is None:
        print("interrupted, a checkpoint is written", file=sys.stderr, flush=True)
        return INTERRUPTED
    print(f"done step={state.step} loss={state.loss!r} weights={state.weights!r}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
