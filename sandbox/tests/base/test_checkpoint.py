"""The engine's state file, where it is broken or gone, and the copy that brings it back."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home

STATE = {"version": 4, "checkpoint": {"latest": {"resources": [{"urn": "urn", "type": "a:b:C", "id": "one"}]}}}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home("dev", tmp_path, tmp_path / "a home")


@pytest.fixture
def state(home: Home) -> Path:
    path = home.backend / ".pulumi" / "stacks" / "tiny" / "dev.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(STATE))
    return path


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (lambda path: path.write_text(path.read_text()[:30]), "is cut off or broken"),
    "empty": (lambda path: path.write_text(""), "is cut off or broken"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe\x00"), "is cut off or broken"),
    "another file": (lambda path: path.write_text("[]"), "is cut off or broken"),
    "newer": (lambda path: path.write_text(json.dumps({**STATE, "version": 5})), "reads up to 4"),
    "gone": (Path.unlink, "is gone"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_state_is_an_error_that_names_its_copy(how: str, home: Home, state: Path) -> None:
    Checkpoint(home).keep_copy()
    breaks, says = BROKEN[how]
    breaks(state)
    for read in (Checkpoint(home).resources, Checkpoint(home).keep_copy, lambda: Checkpoint(home).exists("tiny")):
        with pytest.raises(SandboxError) as refused:
            read()
        assert says in str(refused.value)
        assert str(state) in str(refused.value)
    remedy = str(refused.value).partition("`")[2].partition("`")[0]
    subprocess.run(shlex.split(remedy), check=True)
    assert Checkpoint(home).resources() == STATE["checkpoint"]["latest"]["resources"]  # type: ignore[index]


def test_without_a_copy_the_remedy_is_another_sandbox(home: Home, state: Path) -> None:
    state.write_text("{")
    with pytest.raises(SandboxError, match="`down --force` removes this stack's sandbox"):
        Checkpoint(home).outputs()


def test_a_stack_that_never_had_a_state_is_empty(home: Home) -> None:
    Checkpoint(home).keep_copy()
    assert Checkpoint(home).resources() == []
    assert not Checkpoint(home).exists("tiny")
