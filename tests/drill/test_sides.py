"""The sides of a comparison: how their stacks come up, what both have alike, and the folder of a drill's report."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from drill import command, sides
from drill.command import writable
from drill.play.source import Captured
from drill.world import basis, scenario
from drill.world.basis import Basis
from drill.world.weeks import week
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.yaml_file import read_yaml
from sandbox.cli.commands import main
from sandbox.engine import environment
from sandbox.engine.cloud_file import CloudFile, Entry
from sandbox.engine.revision import Revision
from sandbox.engine.worker import Outcome
from tests.drill import records
from tests.drill.machine_bed import Cloud

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
    monkeypatch.setattr(environment, "environment_of", lambda *others: None)
    home, scratch = Home("dev", folder, folder), Scratch(folder)
    sides.bring_up(home, sides.Side("now", folder / "x.yaml"), scratch, option, print)  # type: ignore[arg-type]
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


def compared(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[list[Any], str]:
    """Return the sides that a command compares, each with the basis that it gets, and its output."""
    seen: list[Any] = []
    own = Basis({"spot": 8, "on-demand": 2}, {}, {}, {}, ())

    def drill(work: command.Work, side: sides.Side, same: Basis | None, progress: Any) -> command.Drilled:
        seen.append((side, same))
        return command.Drilled(records.spot_gone(), same or own, [])

    monkeypatch.setenv("SANDBOX_HOME", str(folder / "home"))
    monkeypatch.setattr(command, "_drill_side", drill)
    monkeypatch.setattr(command, "check_side", lambda *others: None)
    # Charts take seconds to draw.
    monkeypatch.setattr("drill.report.write", lambda *others: [])
    done = CliRunner().invoke(main, ["drill", "spot-gone", "--report-dir", str(folder / "report"), *arguments])
    assert done.exit_code == 0, done.output
    return seen, done.output


def test_the_second_side_has_the_basis_and_the_lengths_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.yaml"
    other.touch()
    ((_, first), (_, second)), output = compared(tmp_path, monkeypatch, "--against", str(other))
    assert first is None
    assert second.gpus == {"spot": 8, "on-demand": 2}
    assert second.run_for["team-a"] == records.NEEDS
    assert "Before: Pulumi.dev.yaml. After: other.yaml." in output
    assert "counted from Pulumi.dev.yaml: shares of the 2 GPUs on demand" in " ".join(output.split())


@pytest.mark.parametrize(("text", "said"), [("", " is empty"), ("config: [", ":1: is not YAML")])
def test_the_second_file_is_checked_before_the_first_drill_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(text)
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(command, "_drill_side", lambda *others: pytest.fail("a drill began"))
    done = CliRunner().invoke(main, ["drill", "--against", str(other), "--report-dir", str(tmp_path / "report")])
    assert done.exit_code == 1
    assert f"other.yaml{said}" in done.output


def test_a_second_file_that_the_program_refuses_is_said_before_the_first_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("config: {}")
    monkeypatch.setattr(environment, "environment_of", lambda *others: None)
    seen: list[str] = []

    class Refusing(Scratch):
        def run(self, *arguments: Any) -> Outcome:
            seen.append(arguments[0])
            return Outcome(errors=("pools: is missing",))

    @contextmanager
    def opened(*others: Any) -> Iterator[Scratch]:
        yield Refusing(tmp_path)

    monkeypatch.setattr(sides, "opened_scratch", opened)
    with pytest.raises(SandboxError, match="would not come up:\npools: is missing"):
        sides.check_side(Home("dev", tmp_path, tmp_path), sides.Side("other.yaml", other), None, print)
    assert seen == ["preview"]


def test_sides_are_named_by_their_files_and_those_of_one_name_by_their_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / folder / name for folder, name in (("a", "x.yaml"), ("b", "x.yaml"), ("b", "y.yaml"))]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.touch()

    def names(*arguments: str) -> list[str]:
        return [side.name for side, _ in compared(tmp_path, monkeypatch, *arguments)[0]]

    x, other, y = map(str, files)
    assert names("--config-file", x, "--against", y) == ["x.yaml", "y.yaml"]
    assert names("--config-file", x, "--against", other) == [x, other]
    monkeypatch.setattr(Revision, "of", lambda project, name, *others: Revision(project, name, "0" * 40))
    assert names("--against", "main") == ["main", "work tree"]
    assert names("--config-file", x, "--against", "main") == ["main", "x.yaml"]
    assert names("--config-file", x) == ["now"]


def test_what_is_no_file_and_no_revision_is_refused_with_the_option_that_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    refused = CliRunner().invoke(main, ["drill", "--against", "missing.yaml"])
    assert refused.exit_code == 1
    assert "--against: 'missing.yaml' is no file, and no revision of this repository; name" in refused.output


def test_the_command_takes_another_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def copied(home: Home, folder: Path, notify: Any, check: Any, name: str | None) -> Any:
        asked.append(name)
        raise SandboxError("that is all")

    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path))
    monkeypatch.setattr(command, "copied", copied)
    assert "that is all" in CliRunner().invoke(main, ["drill", "--cluster", "other"]).output
    assert asked == ["other"]


EMPTY = Basis({}, {}, {}, {}, ())


def request(directory: Path) -> command.Request:
    return command.Request("spot-gone", 1, directory)


def drill(folder: Path, directory: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]) -> None:
    """Run the command with this in place of a drill."""
    monkeypatch.setattr(command, "_drill_side", run)
    home = Home("dev", folder, folder / "home")
    try:
        command.drill(home, request(directory), lambda line: None, lambda side: lambda now, length: None)
    finally:
        assert not list(folder.rglob("tmp*")), "the probe is left"


@pytest.mark.parametrize("directory", ["/proc/nothing", "file/below"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_drill(
    directory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()

    def run(*others: Any) -> None:
        pytest.fail("the drill ran")

    with pytest.raises(SandboxError, match=r"report cannot be written into .*; .*--report-dir"):
        drill(tmp_path, tmp_path / directory, monkeypatch, run)


def test_the_result_is_printed_before_a_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*others: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("drill.report.write", full)
    with pytest.raises(SandboxError, match="No space left on device"):
        drill(
            tmp_path, tmp_path / "report", monkeypatch, lambda *others: command.Drilled(records.spot_gone(), EMPTY, [])
        )
    assert "Work lost for good" in capsys.readouterr().out


def test_a_folder_made_for_a_drill_that_fails_is_removed_and_another_stays(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("old", "new"):
        with pytest.raises(KeyboardInterrupt), writable(tmp_path / name):
            raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


OWN = Basis({"spot": 8, "on-demand": 2}, {("T4", "1"): 8}, {"T4": 8}, {"T4": 1}, ("1",))
LARGER = replace(OWN, largest={"T4": 16, "A100": 4}, gpus_by_machine={"T4": 4, "A100": 8}, zones=("0", "1"))


def test_the_sizes_are_those_of_the_pools() -> None:
    found = basis.basis_of_cloud(Cloud(Captured()), "c")
    assert found.gpus == {"spot": 6, "on-demand": 6}
    assert found.nodes == {("NC4", "eu-1"): 3, ("NC4", "eu-2"): 3}
    assert (found.largest, found.gpus_by_machine, found.zones) == ({"NC4": 6}, {"NC4": 1}, ("eu-1", "eu-2"))


def test_an_amount_is_a_number_or_a_share_and_no_share_is_nothing() -> None:
    amounts = (0, 12, "50% of spot", "300% of on-demand", "1% of spot")
    assert [OWN.amount(amount) for amount in amounts] == [0, 12, 4, 6, 1]


def test_the_second_sides_week_has_the_capacity_of_the_first_and_its_further_zones_and_machines_beside() -> None:
    first = OWN.drawn_week(1, OWN)
    assert first == week(1, ["T4"], ["1"], {"T4": 8}, {"T4": 1})
    second = OWN.drawn_week(1, LARGER)
    assert [step for step in second if (step.machine, step.zone) == ("T4", "1")] == first
    assert {(step.machine, step.zone) for step in second} == {(m, z) for m in ("T4", "A100") for z in ("0", "1")}
    assert max(step.nodes or 0 for step in second if step.machine == "T4") == 8
    assert LARGER.drawn_week(1, LARGER) != second


SAME, SIZED = "Both sides have the same work", "Both sides have the same work and the same spot capacity"
SENTENCES = {
    "eviction-storm": f"{SAME}.",
    "spot-gone": f"{SAME}, counted from main: shares of the 2 GPUs on demand.",
    "spot-going": f"{SIZED}, counted from main: shares of the 8 GPUs on spot; spot capacity for its spot pools.",
    "week": f"{SIZED}, counted from main: spot capacity for its spot pools.",
}


@pytest.mark.parametrize(("name", "sentence"), SENTENCES.items())
def test_the_sentence_says_what_is_counted_from_the_first_side(name: str, sentence: str) -> None:
    assert basis.same_work_sentence(scenario.load_scenario(name), OWN, "main") == sentence
