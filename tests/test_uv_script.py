"""`scripts/uv`, which installs uv once for a user, for any number of simultaneous first commands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "uv"

# As `python3 -m pip install --target FOLDER` does, with this many shells at the same time.
PYTHON = f"""\
#!/bin/sh
case "$*" in
*"pip install"*)
  while [ "$1" != --target ]; do shift; done
  touch "$WAITING/$$"
  while [ "$(ls "$WAITING" | wc -l)" -lt "$SHELLS" ]; do sleep 0.02; done
  mkdir -p "$2/bin"
  printf '#!/bin/sh\\necho "uv $*"\\n' > "$2/bin/uv"
  chmod +x "$2/bin/uv" ;;
*"pip --version"*) ;;
*) exec {sys.executable} "$@" ;;
esac
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a machine without uv."""
    programs, waiting = tmp_path / "bin", tmp_path / "waiting"
    programs.mkdir()
    waiting.mkdir()
    for name in ("sh", "sed", "dirname", "mkdir", "mktemp", "rm", "mv", "touch", "ls", "wc", "sleep", "chmod"):
        path = shutil.which(name)
        assert path
        (programs / name).symlink_to(path)
    (programs / "python3").write_text(PYTHON)
    (programs / "python3").chmod(0o755)
    return {"PATH": str(programs), "HOME": str(tmp_path), "WAITING": str(waiting), "SHELLS": "1"}


@pytest.mark.process
@pytest.mark.parametrize("shells", [1, 3])
def test_first_commands_that_race_leave_one_uv(shells: int, environment: dict[str, str], tmp_path: Path) -> None:
    settings = environment | {"SHELLS": str(shells)}
    running = [
        subprocess.Popen([SCRIPT, "run", str(n)], env=settings, stdout=subprocess.PIPE, text=True)
        for n in range(shells)
    ]
    assert [process.communicate(timeout=30)[0] for process in running] == [f"uv run {n}\n" for n in range(shells)]
    (home,) = (tmp_path / ".cache" / "kubeflow-spot").iterdir()
    assert [path.name for path in home.iterdir()] == ["bin"]
    assert os.listdir(home / "bin") == ["uv"]


@pytest.mark.process
def test_a_folder_in_the_way_is_named(environment: dict[str, str], tmp_path: Path) -> None:
    subprocess.run([SCRIPT], env=environment, check=True, capture_output=True)
    (home,) = (tmp_path / ".cache" / "kubeflow-spot").iterdir()
    (home / "bin" / "uv").unlink()
    (home / "bin" / "other").touch()
    done = subprocess.run([SCRIPT], env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"error: {home} is there without bin/uv; remove it" in done.stderr
    assert [path.name for path in home.parent.iterdir()] == [home.name]
