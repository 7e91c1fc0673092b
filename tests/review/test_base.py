"""`sandbox preview --base REV` on a repository with two commits, through the real engine."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox.tests.repository import Repository
from sandbox.tests.stack import until

pytestmark = pytest.mark.engine


def command(repository: Repository, *arguments: str) -> tuple[list[str], dict[str, str]]:
    environment = {name: value for name, value in os.environ.items() if name != "SANDBOX_HOME"}
    return [sys.executable, "-m", "sandbox", "preview", "--cwd", str(repository.folder), *arguments], environment


def preview(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    line, environment = command(repository, *arguments)
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def leftovers(repository: Repository) -> list[str]:
    """Remains of a comparison: files in the sandbox's home, and processes that work in it."""
    home = repository.folder / ".sandbox"
    processes = [" ".join(p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"])]
    # Unlike `rglob`, it passes over a folder that goes meanwhile.
    files = [str(Path(folder, name)) for folder, folders, names in os.walk(home) for name in (*folders, *names)]
    return files + [line for line in processes if str(repository.folder) in line]


def edit(repository: Repository, stack: str, *edits: tuple[str, str]) -> dict[str, str]:
    """Return a stack file's text with replacements, each of which must match once."""
    text = (repository.folder / f"Pulumi.{stack}.yaml").read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return {f"Pulumi.{stack}.yaml": text}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    two_commits = Repository.of_the_project(tmp_path_factory.mktemp("two") / "project")
    yield two_commits
    assert leftovers(two_commits) == []


@pytest.fixture
def report(repository: Repository, tmp_path: Path) -> Any:
    """Return the report on a head with another bound and label in dev and another release in prod."""
    repository.commit(
        edit(repository, "dev", ("maxNodes: 8", "maxNodes: 9"), ('gpu: "true"', 'gpu: "true", team: "vision"'))
    )
    repository.commit(edit(repository, "prod", ("release: r2026-09", "release: r2026-11")))
    before = repository.bytes()
    done = preview(
        repository, "--base", "HEAD~2", "--report-dir", str(tmp_path), "--fail-on", "replace", "--fail-on", "delete"
    )
    assert done.returncode == 0, done.stderr
    assert repository.bytes() == before
    assert "not said of staging" not in (tmp_path / "report.md").read_text()
    return json.loads((tmp_path / "report.json").read_text())


def test_the_report_names_exactly_what_the_head_changes_in_each_stack(report: Any) -> None:
    stacks = {stack["stack"]: stack for stack in report["stacks"]}
    assert {name: stack["status"] for name, stack in stacks.items()} == {
        "dev": "previewed",
        "prod": "previewed",
        "staging": "unchanged",
    }
    dev = {
        (c["op"], c["name"], p["path"], p["before"], p["after"])
        for c in stacks["dev"]["changes"]
        for p in c["properties"]
    }
    contract = {change for change in dev if change[1] == "ml-dev-contract"}
    assert {change[2] for change in contract} == {'data["pools.json"]', 'data["pools.yaml"]'}
    assert dev - contract == {
        ("update", "ml-dev-t4", "maxCount", "8", "9"),
        ("update", "ml-dev-t4", "nodeLabels.team", None, '"vision"'),
        # The on-demand twin has the labels of its pool.
        ("update", "ml-dev-t4od", "nodeLabels.team", None, '"vision"'),
    }

    prod = stacks["prod"]
    assert prod["release"] == ["r2026-09", "r2026-11"]
    assert {change["op"] for change in prod["changes"]} == {"create", "update"}
    created = {change["name"] for change in prod["changes"] if change["op"] == "create"}
    policies = ("ml-prod-defaults", "ml-prod-lost-pods", "ml-prod-lost-pods-guard")
    assert created == {*policies, *(f"{policy}-binding" for policy in policies)}
    versions = {
        (change["name"], p["before"], p["after"])
        for change in prod["changes"]
        for p in change["properties"]
        if "ersion" in p["path"]
    }
    pools = ("system-pool", "general", "t4", "t4od", "t4big", "a100", "a100od")
    assert versions == {(name, '"1.35"', '"1.36"') for name in ("ml-prod", *(f"ml-prod-{pool}" for pool in pools))}
    others = {change["name"] for change in prod["changes"]} - created - {name for name, *_ in versions}
    assert others == {"ml-prod-contract"}


def test_a_head_with_wrong_settings_reports_all_errors_and_fails(repository: Repository) -> None:
    repository.commit(
        edit(repository, "dev", ("Standard_NC4as_T4_v3", "Standard_NC6s_v3"), ("name: general", "name: General"))
    )
    try:
        done = preview(repository, "--base", "HEAD~1", "--json")
    finally:
        repository.git("revert", "--no-edit", "HEAD")
    assert done.returncode == 1
    (stack,) = [stack for stack in json.loads(done.stdout)["stacks"] if stack["status"] != "unchanged"]
    assert (stack["stack"], stack["status"], stack["changes"]) == ("dev", "failed", [])
    errors = "\n".join(stack["errors"])
    assert 'Pulumi.dev.yaml:21: pools[0] "General": name: ' in errors
    assert 'Pulumi.dev.yaml:26: pools[1] "t4": machine: ' in errors
    assert "Traceback" not in errors + done.stderr


NOTEBOOK = """
import pulumi_kubernetes as k8s

own = k8s.Provider("own", kubeconfig=cluster.outputs["kubeconfig"])
spec = {
    "node_selector": {"kubeflow-spot.dev/pool": "general"},
    "containers": [{"name": "main", "image": "example.com/notebook:1"}],
}
k8s.core.v1.Pod("notebook", metadata={"name": "notebook"}, spec=spec, opts=pulumi.ResourceOptions(provider=own))
"""
"""What a program declares beside the cluster: a pod on the pool `general`."""


@pytest.mark.slow
def test_a_renamed_pool_in_use_is_refused_in_the_report_with_its_pods_and_nodes(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"__main__.py": (repository.folder / "__main__.py").read_text() + NOTEBOOK})
    repository.commit(edit(repository, "dev", ("name: general", "name: cpu")))
    try:
        done = preview(repository, "--base", "HEAD~1", "--stack", "dev", "--report-dir", str(tmp_path))
    finally:
        repository.git("revert", "--no-edit", "HEAD", "HEAD~1")
    assert done.returncode == 1
    (stack,) = json.loads((tmp_path / "report.json").read_text())["stacks"]
    refusal = (
        r"the on-demand pool general would go .* pods default/notebook on nodes (aks-general-\d{8}-vmss[0-9a-z]{6})"
    )
    (node,) = re.findall(refusal, "\n".join(stack["errors"]))
    # A line may end after a sign in a name (`<wbr>`).
    page = (tmp_path / "report.md").read_text().replace("<wbr>", "")
    assert "default/notebook" in page
    assert node in page


def test_a_base_that_does_not_run_is_an_error_and_leaves_nothing(repository: Repository) -> None:
    repository.commit(edit(repository, "dev", ("release: ", "release: r1999-01 # ")))
    repository.git("revert", "--no-edit", "HEAD")
    done = preview(repository, "--base", "HEAD~1")
    assert done.returncode == 1
    assert "the base does not run: stack 'dev' did not come up" in done.stderr
    assert "r1999-01" in done.stderr
    assert "Traceback" not in done.stderr
    assert leftovers(repository) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_ended_comparison_leaves_nothing_and_after_a_killed_one_the_next_cleans_up(
    repository: Repository, number: int
) -> None:
    repository.commit(edit(repository, "dev", ("config:", f"# {number}\nconfig:")))
    line, environment = command(repository, "--base", "HEAD~1")
    running = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert until(lambda: any("etcd" in process for process in leftovers(repository)), 120)
    running.send_signal(number)
    running.wait()
    if number == signal.SIGKILL:
        assert leftovers(repository)
        done = preview(repository, "--base", "HEAD")
        assert done.returncode == 0, done.stderr
    assert until(lambda: leftovers(repository) == [], 60), leftovers(repository)


def test_an_unknown_revision_is_an_error(repository: Repository) -> None:
    done = preview(repository, "--base", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: --base: 'nowhere' is no revision of this repository")
    assert leftovers(repository) == []


def test_files_outside_every_stack_give_an_empty_report_without_an_engine(repository: Repository) -> None:
    repository.commit({"README.md": "changed\n", "tests/test_more.py": "\n", "docs/more.md": "\n"})
    done = preview(repository, "--base", "HEAD~1", "--json")
    assert done.returncode == 0, done.stderr
    assert [(stack["status"], stack["changes"]) for stack in json.loads(done.stdout)["stacks"]] == [
        ("unchanged", [])
    ] * 3
    assert "bringing" not in done.stderr
