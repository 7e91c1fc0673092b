"""A git repository in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Repository:
    """A repository whose committer has no git settings."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> Repository:
        """Return an empty repository."""
        folder.mkdir()
        repository = cls(folder)
        repository.git("init", "--quiet")
        return repository

    @classmethod
    def of_the_project(cls, folder: Path) -> Repository:
        """Return a repository with the files of the project's work tree, committed."""
        repository = cls.new(folder)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        files = {name: PROJECT / name for name in listed.split("\0") if name}
        repository.commit(
            {name: path.read_text() for name, path in files.items() if path.is_file() and path.suffix != ".svg"}
        )
        return repository

    def commit(self, files: Mapping[str, str]) -> None:
        """Write the files and commit every difference."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")

    def git(self, *arguments: str) -> str:
        """Return git's output."""
        identity = {
            f"GIT_{role}_{field}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def bytes(self) -> dict[str, bytes]:
        """Return the contents of every file, git's own included; Python's cached bytecode is nobody's file."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
