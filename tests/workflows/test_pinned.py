"""Commits that get credentials: the last one of an open pull request from the repository itself, and main's last one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workflows.conftest import GitHub, Machine

SHA = "a" * 40
PULL: dict[str, Any] = {"number": 12, "state": "open", "head": {"sha": SHA, "repo": {"full_name": "owner/project"}}}


@pytest.mark.process
def test_the_last_commit_of_a_branch_of_the_repository_passes(machine: Machine) -> None:
    machine.answer("repos/owner/project/pulls/12", PULL)
    done = machine.run("pinned.py", PULL_REQUEST="12", COMMIT=SHA)
    assert (done.returncode, done.stdout) == (0, f"#12 is at {SHA}\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("pull", "reason"),
    [
        (PULL | {"state": "closed"}, "not open"),
        (PULL | {"head": {"sha": SHA, "repo": {"full_name": "stranger/project"}}}, "from another repository"),
        (PULL | {"head": {"sha": SHA, "repo": None}}, "from another repository"),
        (PULL | {"head": {"sha": "b" * 40, "repo": {"full_name": "owner/project"}}}, "not at a"),
    ],
)
def test_any_other_commit_is_refused(machine: Machine, pull: dict[str, Any], reason: str) -> None:
    machine.answer("repos/owner/project/pulls/12", pull)
    done = machine.run("pinned.py", PULL_REQUEST="12", COMMIT=SHA)
    assert done.returncode == 1
    assert reason in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "commit"),
    [("12/../../other", SHA), ("", SHA), ("012", SHA), ("12", "main"), ("12", SHA[:-1]), ("12", SHA.upper())],
)
def test_an_invalid_number_or_commit_never_reaches_github(machine: Machine, number: str, commit: str) -> None:
    assert machine.run("pinned.py", PULL_REQUEST=number, COMMIT=commit).returncode == 1
    assert machine.calls() == []


@pytest.fixture
def main(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    branch = {"ref": "refs/heads/main", "object": {"sha": SHA, "type": "commit"}}
    github.answer("repos/owner/project/git/ref/heads/main", branch)
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/project")
    return github


def test_mains_last_commit_comes_up(main: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", SHA)
    main.script("tip", "gh").main()


@pytest.mark.parametrize("commit", ["b" * 40, "", SHA[:12]])
def test_an_older_commit_does_not(main: GitHub, monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    monkeypatch.setenv("GITHUB_SHA", commit)
    with pytest.raises(Exception, match=f"main has moved on from {commit} to {SHA}"):
        main.script("tip", "gh").main()
