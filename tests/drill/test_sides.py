"""How the stacks of a comparison come up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.yaml_file import read_yaml
from sandbox.cli.commands import main
from sandbox.drill import command
from sandbox.engine.cloud_file import CloudFile, Entry
from sandbox.report import environment
from sandbox.report.worker import Outcome

QUOTAS = {"westeurope": {"cores": 100}}
GROUP = {"type": "azure-native:resources:ResourceGroup", "inputs": {"resourceGroupName": "shared"}}


class Scratch:
    """Remembers the cloud file of the stack that it is asked to bring up."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cloud = folder, Path()

    def build(self, notify: Any) -> None:
        pass

    def run(self, *arguments: Any) -> Outcome:
        self.cloud = arguments[5]
        return Outcome()


def cloud_of(folder: Path, monkeypatch: pytest.MonkeyPatch, option: Path | None = None) -> Path | None:
    monkeypatch.setattr(environment, "of", lambda *others: None)
    home, scratch = Home("dev", folder, folder), Scratch(folder)
    command._brought_up(home, command.Side("now", folder / "x.yaml"), scratch, option, print)  # type: ignore[arg-type]
    return scratch.cloud


def test_a_stack_comes_up_anew_with_the_cloud_file_of_the_running_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cloud_of(tmp_path, monkeypatch) is None
    kept = CloudFile(QUOTAS, [Entry(str(GROUP["type"]), {"resourceGroupName": "shared"}, "resources[0]", made=True)])
    kept.keep(tmp_path / "dev" / "cloud")
    found = cloud_of(tmp_path, monkeypatch)
    assert found is not None
    assert read_yaml(found) == {"quotas": QUOTAS, "resources": [GROUP]}
    own = tmp_path / "own.yaml"
    assert cloud_of(tmp_path, monkeypatch, own) == own


def test_a_cloud_file_is_for_stacks_that_come_up_anew(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").touch()
    refused = CliRunner().invoke(main, ["drill", "--cloud", str(tmp_path / "own.yaml")])
    assert refused.exit_code == 2
    assert "--cloud does nothing without --config-file or --against" in refused.output


def test_the_command_takes_another_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def copied(home: Home, folder: Path, notify: Any, check: Any, name: str | None) -> Any:
        asked.append(name)
        raise SandboxError("that is all")

    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    monkeypatch.setattr(command, "copied", copied)
    assert "that is all" in CliRunner().invoke(main, ["drill", "--cluster", "other"]).output
    assert asked == ["other"]
