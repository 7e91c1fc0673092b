"""The package as its users get it: built and installed, checked by mypy, and its README run."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.components.program import PROJECT
from tests.examples import contracts
from tests.examples.environment import PACKAGE, inside

README = PACKAGE / "README.md"
UV = str(PROJECT / "scripts" / "uv")


def _run(*command: str, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _installed(source: str, folder: Path) -> str:
    """Install into an empty environment, import all modules, and return what the environment holds."""
    _run(UV, "venv", "--quiet", "--python", sys.executable, str(folder))
    python = str(folder / "bin" / "python")
    _run(UV, "pip", "install", "--quiet", "--python", python, source)
    modules = (
        "import kubeflow_spot; from kubeflow_spot import manifests, models, pipelines; print(kubeflow_spot.__file__)"
    )
    assert str(folder) in _run(python, "-I", "-c", modules, cwd=folder)
    return _run(UV, "pip", "freeze", "--python", python)


@pytest.mark.slow
@pytest.mark.process
def test_wheel_and_sdist_are_whole_and_install_alone(tmp_path: Path) -> None:
    _run(UV, "build", "--quiet", "--out-dir", str(tmp_path), str(PACKAGE))
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (metadata,) = [packed.read(name).decode() for name in names if name.endswith("/METADATA")]
    sources = {f"kubeflow_spot/{path.name}" for path in (PACKAGE / "kubeflow_spot").iterdir() if path.is_file()}
    assert {name for name in names if name.startswith("kubeflow_spot/")} == sources
    assert "kubeflow_spot/py.typed" in names
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "Requires-Python: >=3.10\n" in metadata
    assert all("; extra ==" in line for line in metadata.splitlines() if line.startswith("Requires-Dist"))
    for built in (wheel, sdist):
        held = _installed(str(built), tmp_path / built.suffix)
        assert held.splitlines() == [f"kubeflow-spot-placement @ {built.as_uri()}"]


@pytest.mark.slow
@pytest.mark.process
def test_the_readmes_commands_install_it_from_a_checkout_and_a_repository(tmp_path: Path) -> None:
    """The repository's host is this machine: `OWNER` stands for the reader's."""
    repository = tmp_path / "repository"
    ignored = ["__pycache__", ".git"]
    for path in PACKAGE.rglob("*"):
        if path.is_file() and not {*path.parts} & {*ignored}:
            copied = repository / path.relative_to(PROJECT)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(path.read_bytes())
    git = ("git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.com")
    _run("git", "init", "--quiet", str(repository))
    _run(*git, "add", ".")
    _run(*git, "commit", "--quiet", "--message", "x")
    (block,) = re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    commands = block.splitlines()
    assert len(commands) == 2
    for index, line in enumerate(commands):
        source = line.removeprefix("pip install ").strip('"')
        source = source.replace("https://github.com/OWNER/kubeflow-spot", repository.as_uri())
        source = source.replace("./", f"{repository}/")
        assert "kubeflow-spot-placement @ " in _installed(source, tmp_path / str(index))


USER = """
from kubeflow_spot import Contract, ContractError, Lines, Pool, manifests

def gpu_pod(contract: Contract) -> dict[str, object]:
    lines: Lines = contract.lines("require-spot")
    pools: list[Pool] = contract.pools_for({"nvidia.com/gpu": "1"})
    return manifests.placed({"kind": "Pod", "spec": {"nodeName": pools[0].label}}, lines)

own = Lines(node_selector={"kubeflow-spot.dev/pool": "t4"})
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("", ""),
        ("own.tolerations = ()", "[misc]"),
        ('own.node_selectors["a"]', "[attr-defined]"),
        ("Lines(1)", "[arg-type]"),
    ],
)
def test_a_users_file_is_checked_by_the_packages_types(line: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER + line + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", "user.py"]
    environment = {"MYPYPATH": str(PACKAGE), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not error), done.stdout + done.stderr
    assert error in done.stdout


@pytest.mark.slow
@pytest.mark.process
def test_the_readmes_blocks_run_and_ask_for_a_gpu_that_kubernetes_knows(tmp_path: Path) -> None:
    made = inside(contracts.written(tmp_path), str(README), program=Path(__file__).with_name("readme_inside.py"))
    assert made["resources"]["accelerator"]["resourceType"] == "nvidia.com/gpu"
    assert made["gpu limit alone"] == {"accelerator": {"count": "1", "resourceCount": "1"}}
    assert {each["key"] for each in made["kubernetes"]["tolerations"]} >= {"nvidia.com/gpu"}
    assert made["kubernetes"]["nodeAffinity"]
    template = made["job"]["spec"]["template"]
    assert template["metadata"]["labels"] == {"kubeflow-spot.dev/placement": "prefer-spot"}
    assert template["spec"]["affinity"] == made["sdk"]
    assert made["patches"][0]["manager"] == "example.com/me"


def test_the_readme_is_short_and_its_blocks_are_of_tested_languages() -> None:
    assert len(README.read_bytes()) < 2600
    assert set(re.findall(r"^```(\w+)$", README.read_text(), re.MULTILINE)) == {"console", "python"}
