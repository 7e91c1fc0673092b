"""The comment on a pull request: placed by GitHub's answers, drawn from an untrusted artifact."""

import json
import os
import subprocess
import zipfile
from typing import Any

import pytest

from tests.workflows.conftest import Machine, zipped

pytestmark = pytest.mark.process

SHA = "a" * 40
PULLS = "repos/owner/project/pulls"
ARTIFACTS = "repos/owner/project/actions/runs/77/artifacts"
ZIP = "repos/owner/project/actions/artifacts/9/zip"
DRAWN, DRAWN_ZIP = (path.replace("77", "88").replace("/9/", "/50/") for path in (ARTIFACTS, ZIP))
COMMENTS = "repos/owner/project/issues/12/comments"
MARKER = "<!-- kubeflow-spot: preview -->"
BOT = {"login": "github-actions[bot]"}


def pull(number: int = 12, sha: str = SHA, source: str | None = "stranger/fork") -> dict[str, Any]:
    return {"number": number, "head": {"sha": sha, "repo": source and {"full_name": source}}}


def artifact(**changed: Any) -> dict[str, Any]:
    return {"id": 9, "name": "report", "expired": False, "size_in_bytes": 100} | changed


@pytest.fixture
def fork(machine: Machine) -> Machine:
    """Return a pull request from a fork whose preview has ended, with no comment yet."""
    machine.answer(PULLS, [pull()])
    machine.answer(ARTIFACTS, {"artifacts": [artifact()]})
    machine.serve(ZIP, zipped(("report.json", "{}"), ("report.md", "@everybody")))
    machine.answer(COMMENTS, [[]])
    return machine


def event(machine: Machine, **changed: Any) -> dict[str, str]:
    run = {
        "id": 77,
        "head_sha": SHA,
        "head_branch": "@topic",
        "head_repository": {"owner": {"login": "stranger"}, "full_name": "stranger/fork"},
        "html_url": "https://github.com/owner/project/actions/runs/77",
        "pull_requests": [],
    }
    file = machine.folder / "event.json"
    file.write_text(json.dumps({"workflow_run": run | changed}))
    return {"GITHUB_EVENT_PATH": str(file), "GITHUB_RUN_ID": "88", "GITHUB_OUTPUT": str(machine.folder / "outputs")}


def comment(machine: Machine, **changed: Any) -> subprocess.CompletedProcess[str]:
    """Run both jobs; the first step that fails or finds nothing is the last."""
    settings = event(machine, **changed)
    done = machine.run("comment.py", "fetch", **settings)
    if done.returncode or not (machine.folder / "outputs").exists():
        return done
    assert (machine.folder / "outputs").read_text() == "found=true\n"
    done = machine.run("comment.py", "draw", **settings, GH_TOKEN="")
    if done.returncode:
        return done
    return post(machine, (machine.temporary / "comment.md").read_text())


def post(machine: Machine, text: str = f"{MARKER}\ndrawn") -> subprocess.CompletedProcess[str]:
    """Run the second job alone, with what the first one has drawn; nothing where that is empty."""
    machine.answer(DRAWN, {"artifacts": [artifact(id=50, name="comment")] if text else []})
    machine.serve(DRAWN_ZIP, zipped(("comment.md", text)))
    return machine.run("comment.py", "post", **event(machine))


def written(machine: Machine) -> list[tuple[str, str]]:
    return [(f"{method} {path}", sent["body"]) for method, path, _, sent in machine.calls("POST", "PATCH")]


def test_a_pull_request_from_a_fork_gets_a_comment(fork: Machine) -> None:
    done = comment(fork)
    assert done.returncode == 0, done.stderr
    [(where, body)] = written(fork)
    assert where == f"POST {COMMENTS}"
    assert body.startswith(f"{MARKER}\ndrawn\n")
    assert SHA in body
    request = fork.calls()[0]
    assert request[:3] == ["GET", PULLS, {"state": "open", "head": "stranger:@topic", "per_page": "100"}]
    # The report alone is drawn.
    arguments, token, content = json.loads((fork.world / "drawn").read_text())
    assert arguments[0] == str(fork.temporary / "report.json")
    assert arguments[-2:] == ["--pointer", "https://github.com/owner/project/actions/runs/77"]
    assert (token, content) == ("", "{}")


def test_the_longest_report_fits_a_comment(fork: Machine) -> None:
    fork.serve(ZIP, zipped(("report.json", "long")))
    assert comment(fork).returncode == 0
    [(_, body)] = written(fork)
    assert 65_000 < len(body) <= 65_536


def test_a_second_preview_changes_the_first_ones_comment(fork: Machine) -> None:
    ours = {"id": 5, "user": BOT, "body": f"{MARKER}\nold"}
    fork.answer(COMMENTS, [[{"id": 4, "user": BOT, "body": "of another workflow"}], [ours]])
    fork.answer("repos/owner/project/issues/comments/5", {})
    assert post(fork).returncode == 0
    assert [where for where, _ in written(fork)] == ["PATCH repos/owner/project/issues/comments/5"]


@pytest.mark.parametrize("user", [{"login": "stranger"}, {"login": "other[bot]"}, None])
def test_a_comment_of_another_author_with_the_marker_stays_unchanged(
    fork: Machine, user: dict[str, str] | None
) -> None:
    fork.answer(COMMENTS, [[{"id": 5, "user": user, "body": f"{MARKER}\nmine"}]])
    assert post(fork).returncode == 0
    assert [where for where, _ in written(fork)] == [f"POST {COMMENTS}"]


