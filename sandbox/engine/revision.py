"""A revision of the project's git repository, which is only read: its index and its list of work trees stay untouched."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.base.errors import SandboxError


@dataclass(frozen=True)
class Revision:
    """A commit, and the project's folder in its repository."""

    project: Path
    name: str
    """As the user named it: a branch, `HEAD~1`, a commit."""
    commit: str

    @classmethod
    def of(cls, project: Path, name: str, option: str = "--base", wrong: str = "no revision") -> Revision:
        """Return the revision of this name. Raises SandboxError for a project in no repository, and for an unknown
        revision: "OPTION: NAME is WRONG of this repository".
        """
        inside = _git(project, "rev-parse", "--is-inside-work-tree")
        if inside.returncode:
            raise SandboxError(f"{project} is in no git repository: {_error(inside)}")
        # The caret asks for a commit: the name of a file or folder is none. A name with a dash in front would be an option.
        parsed = _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if parsed.returncode:
            raise SandboxError(
                f"{option}: {name!r} is {wrong} of this repository; name a branch, a tag or a commit that has been fetched"
            )
        return cls(project, name, parsed.stdout.strip())

    def copy(self, folder: Path) -> None:
        """Write the project's files of that commit to a new folder. Raises SandboxError."""
        folder.mkdir(parents=True)
        # An index of its own: the repository's stays the user's.
        own = {"GIT_INDEX_FILE": str(folder.with_name(f"{folder.name}.index"))}
        prefix = _git(self.project, "rev-parse", "--show-prefix").stdout.strip()
        for arguments in (("read-tree", f"{self.commit}:{prefix}"), ("checkout-index", "--all", f"--prefix={folder}/")):
            done = _git(self._top(), *arguments, environment=own)
            if done.returncode:
                raise SandboxError(f"the files of {self.name} cannot be read from the repository: {_error(done)}")

    def differing(self) -> list[str]:
        """Return the project's files that differ between that commit and the work tree, new ones that git does not
        ignore included.
        """
        with tempfile.TemporaryDirectory() as folder:
            # git's index knows the files that were touched but not changed; without it git would list them.
            index = _git(self.project, "rev-parse", "--path-format=absolute", "--git-path", "index").stdout.strip()
            own = {"GIT_INDEX_FILE": str(shutil.copy2(index, folder))}
            changed = _git(
                self.project, "diff", "--name-only", "--relative", "--no-renames", "-z", self.commit, environment=own
            )
        new = _git(self.project, "ls-files", "--others", "--exclude-standard", "-z")
        for done in (changed, new):
            if done.returncode:
                raise SandboxError(f"git cannot compare the work tree with {self.name}: {_error(done)}")
        return sorted({path for path in (changed.stdout + new.stdout).split("\0") if path})

    def head(self) -> str:
        """Return the work tree as text: its commit, and whether it has changes."""
        commit = _git(self.project, "rev-parse", "--short=12", "HEAD").stdout.strip()
        return f"{commit} with changes" if _git(self.project, "status", "--porcelain").stdout.strip() else commit

    def _top(self) -> Path:
        return Path(_git(self.project, "rev-parse", "--show-toplevel").stdout.strip())


def _git(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            # `status` would otherwise write the index anew to save time.
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise SandboxError("git is not on PATH; `--base` reads the repository with it") from None


def _error(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.strip() or f"git ended with {done.returncode}"
