"""The training example loses nothing: interrupted anywhere, it ends with the numbers of an undisturbed run.

Under a notice no step is lost where a save fits into it, else at most one interval: real processes, real signals.
`python -m bench.checkpoints notice` measures more times.
"""

import importlib.util
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import checkpoints
from bench.checkpoints import INTERVALS, Lost, goodput, lost, spells

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "training" / "train.py"
STEPS, EVERY = 60, 7


def loaded() -> ModuleType:
    """Return the example as a module; it is in no package, because users copy the file."""
    spec = importlib.util.spec_from_file_location("train", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module
    spec.loader.exec_module(module)
    return module


train = loaded()
SETTINGS = train.Settings(steps=STEPS)


class Memory:
    """A store whose writer may lose its node before the file is there, or just after."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> bytes:
        return self.files[name]

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def remove(self, name: str) -> None:
        self.files.pop(name, None)


class NodeLost(Exception):
    pass


def test_the_file_to_copy_is_read_in_one_sitting() -> None:
    assert len(PROGRAM.read_text().splitlines()) < 300


def test_it_learns() -> None:
    state = train.train(SETTINGS, Memory(), EVERY)
    assert state.step == STEPS
    assert state.loss < train.train(train.Settings(steps=5), Memory(), EVERY).loss / 3


@settings(max_examples=25)
@given(st.lists(st.integers(1, STEPS), max_size=4))
def test_runs_that_lose_their_nodes_end_with_the_same_numbers(losses: list[int]) -> None:
    undisturbed, files = Memory(), Memory()
    wanted = train.train(SETTINGS, undisturbed, EVERY)
    steps = 0
    for allowed in losses:
        done = 0

        def lose(state: object, allowed: int = allowed) -> None:
            nonlocal done, steps
            done, steps = done + 1, steps + 1
            if done == allowed:
                raise NodeLost

        try:
            train.train(SETTINGS, files, EVERY, after_step=lose)
        except NodeLost:
            continue
    assert train.train(SETTINGS, files, EVERY) == wanted
    assert files.files["result.json"] == undisturbed.files["result.json"]
    # No loss costs more than the steps since a checkpoint.
    assert steps <= STEPS + len(losses) * EVERY


def test_a_run_that_is_told_to_stop_loses_no_step() -> None:
    files, seen = Memory(), []
    assert train.train(SETTINGS, files, 1000, lambda: len(seen) == 10, seen.append) is None
    train.train(SETTINGS, files, 1000, after_step=seen.append)
    assert [state.step for state in seen] == list(range(1, STEPS + 1))


def test_a_finished_run_answers_at_once() -> None:
    files, seen = Memory(), []
    wanted = train.train(SETTINGS, files, EVERY)
    assert train.train(SETTINGS, files, EVERY, after_step=seen.append) == wanted
    assert seen == []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"content": "{}", "sha256": "0"}'])
def test_a_checkpoint_that_cannot_be_read_is_skipped(damage: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    files, seen = Memory(), []
    train.train(SETTINGS, files, EVERY, lambda: len(seen) == 20, seen.append)
    newest = files.names()[-1]
    files.write(newest, damage)
    assert train.resume(files, SETTINGS).step == 14
    assert f"skipped checkpoint {newest}" in capsys.readouterr().err


def test_checkpoints_of_another_run_are_refused() -> None:
    files = Memory()
    train.train(SETTINGS, files, EVERY, lambda: True)
    with pytest.raises(train.WrongRun, match="choose another place"):
        train.resume(files, train.Settings(steps=STEPS + 1))


def test_a_folder_has_files_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = train.store(str(tmp_path / "run"))
    files.write("step-1.json", b"old")
    with monkeypatch.context() as broken:
        broken.setattr(train.os, "replace", lambda *names: (_ for _ in ()).throw(NodeLost()))
        with pytest.raises(NodeLost):
            files.write("step-1.json", b"new")
    (tmp_path / "run" / ".unfinished").write_bytes(b"of a pod that is gone")
    assert files.names() == ["step-1.json"]
    assert files.read("step-1.json") == b"old"
    files.remove("step-1.json")
    files.remove("step-1.json")
    assert files.names() == []


@pytest.mark.process
def test_what_killed_writers_left_is_gone_when_the_next_one_starts(tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); import train\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "train.train(train.Settings(steps=40), train.store(sys.argv[2]), 20)"
    )
    command = [sys.executable, "-B", "-S", "-c", code, str(PROGRAM.parent), str(tmp_path)]
    for _ in range(3):
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        # That of the last one.
        assert len(list(tmp_path.iterdir())) == 1
    train.train(train.Settings(steps=40), train.store(str(tmp_path)), 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "result.json",
        "step-000000020.json",
        "step-000000040.json",
    ]


def test_a_gpu_without_a_driver_ends_the_program_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(train.signal, "signal", lambda *handler: None)
    monkeypatch.setattr(train.ctypes, "CDLL", loaded.append)
    command = ["--steps", "2", "--checkpoints", str(tmp_path / "run")]
    assert train.main([*command, "--gpu"]) == 0
    assert loaded == ["libcuda.so.1"]
    monkeypatch.setattr(train.ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(f"{name}: no such file")))
    assert train.main(command) == 0
    # Also where the run is done already, so that a smoke test says it.
    with pytest.raises(SystemExit, match=r"^error: no driver of a GPU: libcuda.so.1: no such file; docs/workloads.md"):
        train.main([*command, "--gpu"])


@pytest.mark.process
def test_sigterm_ends_the_program_with_a_checkpoint(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--checkpoints", str(tmp_path), "--checkpoint-every", "5"]
    with subprocess.Popen(
        [*command, "--seconds-per-step", "0.01"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("step=5 loss=")
        process.send_signal(signal.SIGTERM)
        # As a shell says that a process ended by SIGTERM: 143.
        assert process.wait(10) == train.INTERRUPTED == 128 + signal.SIGTERM
    again = subprocess.run([*command], capture_output=True, text=True, check=True).stdout
    assert json.loads((tmp_path / "result.json").read_text())["state"]["step"] == train.Settings.steps
    assert again.splitlines()[-1].startswith("done step=200 loss=")
    assert "step=5 " not in again


@pytest.mark.process
def test_the_served_model_answers_with_its_weights() -> None:
    """examples/training/serve.py, started as the pipeline's InferenceService starts it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", PROGRAM.with_name("serve.py").read_text()]
    with subprocess.Popen(command, env={"PORT": str(port), "WEIGHTS": "[2.0, -3.0]"}) as server:
        try:
            body = json.dumps({"instances": [[1, 1], [0.5, 0]]}).encode()
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models/model:predict", body)
            assert json.loads(answered(asked)) == {"predictions": [-1.0, 1.0]}
        finally:
            server.kill()


def answered(request: urllib.request.Request) -> bytes:
    """Return the answer of a server that starts."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(200):
        try:
            with direct.open(request, timeout=5) as response:
                return bytes(response.read())
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError("nothing answers")


class Closed:
    """A driver's files at a prefix that the pod may not list."""

    def invalidate_cache(self) -> None:
        pass

    def ls(self, path: str, detail: bool) -> list[str]:
        raise OSError(f"Forbidden: {path}")


def test_a_bucket_that_may_not_be_listed_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = ModuleType("fsspec")
    fsspec.core = type("core", (), {"url_to_fs": staticmethod(lambda url: (Closed(), "b/team-a/run"))})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fsspec", fsspec)
    with pytest.raises(SystemExit, match=r"^error: b/team-a/run cannot be listed; .*Forbidden: b/team-a/run$"):
        train.main(["--checkpoints", "gs://b/team-a/run"])


CASES = {"fits": (0.1, 10.0), "slow and fits": (2.0, 10.0), "too slow": (4.0, 1.0)}
"""Seconds of a save, and from SIGTERM to SIGKILL."""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lost]:
    folder: Path = tmp_path_factory.mktemp("training")
    with ThreadPoolExecutor(len(CASES)) as pool:
        found = pool.map(lambda name: lost(folder / name.replace(" ", "-"), *CASES[name]), CASES)
    return dict(zip(CASES, found, strict=True))


