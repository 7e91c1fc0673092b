"""Rules for the workflow files: those that no linter knows, those that must not depend on one, and two linters."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from config.base.problems import Problem, report
from config.stack_file.positions import Positions
from sandbox.cli.commands import main as sandbox
from sandbox.toolchain.programs import ensure
from tests.workflows import faults
from tests.workflows.faults import triggers
from tests.workflows.files import ACTIONS, FOLDER, PROJECT, WORKFLOWS, jobs, read, scalars, steps, workflow

ALL = [*WORKFLOWS, *ACTIONS]
STACKS = {path.name.split(".")[1] for path in PROJECT.glob("Pulumi.*.yaml")}
PINNED = re.compile(r"uses: (?:\./[\w./-]+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+(?:\.\d+)?)$")


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(PROJECT / ".github").as_posix() for path in paths]


def test_the_workflow_files_are_read() -> None:
    of_clouds = {"cloud-preview", "deploy", "up", "read", "drift"}
    wanted = {"check", "dependencies", "preview", "preview-comment", "release"} | of_clouds
    assert {path.stem for path in WORKFLOWS} == wanted


@pytest.mark.parametrize("path", ALL, ids=names(ALL))
def test_every_action_is_pinned_to_a_commit_with_its_version_beside_it(path: Path) -> None:
    used = [line.strip().removeprefix("- ") for line in path.read_text().splitlines() if re.search(r"\buses:", line)]
    assert len(used) == len([text for text in used if PINNED.match(text)]), used


def test_one_action_has_one_commit_everywhere() -> None:
    commits: dict[str, set[str]] = {}
    for path in ALL:
        for name, commit in re.findall(r"uses: ([\w/-]+)@(\S+)", path.read_text()):
            commits.setdefault(name, set()).add(commit)
    assert commits
    assert {name: shas for name, shas in commits.items() if len(shas) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=names(WORKFLOWS))
def test_a_workflow_starts_with_no_rights_and_each_job_names_its_own(path: Path) -> None:
    assert read(path)["permissions"] == {}
    for name, job in jobs(path).items():
        assert "contents" in job["permissions"], name
        writes = {right for right, access in job["permissions"].items() if access == "write"}
        allowed = {"pull-requests"} if path.stem == "preview-comment" else {"id-token"}
        if path.stem in {"check", "dependencies", "preview"}:
            allowed = set()
        if path.stem == "release":
            allowed = {"attest": {"id-token", "attestations"}, "publish": {"contents"}}.get(name, set())
        assert writes <= allowed, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=names(WORKFLOWS))
def test_every_job_ends_and_no_checkout_leaves_its_token(path: Path) -> None:
    for name, job in jobs(path).items():
        assert "timeout-minutes" in job or "uses" in job, name
    for step in steps(read(path)):
        if str(step.get("uses", "")).startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", ALL, ids=names(ALL))
def test_no_script_has_an_expression_pasted_into_it(path: Path) -> None:
    scripts = [step["run"] for step in steps(read(path)) if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("path", ALL, ids=names(ALL))
def test_no_workflow_uses_a_secret_of_the_repository(path: Path) -> None:
    assert [text for text in scalars(read(path)) if "secrets." in text or "secrets[" in text] == []
    assert "secrets: inherit" not in path.read_text()


def test_a_strangers_code_runs_only_with_the_right_to_read_and_on_no_privileged_event() -> None:
    preview = workflow("preview")
    assert set(triggers(preview)) == {"pull_request"}
    for job in preview["jobs"].values():
        assert job["permissions"] == {"contents": "read"}
        assert "environment" not in job
    assert [text for text in scalars(preview) if "github.token" in text] == []
    assert "pull_request_target" not in "".join(path.read_text() for path in ALL)


def test_the_workflow_that_comments_takes_nothing_from_the_pull_request() -> None:
    comment = workflow("preview-comment")
    assert triggers(comment) == {"workflow_run": {"workflows": [workflow("preview")["name"]], "types": ["completed"]}}
    all_steps = list(steps(comment))
    checkouts = [step for step in all_steps if "checkout" in step.get("uses", "")]
    assert [set(step["with"]) for step in checkouts] == [{"persist-credentials"}] * 2
    assert [step for step in all_steps if "download-artifact" in step.get("uses", "")] == []
    assert [
        step for step in all_steps for text in scalars(step) if "github.event" in text or "github.head" in text
    ] == []
    assert [text for text in scalars(comment) if "actions/cache" in text] == []


@pytest.mark.parametrize("name", ["cloud-preview", "up", "read", "drift"])
def test_jobs_with_cloud_credentials_restore_no_cache(name: str) -> None:
    assert [step for step in steps(workflow(name)) if "cache" in step.get("uses", "")] == []


def test_every_stack_has_a_place_in_the_rules_of_the_workflows_with_credentials() -> None:
    assert set(faults.READERS) == set(faults.ASKED) == STACKS


def test_a_deployment_runs_the_policies_and_a_watch_expects_no_change() -> None:
    ups = [step["run"] for step in steps(workflow("up")) if "pulumi up" in step.get("run", "")]
    assert len(ups) == 1
    assert {"--yes", "--policy-pack"} <= set(shlex.split(ups[0]))
    assert "--skip-preview" not in ups[0]
    watch = " ".join(step["run"] for step in steps(workflow("read")) if "run" in step)
    assert {"--refresh", "--expect-no-changes", "--policy-pack"} <= set(watch.replace(";", "").split())


def test_the_options_of_sandbox_commands_exist() -> None:
    script = next(
        step["run"] for step in workflow("preview")["jobs"]["preview"]["steps"] if "--base" in step.get("run", "")
    )
    words = shlex.split(script.replace("\\\n", " "))
    assert words[:5] == ["./scripts/uv", "run", "--locked", "sandbox", "preview"]
    context = command("preview").make_context("preview", words[5:])
    assert context.params["fail_on"] == ("replace", "delete", "policy")
    assert context.params["report_dir"].name == "report"
    drawing = command("report").make_context(
        "report", [str(PROJECT / "README.md"), "--longest", "60000", "--pointer", "u"]
    )
    assert (drawing.params["longest"], drawing.params["pointer"]) == (60_000, "u")


def command(name: str) -> click.Command:
    assert isinstance(sandbox, click.Group)
    found = sandbox.get_command(click.Context(sandbox), name)
    assert found
    return found


# --- linters ---

ZIZMOR = Path(sys.executable).with_name("zizmor")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository with only the workflows, which a test may break."""
    shutil.copytree(FOLDER, tmp_path / ".github")
    (tmp_path / ".git").mkdir()
    return tmp_path


