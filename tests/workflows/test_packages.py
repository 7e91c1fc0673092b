"""What is installed in a job with credentials, by the commands that Pulumi's Python host runs there itself.

Before each program `uv sync --inexact`, at `pulumi install` `uv sync` (pulumi/pulumi v3.258.0, sdk/python/toolchain/uv.go,
`Command` and `InstallDependencies`): without options, so what they install is up to the job's environment.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

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
    """The host's command with the pinned uv. It is only asked what it would do, so it needs no network."""
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