@pytest.mark.process
@pytest.mark.parametrize("name", ["fits", "slow and fits"])
def test_a_save_that_fits_into_the_notice_loses_no_step(ended: dict[str, Lost], name: str) -> None:
    assert ended[name].steps == 0
    assert ended[name].done % checkpoints.EVERY
    assert ended[name].status == 143


@pytest.mark.process
def test_a_save_that_does_not_fit_loses_at_most_one_interval(ended: dict[str, Lost]) -> None:
    assert ended["too slow"].status == -9
    assert 0 < ended["too slow"].steps <= checkpoints.EVERY
    assert ended["too slow"].saved == checkpoints.EVERY


def test_the_best_interval_is_short_where_machines_go_often_and_long_where_the_notice_saves() -> None:
    def best(losses: tuple[float, float], save: float, *, fits: bool) -> int:
        lengths = spells(*losses)
        return max(INTERVALS, key=lambda each: goodput(lengths, 60.0 * each, save, saved_on_notice=fits))

    seldom, often = (1.5, 4.0), (8.0, 21.0)
    assert best(often, 30.0, fits=False) < best(seldom, 30.0, fits=False)
    assert best(seldom, 5.0, fits=False) < best(seldom, 120.0, fits=False)
    assert best(often, 30.0, fits=True) == max(INTERVALS)
    # Two hours of which the last save is lost: 3 restarts of 300 s, and whole cycles of 600 s and 30 s.
    assert goodput([7200.0], 600.0, 30.0, saved_on_notice=False) == pytest.approx(10 * 600 / 7200)
    assert goodput([7200.0], 600.0, 30.0, saved_on_notice=True) == pytest.approx((10 * 600 + 570) / 7200)
