"""actionlint and zizmor on the workflows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.toolchain.programs import ensure
from tests.workflows.files import FOLDER

pytestmark = pytest.mark.process

ZIZMOR = Path(sys.executable).with_name("zizmor")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with only the workflows, which a test may break."""
    shutil.copytree(FOLDER, tmp_path / ".github")
    (tmp_path / ".git").mkdir()
    return tmp_path


def actionlint(folder: Path) -> subprocess.CompletedProcess[str]:
    """actionlint without the two linters of a developer's PATH."""
    binary = ensure(["actionlint"], print)["actionlint"]
    command = [str(binary), "-no-color", "-shellcheck=", "-pyflakes="]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    # Without a token it sends no request; --offline also forbids requests.
    command = [
        str(ZIZMOR),
        "--offline",
        "--no-progress",
        "--strict-collection",
        "--persona=auditor",
        str(folder / ".github"),
    ]
    settings = {name: value for name, value in os.environ.items() if name not in {"GH_TOKEN", "GITHUB_TOKEN"}}
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


@pytest.mark.tools
def test_actionlint_has_no_finding(checkout: Path) -> None:
    done = actionlint(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.tools
def test_actionlint_reports_a_fault(checkout: Path) -> None:
    up = checkout / ".github" / "workflows" / "up.yml"
    up.write_text(up.read_text().replace("${{ inputs.stack }}", "${{ inputs.stak }}"))
    done = actionlint(checkout)
    assert done.returncode == 1
    assert 'property "stak" is not defined' in done.stdout


def test_zizmor_has_no_finding(checkout: Path) -> None:
    done = zizmor(checkout)
    assert done.returncode == 0, done.stdout
    assert "No findings to report" in done.stdout + done.stderr


def test_zizmor_reports_a_fault(checkout: Path) -> None:
    preview = checkout / ".github" / "workflows" / "preview.yml"
    preview.write_text(preview.read_text().replace("pull_request:", "pull_request_target:"))
    done = zizmor(checkout)
    assert done.returncode != 0
    assert "dangerous-triggers" in done.stdout
