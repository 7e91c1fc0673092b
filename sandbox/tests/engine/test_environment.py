"""The environment of an older revision, from its own lock file."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT
from sandbox.engine import environment
from sandbox.engine.environment import Environment

pytestmark = pytest.mark.process


@pytest.fixture
def revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a program whose lock file has no package."""
    cache = Path(os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv")
    monkeypatch.setenv("UV_CACHE_DIR", str(cache))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "revision"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "bare"\nversion = "1"\nrequires-python = ">=3.11"\n')
    lock = '[[package]]\nname = "bare"\nversion = "1"\nsource = { virtual = "." }\n'
    (folder / "uv.lock").write_text(f'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n\n{lock}')
    return folder


def ask(environment_of_base: Environment, question: str, folder: Path) -> object:
    """Return the JSON that a line of Python prints in the environment."""
    done = subprocess.run(
        [environment_of_base.python, "-c", f"import json, sys; print(json.dumps({question}))"],
        env={**os.environ, **environment_of_base.variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_another_lock_file_gives_another_environment_with_this_sandbox_and_nothing_else_of_the_work_tree(
    revision: Path, tmp_path: Path
) -> None:
    other = environment.environment_of(revision, tmp_path / "packages")
    find = "__import__('importlib.util').util.find_spec"
    assert ask(other, f"{find}('sandbox') is not None", tmp_path)
    assert ask(other, f"[{find}(name) is None for name in ('config', 'components', 'pulumi')]", tmp_path) == [True] * 3
    # The sandbox's own needs come from this environment where the lock file has none of them.
    worker = "__import__('sandbox.engine.worker').engine.worker"
    looked = f"(sys.path.append(__import__('os').environ[{worker}.FALLBACK]), __import__('click').__name__)[1]"
    assert ask(other, looked, tmp_path) == "click"
    assert environment.environment_of(revision, tmp_path / "more").python == other.python


def test_the_same_lock_file_gives_the_running_environment(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(PROJECT / name, tmp_path)
    assert environment.environment_of(tmp_path, tmp_path / "packages") == Environment()


def test_a_lock_file_that_does_not_fit_is_an_error(revision: Path, tmp_path: Path) -> None:
    with (revision / "pyproject.toml").open("a") as file:
        file.write('dependencies = ["click"]\n')
    with pytest.raises(SandboxError, match="the environment of the base's lock file cannot be made"):
        environment.environment_of(revision, tmp_path / "packages")
