"""The command `preflight`: what a user reads, and its exit status."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from checks.findings import Exit, Unasked
from checks.preflight import clouds, preflight_command
from checks.ready import reader
from checks.ready import ready_command as ready
from config.clouds.existing.existing_traits import ExistingCluster
from tests.checks.preflight.accounts import PROJECT, answers, wanted
from tests.checks.ready.clusters import load


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to the project's folder without a login: the Azure CLI is not on the path, and the environment has nothing else."""
    monkeypatch.chdir(PROJECT)
    for name in [name for name in os.environ if name.startswith(("ARM_", "AZURE_", "ACTIONS_ID_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", "00000000-0000-0000-0000-000000000000")


def test_without_credentials_the_command_says_one_sentence() -> None:
    done = CliRunner().invoke(preflight_command.main, ["--stack", "dev"])
    assert done.exit_code == Exit.UNASKED
    assert done.output.startswith(
        "error: no credentials for Azure, so nothing was asked: Azure CLI not found on path; "
    )
    assert done.output.count("\n") == 1


def test_another_cloud_than_the_public_one_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARM_ENVIRONMENT", "usgovernment")
    done = CliRunner().invoke(preflight_command.main, ["--stack", "dev"])
    assert (done.exit_code, done.output.count("\n")) == (Exit.UNASKED, 1)
    assert "the environment usgovernment is not Azure's public cloud" in done.output


@pytest.mark.parametrize("error", [KeyError("a"), ValueError("read\ntimed out"), KeyboardInterrupt()])
def test_an_error_that_nobody_foresaw_is_one_sentence_and_never_a_defect(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> None:
        raise error

    for place in ("read_account", "findings"):
        with monkeypatch.context() as patched:
            patched.setattr(clouds, "read_account", lambda demand, account: answers("azure"))
            patched.setattr(clouds, place, fails)
            done = CliRunner().invoke(preflight_command.main, ["--json"])
        assert (done.exit_code, done.output.count("\n")) == (Exit.UNASKED, 1)
        assert re.search(
            r"^error: (interrupted|an error .* in tests/checks/preflight/test_command.py:\d+), so nothing", done.output
        )


def test_a_faulty_stack_file_is_refused_with_its_problems_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (PROJECT / "Pulumi.dev.yaml").read_text()
    (tmp_path / "Pulumi.dev.yaml").write_text(text.replace("maxNodes: 8", "maxNodes: many"))
    foreign = text.replace("maxNodes: 8", "maxCount: 8\n      minCount: 0\n      osDiskSizeGb: 128")
    (tmp_path / "Pulumi.foreign.yaml").write_text(foreign)
    (tmp_path / "Pulumi.list.yaml").write_text("[]")
    (tmp_path / "Pulumi.broken.yaml").write_text("a: 1\n\tb: 2\n")
    monkeypatch.chdir(tmp_path)
    for stack, words in {
        "dev": "Pulumi.dev.yaml:28: pools[1] \"t4\": maxNodes: is 'many'",
        "foreign": 'mended, pool "t4" reads:',
        "broken": "Pulumi.broken.yaml:2: cannot be read as YAML",
        "list": "has no `config`",
        "other": "there are: broken, dev, foreign, list",
    }.items():
        done = CliRunner().invoke(preflight_command.main, ["--stack", stack])
        assert (done.exit_code, "Traceback" in done.output) == (Exit.UNASKED, False)
        assert words in done.output


def test_a_cluster_that_no_cloud_is_known_of_cannot_be_asked() -> None:
    demand = wanted("azure")
    with pytest.raises(Unasked, match="use `ready`"):
        clouds.read_account(replace(demand, cloud=ExistingCluster()), None)


def test_without_the_group_of_clients_the_command_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: object) -> None:
        raise ModuleNotFoundError("no", name="azure.identity")

    monkeypatch.setattr("checks.preflight.azure.azure_reading.read_account", missing)
    done = CliRunner().invoke(preflight_command.main, [])
    assert done.exit_code == Exit.UNASKED
    assert "azure.identity is not installed: run `make preflight`" in done.output


def test_findings_are_a_table_or_json_and_an_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    given = answers("azure")
    monkeypatch.setattr(clouds, "read_account", lambda demand, account: given)
    done = CliRunner().invoke(preflight_command.main, [])
    assert done.exit_code == Exit.READY
    assert done.output.splitlines()[-1] == "dev: ready; 9 ok"
    monkeypatch.setattr(clouds, "read_account", lambda demand, account: replace(given, account="subscription 1"))
    assert (
        CliRunner().invoke(preflight_command.main, []).output.splitlines()[-1] == "dev in subscription 1: ready; 9 ok"
    )
    monkeypatch.setattr(clouds, "read_account", lambda demand, account: given)
    given.part("usages")[0]["limit"] = 0
    done = CliRunner().invoke(preflight_command.main, ["--json"])
    shown = json.loads(done.output)
    assert (done.exit_code, shown["exitStatus"], shown["ready"]) == (Exit.WRONG, 1, False)
    (wrong,) = [finding for finding in shown["findings"] if finding["state"] == "wrong"]
    assert wrong["check"] == "quota"
    assert wrong["remedy"]
    assert wrong["source"].startswith("learn.microsoft.com/")


def test_what_the_program_warns_of_in_a_stack_file_is_printed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clouds, "read_account", lambda demand, account: answers("azure"))
    monkeypatch.setattr(reader, "open_snapshot", lambda *arguments: load("dev"))
    for command in (preflight_command.main, ready.main):
        findings = json.loads(CliRunner().invoke(command, ["--stack", "prod", "--json"]).output)["findings"]
        first = next(each for each in findings if "authorizedRanges" in each["says"])
        assert findings.index(first) < 3
        assert (first["check"], first["state"], first["source"]) == (
            "stack-file",
            "note",
            "docs/reference/stack-file.md",
        )
        assert first["says"].startswith(
            "Pulumi.prod.yaml:16: cloud.access.authorizedRanges[0]: has 203.0.113.0/24 in it, which examples show"
        )
        assert first["remedy"] == "write the public addresses of your callers"
