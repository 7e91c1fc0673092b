"""What is installed in a job with credentials, by the commands that Pulumi's Python host runs there itself, and how old it is.

Before each program `uv sync --inexact`, at `pulumi install` `uv sync` (pulumi/pulumi v3.258.0, sdk/python/toolchain/uv.go,
`Command` and `InstallDependencies`): without options, so what they install is up to the job's environment.
Packages are a week old before they are locked.
"""

import os
import re
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tests.workflows.conftest import GitHub
from tests.workflows.faults import ACQUISITION
from tests.workflows.files import PROJECT, workflow

pytestmark = pytest.mark.process

SETTINGS = {
    name: {key: value for key, value in workflow(name)["jobs"][name]["env"].items() if key.startswith("UV_")}
    for name in ("read", "up")
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("pyproject.toml", "uv.lock", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, tmp_path)
    (tmp_path / "sandbox").mkdir()
    shutil.copy(PROJECT / "sandbox" / "pyproject.toml", tmp_path / "sandbox")
    return tmp_path


def sync(folder: Path, settings: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run the host's command with the pinned uv. It is only asked what it would do, so it needs no network."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("UV", "VIRTUAL_ENV"))}
    command = [str(PROJECT / "scripts" / "uv"), "sync", *options, "--dry-run", "--offline"]
    settings = inherited | settings | {"UV_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def installed(done: subprocess.CompletedProcess[str]) -> set[str]:
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^ \+ ([\w.-]+)", done.stderr, re.MULTILINE))


def direct(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", text)[0] for text in requirements}  # type: ignore[index]


@pytest.mark.parametrize("options", [["--inexact"], []], ids=["before a program", "pulumi install"])
def test_beside_credentials_only_the_programs_packages_are_installed(checkout: Path, options: list[str]) -> None:
    assert SETTINGS["read"] == SETTINGS["up"]
    packages = installed(sync(checkout, SETTINGS["up"], *options))
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    assert direct(project["project"]["dependencies"]) <= packages
    assert [
        name for name in project["dependency-groups"] if direct(project["dependency-groups"][name]) & packages
    ] == []
    # Nothing is built: a build would bring hatchling, which no lock file pins, and run it.
    assert "kubeflow-spot" not in packages
    locked = tomllib.loads((PROJECT / "uv.lock").read_text())["package"]
    assert packages - {package["name"] for package in locked if package.get("wheels")} == set()


def test_without_the_settings_of_the_job_the_host_installs_the_sandboxs_packages_too(checkout: Path) -> None:
    assert {"pytest", "psutil", "rich", "kubeflow-spot"} <= installed(sync(checkout, {}, "--inexact"))


def test_the_operators_workspace_has_the_same_settings() -> None:
    documents = yaml.safe_load_all((PROJECT / "examples" / "operator" / "staging.yaml").read_text())
    stack = next(document for document in documents if document["kind"] == "Stack")
    settings = {name: value["literal"]["value"] for name, value in stack["spec"]["envRefs"].items()}
    assert {name: value for name, value in settings.items() if name.startswith("UV_")} == SETTINGS["up"]
    assert settings[ACQUISITION] == "true"


NOW = datetime(2026, 11, 22, tzinfo=UTC)


def lock(**packages: str) -> str:
    """Return a lock file; a package's files are named by their digests, each with its age in days: `a:3 b:9`."""
    text = 'version = 1\n[[package]]\nname = "project"\nsource = { editable = "." }\n'
    for name, ages in packages.items():
        text += f'[[package]]\nname = "{name}"\nversion = "1"\n'
        wheels = [entry.split(":") for entry in ages.split()]
        shown = [
            f'{{ url = "u", hash = "{digest}"' + (f', upload-time = "{time(int(age))}"' if age else "") + " }"
            for digest, age in wheels
        ]
        text += f"wheels = [{', '.join(shown)}]\n"
    return text


def time(age: int) -> str:
    return (NOW - timedelta(days=age)).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("base", "head", "young"),
    [
        ({}, {"new": "a:8"}, []),
        ({}, {"new": "a:6"}, ["new 1"]),
        ({"old": "a:6"}, {"old": "a:6"}, []),
        ({"old": "a:90"}, {"old": "a:90 b:1"}, ["old 1"]),
        ({}, {"silent": "a:"}, ["silent 1"]),
        ({}, {"one": "a:9", "two": "b:2", "three": "c:8 d:3"}, ["two 1", "three 1"]),
    ],
)
def test_a_young_package_is_named(github: GitHub, base: dict[str, str], head: dict[str, str], young: list[str]) -> None:
    assert github.script("cooldown").young(lock(**base), lock(**head), NOW) == young


def test_the_projects_own_lock_file_tells_the_age_of_every_package(github: GitHub) -> None:
    text = (PROJECT / "uv.lock").read_text()
    long_after = NOW + timedelta(days=1000)
    assert github.script("cooldown").young(lock(), text, long_after) == []
