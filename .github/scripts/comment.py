"""Comments a pull request with the report that its preview wrote.

Runs with a token that may write, after a workflow that ran a stranger's code: nothing that run left is believed. The event,
a file that GitHub wrote, says which run ended; the pull request is the one open request whose branch and commit are the run's;
of the artifact one file of bounded size is read, in memory; the default branch's own `sandbox report` draws it and makes its
texts harmless.

Environment: GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GH_TOKEN, RUNNER_TEMP.
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
ARTIFACT = "report"
FILE = "report.json"
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


def main() -> int:
    """0 when there is a comment, or when there is no pull request to comment."""
    run = ended(json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text()), os.environ["GITHUB_REPOSITORY"])
    number = pull_request(run)
    if number is None:
        print(f"no single open pull request of {run.source} has {run.sha} as its last commit: nothing to comment")
        return 0
    text = drawn(run, Path(os.environ["RUNNER_TEMP"]) / FILE)
    if pull_request(run) != number:
        print(f"#{number} has moved on from {run.sha}: its next preview comments")
        return 0
    post(run, number, text)
    return 0


def ended(event: dict[str, Any], repository: str) -> Run:
    """The run of a `workflow_run` event. Raises Refused where the fork is gone, which makes its pull request unfindable."""
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
    """The number of the one open pull request whose last commit the run previewed; None where there is none or several.

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


def drawn(run: Run, file: Path) -> str:
    """The comment's text, marker included, of at most LONGEST characters."""
    head = f"{MARKER}\n"
    foot = f"\n\nOf commit {run.sha}, [run {run.id}]({run.url}). The report was made by that commit's own code.\n"
    report = downloaded(run)
    if report is None:
        return f"{head}The preview ended before it wrote a report.{foot}"
    file.write_bytes(report)
    room = LONGEST - len(head) - len(foot)
    command = [str(PROJECT / "scripts" / "uv"), "run", "--locked", "sandbox", "report", str(file)]
    command += ["--longest", str(room), "--pointer", run.url]
    # What draws a stranger's text has no use for the token.
    settings = {name: value for name, value in os.environ.items() if name != "GH_TOKEN"}
    done = subprocess.run(command, cwd=PROJECT, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"the report cannot be drawn: {done.stderr.strip()[-2000:]}")
    text = done.stdout.strip()
    if len(text) > room:
        raise Refused(f"the report was drawn in {len(text)} characters where {room} are left")
    return f"{head}{text}{foot}"


def downloaded(run: Run) -> bytes | None:
    """The report in the run's artifact; None where it has no such artifact. Raises Refused when it is not what it should be."""
    listed = api(f"repos/{run.repository}/actions/runs/{run.id}/artifacts?name={ARTIFACT}&per_page=100")["artifacts"]
    if not listed:
        return None
    # Every attempt of a run adds one.
    artifact = max(listed, key=lambda artifact: int(artifact["id"]))
    if artifact["expired"]:
        raise Refused("the artifact has expired")
    if artifact["size_in_bytes"] > MOST_ZIPPED:
        raise Refused(f"the artifact has {artifact['size_in_bytes']} bytes, more than {MOST_ZIPPED}")
    return unzipped(zipped(f"repos/{run.repository}/actions/artifacts/{int(artifact['id'])}/zip"))


def zipped(path: str) -> bytes:
    """An archive, not trusting the size that was announced for it."""
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


def unzipped(archive: bytes) -> bytes:
    """The one file that is asked for, out of an archive that may hold anything. Nothing is extracted to the disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            entries = [entry for entry in opened.infolist() if entry.filename == FILE]
            if len(entries) != 1:
                raise Refused(f"the artifact has {len(entries)} files called {FILE}")
            if entries[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused(f"{FILE} is compressed in another way than the upload does")
            with opened.open(entries[0]) as entry:
                content = entry.read(MOST_UNZIPPED + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise Refused(f"the artifact is no archive that can be read: {error}") from error
    if len(content) > MOST_UNZIPPED:
        raise Refused(f"{FILE} has more than {MOST_UNZIPPED} bytes")
    return content


def post(run: Run, number: int, text: str) -> None:
    """Change the comment of an earlier preview, or write the first one."""
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


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as why:
        sys.exit(f"error: {why}")
