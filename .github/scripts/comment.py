"""Comments a pull request with the report that its preview wrote, in three steps of two jobs.

usage: comment.py fetch|draw|post

Runs after a workflow that ran a stranger's code: nothing that run left is believed. The event, a file that GitHub wrote, says
which run ended; the pull request is the one open request whose branch and commit are the run's; of the artifact one file of bounded
size is read, in memory; the default branch's own `sandbox report` draws it and makes its texts harmless. Drawing loads packages, so
it has no token, in a job that may not comment. The job that may comment loads none, and takes a text of bounded length from
the first.

Environment: GITHUB_EVENT_PATH, GITHUB_REPOSITORY, RUNNER_TEMP. `fetch`: GH_TOKEN, GITHUB_OUTPUT (gets `found=true` where there is a
pull request to comment). `post`: GH_TOKEN, GITHUB_RUN_ID.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from gh import Refused, api, pages

PROJECT = Path(__file__).resolve().parents[2]
MARKER = "<!-- kubeflow-spot: preview -->"
AUTHOR = "github-actions[bot]"
"""Who comments with a workflow's own token; anybody can write the marker."""
LONGEST = 65_536
"""Characters of a comment: GitHub answers 422 to more."""
REPORT = ("report", "report.json")
"""The artifact of the preview, and its file that counts."""
COMMENT = ("comment", "comment.md")
"""The artifact of the job that draws."""
MOST_ZIPPED = 5 << 20
MOST_UNZIPPED = 16 << 20
"""As `sandbox report` reads."""


class Run(NamedTuple):
    """The preview that ended."""

    repository: str
    id: int
    sha: str
    branch: str
    owner: str
    source: str
    """The repository the commit is in: this one or a fork."""
    url: str


def main(step: str) -> None:
    """Take one step. Raises Refused."""
    run = ended(json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text()), os.environ["GITHUB_REPOSITORY"])
    folder = Path(os.environ["RUNNER_TEMP"])
    {"fetch": fetch, "draw": draw, "post": post}[step](run, folder)


def fetch(run: Run, folder: Path) -> None:
    """Put the report into a folder, where there is one and a pull request to comment."""
    if pull_request(run) is None:
        print(f"no single open pull request of {run.source} has {run.sha} as its last commit: nothing to comment")
        return
    report = downloaded(run.repository, run.id, *REPORT)
    if report is not None:
        (folder / REPORT[1]).write_bytes(report)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a") as outputs:
        outputs.write("found=true\n")


def draw(run: Run, folder: Path) -> None:
    """Write the comment's text, marker included, of at most LONGEST characters."""
    head = f"{MARKER}\n"
    foot = f"\n\nOf commit {run.sha}, [run {run.id}]({run.url}). The report was made by that commit's own code.\n"
    report = folder / REPORT[1]
    room = LONGEST - len(head) - len(foot)
    text = drawn(report, run.url, room) if report.exists() else "The preview ended before it wrote a report."
    (folder / COMMENT[1]).write_text(f"{head}{text}{foot}")


def post(run: Run, folder: Path) -> None:
    """Change the comment of an earlier preview, or write the first one."""
    content = downloaded(run.repository, int(os.environ["GITHUB_RUN_ID"]), *COMMENT)
    text = (content or b"").decode(errors="replace")
    if not text.startswith(MARKER) or len(text) > LONGEST:
        raise Refused(f"the drawn comment has {len(text)} characters, or is none of ours")
    number = pull_request(run)
    if number is None:
        print(f"the pull request has moved on from {run.sha}: its next preview comments")
        return
    comments = f"repos/{run.repository}/issues"
    ours = [
        comment["id"]
        for comment in pages(f"{comments}/{number}/comments?per_page=100")
        if (comment["user"] or {}).get("login") == AUTHOR and comment["body"].startswith(MARKER)
    ]
    if ours:
        api(f"{comments}/comments/{int(ours[0])}", "--method", "PATCH", payload={"body": text})
    else:
        api(f"{comments}/{number}/comments", "--method", "POST", payload={"body": text})
    print(f"#{number}: comment {'changed' if ours else 'written'}, {len(text)} characters")


