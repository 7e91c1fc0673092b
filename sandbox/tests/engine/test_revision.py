"""Revisions read from the user's repository, which stays unchanged."""

import os
from pathlib import Path

import pytest

from sandbox.base.errors import SandboxError
from sandbox.engine.revision import Revision
from sandbox.tests.repository import Repository

pytestmark = pytest.mark.process


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.new(tmp_path / "repository")
    repository.commit(
        {
            "Pulumi.dev.yaml": "config: {}\n",
            "config/model/stack.py": "A = 1\n",
            ".gitignore": "ignored\n",
            "gone.py": "",
        }
    )
    return repository


def test_the_files_of_a_commit_are_copied_and_nothing_else(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"config/model/stack.py": "A = 2\n", "new.py": ""})
    folder = tmp_path / "copy"
    Revision.of(repository.folder, "HEAD~1").copy(folder)
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "Pulumi.dev.yaml": "config: {}\n",
        "config/model/stack.py": "A = 1\n",
        ".gitignore": "ignored\n",
        "gone.py": "",
    }


def test_the_repository_stays_equal_byte_for_byte(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "config/model/stack.py").write_text("A = 3\n")
    # A file touched but not changed: git would note that in its index.
    os.utime(repository.folder / "gone.py", (0, 0))
    before = repository.bytes()
    revision = Revision.of(repository.folder, "HEAD")
    revision.copy(tmp_path / "copy")
    revision.differing()
    revision.head()
    assert repository.bytes() == before


def test_committed_uncommitted_and_new_files_differ_but_not_ignored_ones(repository: Repository) -> None:
    (repository.folder / "gone.py").unlink()
    repository.commit({"config/model/stack.py": "A = 2\n"})
    (repository.folder / "Pulumi.dev.yaml").write_text("config: {a: b}\n")
    (repository.folder / "new: with space.py").write_text("")
    (repository.folder / "ignored").write_text("")
    differing = Revision.of(repository.folder, "HEAD~1").differing()
    assert differing == ["Pulumi.dev.yaml", "config/model/stack.py", "gone.py", "new: with space.py"]
    assert "with changes" in Revision.of(repository.folder, "HEAD").head()


def test_a_touched_but_unchanged_file_does_not_differ(repository: Repository) -> None:
    os.utime(repository.folder / "gone.py", (0, 0))
    assert Revision.of(repository.folder, "HEAD").differing() == []


def test_a_project_below_the_repository_s_top_is_compared_by_itself(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"infra/Pulumi.dev.yaml": "config: {}\n"})
    (repository.folder / "config/model/stack.py").write_text("A = 9\n")
    (repository.folder / "infra/Pulumi.dev.yaml").write_text("config: {a: b}\n")
    revision = Revision.of(repository.folder / "infra", "HEAD")
    assert revision.differing() == ["Pulumi.dev.yaml"]
    revision.copy(tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["Pulumi.dev.yaml"]


@pytest.mark.parametrize("name", ["nowhere", "HEAD:spec", "--upload-pack=x", "", "HEAD~7"])
def test_an_unknown_revision_is_an_error(repository: Repository, name: str) -> None:
    with pytest.raises(SandboxError, match="is no revision of this repository"):
        Revision.of(repository.folder, name)


def test_a_folder_outside_a_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="is in no git repository"):
        Revision.of(tmp_path, "HEAD")