def actionlint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run actionlint without the two linters of a developer's PATH."""
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


@pytest.mark.process
@pytest.mark.tools
def test_actionlint_has_no_finding(checkout: Path) -> None:
    done = actionlint(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.process
@pytest.mark.tools
def test_actionlint_reports_a_fault(checkout: Path) -> None:
    up = checkout / ".github" / "workflows" / "up.yml"
    up.write_text(up.read_text().replace("${{ inputs.stack }}", "${{ inputs.stak }}"))
    done = actionlint(checkout)
    assert done.returncode == 1
    assert 'property "stak" is not defined' in done.stdout


def test_problems_are_shown_at_their_lines_of_the_stack_file() -> None:
    """https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md"""
    (matcher,) = json.loads((FOLDER / "stack-file-problems.json").read_text())["problemMatcher"]
    (pattern,) = matcher["pattern"]
    text = (PROJECT / "Pulumi.dev.yaml").read_text()
    positions = Positions.of_text("Pulumi.dev.yaml", text, lambda key: key.removeprefix("kubeflow-spot:"))
    shown = report([positions.located(Problem("pools[1].maxNodes", "is '8', in quotes", "write 8"))])
    heading, line, remedy = shown.splitlines()
    found = re.fullmatch(pattern["regexp"], f"    {line}")
    assert found
    assert found[pattern["file"]] == "Pulumi.dev.yaml"
    assert text.splitlines()[int(found[pattern["line"]]) - 1] == "      maxNodes: 8"
    assert found[pattern["message"]].endswith("is '8', in quotes")
    warned = re.fullmatch(pattern["regexp"], f"    warning: {line.strip()}")
    assert warned
    assert warned[pattern["severity"]] == "warning"
    assert not any(re.fullmatch(pattern["regexp"], other) for other in (heading, remedy))
    for name in ("preview", "read", "up"):
        commands = [str(step.get("run")) for step in steps(read(FOLDER / "workflows" / f"{name}.yml"))]
        (added,) = [number for number, run in enumerate(commands) if "::add-matcher::" in run]
        assert ".github/stack-file-problems.json" in commands[added]
        assert any("preview" in run or "pulumi up" in run for run in commands[added + 1 :])


@pytest.mark.process
def test_zizmor_has_no_finding(checkout: Path) -> None:
    done = zizmor(checkout)
    assert done.returncode == 0, done.stdout
    assert "No findings to report" in done.stdout + done.stderr


@pytest.mark.process
def test_zizmor_reports_a_fault(checkout: Path) -> None:
    preview = checkout / ".github" / "workflows" / "preview.yml"
    preview.write_text(preview.read_text().replace("pull_request:", "pull_request_target:"))
    done = zizmor(checkout)
    assert done.returncode != 0
    assert "dangerous-triggers" in done.stdout