@pytest.mark.parametrize(
    "pulls",
    [
        pytest.param([], id="closed"),
        pytest.param([pull(sha="b" * 40)], id="moved on"),
        pytest.param([pull(source="somebody/else")], id="a branch of that name elsewhere"),
        pytest.param([pull(source=None)], id="fork deleted"),
        pytest.param([pull(), pull(13)], id="two of one branch"),
    ],
)
def test_an_uncertain_pull_request_gets_no_comment(fork: Machine, pulls: list[Any]) -> None:
    fork.answer(PULLS, pulls)
    done = comment(fork)
    assert done.returncode == 0
    assert "nothing to comment" in done.stdout
    assert written(fork) == []
    assert not (fork.world / "drawn").exists()


def test_a_commit_pushed_while_the_report_is_drawn_stops_the_comment(fork: Machine) -> None:
    fork.answer(PULLS, [pull()], [pull(sha="b" * 40)])
    done = comment(fork)
    assert (done.returncode, written(fork)) == (0, [])
    assert "moved on" in done.stdout


def test_a_run_of_a_deleted_repository_stops(fork: Machine) -> None:
    done = comment(fork, head_repository=None)
    assert done.returncode == 1
    assert done.stderr == "error: the repository of the commit is gone\n"


def test_a_preview_without_a_report_gives_a_comment_about_it(fork: Machine) -> None:
    fork.answer(ARTIFACTS, {"artifacts": []})
    assert comment(fork).returncode == 0
    [(_, body)] = written(fork)
    assert "ended before it wrote a report" in body
    assert not (fork.world / "drawn").exists()


def test_of_several_attempts_the_last_ones_report_counts(fork: Machine) -> None:
    fork.answer(ARTIFACTS, {"artifacts": [artifact(), artifact(id=10), artifact(id=8)]})
    fork.serve(ZIP.replace("/9/", "/10/"), zipped(("report.json", "of the last attempt")))
    assert comment(fork).returncode == 0
    assert json.loads((fork.world / "drawn").read_text())[2] == "of the last attempt"


@pytest.mark.parametrize(
    ("listed", "content", "reason"),
    [
        pytest.param({"size_in_bytes": 6_000_000}, b"", "the artifact has 6000000 bytes", id="announced too large"),
        pytest.param({}, os.urandom(5_300_000), "the artifact has more than", id="larger than announced"),
        pytest.param({"expired": True}, b"", "expired", id="expired"),
        pytest.param({}, zipped(("report.json", bytes(21 << 20))), "report.json has more than", id="bomb"),
        pytest.param({}, b"PK\x03\x04 no archive", "no archive that can be read", id="no zip"),
        pytest.param({}, zipped(("report.json", "{}"))[:40], "no archive that can be read", id="cut"),
        pytest.param({}, zipped(("report.json", "{}"), how=zipfile.ZIP_BZIP2), "another way", id="bzip2"),
        pytest.param(
            {}, zipped(("../report.json", "{}"), ("/report.json", "{}")), "0 files called", id="hostile names"
        ),
        pytest.param({}, zipped(("report.json", "broken")), "cannot be drawn", id="cannot be drawn"),
    ],
)
def test_an_invalid_artifact_is_refused(fork: Machine, listed: dict[str, Any], content: bytes, reason: str) -> None:
    fork.answer(ARTIFACTS, {"artifacts": [artifact(**listed)]})
    fork.serve(ZIP, content)
    done = comment(fork)
    assert done.returncode == 1
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert written(fork) == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_the_reports_name_are_refused(fork: Machine) -> None:
    fork.serve(ZIP, zipped(("report.json", "{}"), ("report.json", "{}")))
    assert "2 files called" in comment(fork).stderr


def test_only_the_report_of_a_hostile_archive_reaches_the_disk(fork: Machine) -> None:
    names = ("../escape", "/tmp/escape", "a/../../escape", "report.json/escape", "..\\escape", "report.md")
    fork.serve(ZIP, zipped(*((name, "escaped") for name in names), ("report.json", "{}")))
    before = {path for path in fork.folder.rglob("*") if path.is_file()}
    assert comment(fork).returncode == 0
    new = {path for path in fork.folder.rglob("*") if path.is_file()} - before
    # Handed over as an artifact: comment.md, and the stand-in's copy of it.
    ours = {"report.json", "calls", "drawn", "event.json", "outputs", "comment.md"}
    ours |= {f"{path.replace('/', '_')}.{ending}" for path, ending in ((DRAWN, "json"), (DRAWN_ZIP, "bytes"))}
    assert {path.name for path in new if path.suffix != ".pyc"} == ours


def test_a_refusal_of_github_is_printed(fork: Machine) -> None:
    (fork.world / f"{PULLS.replace('/', '_')}.json").unlink()
    done = comment(fork)
    assert (done.returncode, done.stderr) == (1, f"error: gh api {PULLS}: gh: Not Found (HTTP 404)\n")


@pytest.mark.parametrize("text", ["@everybody", f"{MARKER}\n{'x' * 65_536}", ""], ids=["another", "too long", "none"])
def test_a_text_that_drawing_cannot_have_left_is_not_posted(fork: Machine, text: str) -> None:
    done = post(fork, text)
    assert (done.returncode, written(fork)) == (1, [])
    assert "the drawn comment has" in done.stderr
