"""A run that waited for its approval brings no older commit back."""

from __future__ import annotations

import pytest

from tests.workflows.conftest import GitHub

TIP, OLDER = "a" * 40, "b" * 40


@pytest.fixture
def main(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    github.answer(
        "repos/owner/project/git/ref/heads/main", {"ref": "refs/heads/main", "object": {"sha": TIP, "type": "commit"}}
    )
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/project")
    return github


def test_mains_last_commit_comes_up(main: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", TIP)
    main.script("tip", "main_branch").main()


@pytest.mark.parametrize("commit", [OLDER, "", TIP[:12]])
def test_an_older_commit_does_not(main: GitHub, monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    monkeypatch.setenv("GITHUB_SHA", commit)
    with pytest.raises(Exception, match=f"main has moved on from {commit} to {TIP}"):
        main.script("tip", "main_branch").main()
