"""No token reaches the base's program, nor what installs its packages."""

import json
import os
import sys
from pathlib import Path

import pytest

from sandbox.base.home import PROJECT
from sandbox.base.tokens import without_tokens
from sandbox.engine.environment import Environment
from sandbox.engine.scratch import Scratch
from sandbox.toolchain import locked_environment

TOKENS = (
    *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_RUNTIME_TOKEN"),
    *("ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("AZURE_STORAGE_ACCOUNT", "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "GH_TOKEN", "GITHUB_TOKEN"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE", "SSH_AUTH_SOCK"),
    *("UV_PUBLISH_TOKEN", "registry_password"),
)
NEEDED = (
    *("GOGC", "HOME", "HTTPS_PROXY", "LANG", "PATH", "PATHEXT", "SANDBOX_HOME", "SSL_CERT_FILE"),
    *("UV_CACHE_DIR", "XDG_CACHE_HOME"),
)
PRINTS = """#!{python}
import json, os, sys
with open({file!r}, "w") as file:
    json.dump(sorted(os.environ), file)
print("{{}}")
"""


def test_names_of_tokens_are_told_from_names_that_are_needed() -> None:
    assert without_tokens(dict.fromkeys((*TOKENS, *NEEDED), "x")) == dict.fromkeys(NEEDED, "x")
    assert set(without_tokens({"UV_INDEX_OURS_PASSWORD": "x", "OURS_PASSWORD": "y"}, but="UV_INDEX")) == {
        "UV_INDEX_OURS_PASSWORD"
    }


@pytest.fixture
def printing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a program that writes the names of its environment, and where it writes them."""
    for name in TOKENS:
        monkeypatch.setenv(name, "x")
    program, file = tmp_path / "program", tmp_path / "names"
    program.write_text(PRINTS.format(python=sys.executable, file=str(file)))
    program.chmod(0o755)
    return program, file


@pytest.mark.process
def test_the_bases_program_runs_without_tokens(printing: tuple[Path, Path], tmp_path: Path) -> None:
    program, file = printing
    scratch = Scratch(tmp_path)
    scratch.run("up", "dev", tmp_path, Environment(str(program), {"PYTHONPATH": "x"}), print, None)
    names = set(json.loads(file.read_text()))
    assert names & set(TOKENS) == set()
    assert {"PATH", "HOME", "PYTHONPATH", "SANDBOX_HOME"} <= names


@pytest.mark.process
def test_its_packages_are_installed_without_tokens(
    printing: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, file = printing
    monkeypatch.setenv("UV", str(program))
    monkeypatch.setenv("UV_INDEX_OURS_PASSWORD", "x")
    assert (
        locked_environment.sync(tmp_path, tmp_path / "environment", script=PROJECT / "scripts" / "uv").returncode == 0
    )
    names = set(json.loads(file.read_text()))
    assert names & set(TOKENS) == set()
    assert {"PATH", "UV_PROJECT_ENVIRONMENT", "UV_INDEX_OURS_PASSWORD"} <= names


def test_the_tests_themselves_have_no_token() -> None:
    assert set(os.environ) == set(without_tokens(os.environ, but="UV_INDEX"))