def ended(event: dict[str, Any], repository: str) -> Run:
    """Return the run of a `workflow_run` event. Raises Refused where the fork is gone, which makes its pull request unfindable."""
    run = event["workflow_run"]
    source = run["head_repository"]
    if not source:
        raise Refused("the repository of the commit is gone")
    return Run(
        repository,
        int(run["id"]),
        run["head_sha"],
        run["head_branch"],
        source["owner"]["login"],
        source["full_name"],
        run["html_url"],
    )


def pull_request(run: Run) -> int | None:
    """Return the number of the one open pull request whose last commit the run previewed; None where there is none or several.

    The event's own list of them is empty for forks.
    """
    head = ("--raw-field", f"head={run.owner}:{run.branch}")
    found = api(
        f"repos/{run.repository}/pulls",
        "--method",
        "GET",
        "--raw-field",
        "state=open",
        *head,
        "--raw-field",
        "per_page=100",
    )
    numbers = [
        int(pull["number"])
        for pull in found
        if pull["head"]["sha"] == run.sha and (pull["head"]["repo"] or {}).get("full_name") == run.source
    ]
    return numbers[0] if len(numbers) == 1 else None


def drawn(report: Path, pointer: str, room: int) -> str:
    """Return a report as Markdown of at most `room` characters, by the default branch's own command."""
    command = [str(PROJECT / "scripts" / "uv"), "run", "--locked", "sandbox", "report", str(report)]
    command += ["--longest", str(room), "--pointer", pointer]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"the report cannot be drawn: {done.stderr.strip()[-2000:]}")
    text = done.stdout.strip()
    if len(text) > room:
        raise Refused(f"the report was drawn in {len(text)} characters where {room} are left")
    return text


def downloaded(repository: str, run: int, name: str, file: str) -> bytes | None:
    """Return a file of a run's artifact; None where it has no such artifact. Raises Refused when it is not what it should be."""
    listed = api(f"repos/{repository}/actions/runs/{run}/artifacts?name={name}&per_page=100")["artifacts"]
    if not listed:
        return None
    # Every attempt of a run adds one.
    artifact = max(listed, key=lambda artifact: int(artifact["id"]))
    if artifact["expired"]:
        raise Refused("the artifact has expired")
    if artifact["size_in_bytes"] > MOST_ZIPPED:
        raise Refused(f"the artifact has {artifact['size_in_bytes']} bytes, more than {MOST_ZIPPED}")
    return unzipped(zipped(f"repos/{repository}/actions/artifacts/{int(artifact['id'])}/zip"), file)


def zipped(path: str) -> bytes:
    """Download an archive, not trusting the size that was announced for it."""
    with subprocess.Popen(["gh", "api", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as download:
        assert download.stdout
        assert download.stderr
        archive = download.stdout.read(MOST_ZIPPED + 1)
        if len(archive) > MOST_ZIPPED:
            download.kill()
            raise Refused(f"the artifact has more than {MOST_ZIPPED} bytes")
        reason = download.stderr.read().decode(errors="replace").strip()
    if download.returncode:
        raise Refused(f"gh api {path}: {reason}")
    return archive


def unzipped(archive: bytes, name: str) -> bytes:
    """Return the one file that is asked for, out of an archive that may hold anything. Nothing is extracted to the disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = [entry for entry in opened.infolist() if entry.filename == name]
            if len(entries) != 1:
                raise Refused(f"the artifact has {len(entries)} files called {name}")
            if entries[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused(f"{name} is compressed in another way than the upload does")
            with opened.open(entries[0]) as entry:
                content = entry.read(MOST_UNZIPPED + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise Refused(f"the artifact is no archive that can be read: {error}") from error
    if len(content) > MOST_UNZIPPED:
        raise Refused(f"{name} has more than {MOST_UNZIPPED} bytes")
    return content


if __name__ == "__main__":
    if sys.argv[1:] not in (["fetch"], ["draw"], ["post"]):
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except Refused as why:
        sys.exit(f"error: {why}")
