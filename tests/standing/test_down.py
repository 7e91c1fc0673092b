"""The end of a stack: died processes, `down`, and a protected stack."""

import json
import re
from pathlib import Path

import psutil
import pytest

from sandbox.tests.stack import Stack
from sandbox.tests.subjects import Subject

pytestmark = pytest.mark.engine


@pytest.mark.repeats
def test_a_cluster_whose_processes_died_comes_back_with_the_next_up(stack: Stack, subject: Subject) -> None:
    running = processes_below(stack.home)
    assert len(running) == 6
    for process in running:
        process.kill()
    psutil.wait_procs(running, timeout=10)
    assert json.loads(stack.run("up", "--json").stdout)["steps"] == []
    assert len(stack.get("nodes")["items"]) == sum(subject.at_first.values())


@pytest.mark.repeats
def test_down_leaves_no_process_and_no_state_and_up_works_again(stack: Stack, subject: Subject) -> None:
    printed = stack.run("down").stdout
    # `down` removes the stack itself.
    assert "pulumi stack rm" not in printed
    assert printed.endswith(f"stack {stack.name} is down\n")
    assert processes_below(stack.home) == []
    assert sorted(path.name for path in stack.home.iterdir()) == [
        f"{subject.name}+cloud.lock",
        f"{subject.name}+command.lock",
    ]
    assert "is not up" in stack.run("down").stdout
    assert re.search(r"is up after .*: \d+ create$", stack.run("up").stdout, re.MULTILINE)
    assert stack.steps() == []


def processes_below(home: Path) -> list[psutil.Process]:
    """Running processes with a path below the sandbox's home in their command."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(str(home) in part for part in process.info["cmdline"] or [])
    ]


@pytest.mark.slow
def test_a_protected_stack_refuses_down_and_loses_nothing_and_no_command_changes_a_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    prod = Stack.copy(tmp_path_factory.mktemp("prod"), "prod")
    prod.run("up")
    try:
        nodes = len(prod.get("nodes")["items"])
        refused = prod.run("down", ok=False)
        assert "because it is protected" in refused.stdout
        assert re.search(r"down --stack prod .*--force", refused.stderr)
        assert len(prod.get("nodes")["items"]) == nodes == 5
        assert prod.steps() == []
        versions = {node["status"]["nodeInfo"]["kubeletVersion"] for node in prod.get("nodes")["items"]}
        assert [version.rpartition(".")[0] for version in versions] == ["v1.35"]
        for command in ("status", "outputs", "preview", "up"):
            prod.run(command)
        prod.run("scale", "t4", "1")
        assert prod.changed_files() == ""
    finally:
        prod.run("down", "--force")
    assert prod.changed_files() == ""
    assert processes_below(prod.home) == []
