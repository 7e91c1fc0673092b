"""Finds the commits that the stacks were last brought up from: what drift is measured against, as main may be ahead of it.

A deployment's record proves nothing: whoever may write deployments can make one for any commit, and say in it what he likes. So
this goes from runs to commits. A run counts when GitHub says that it is deploy.yml's, of a push to main, in this repository; that
the stack's own job in it succeeded; and that its commit is on main. Without the last one a tag called `main` would do: its push
makes a run of the branch "main", from the workflow file of the tagged commit.

A stack without such a run was never brought up: it is left out with a warning. Where there are more runs than are looked at, nobody
knows that: the script fails, and says of which stack. The commits of the others are written all the same.

The stacks are those of .github/delivery.toml; without one it asks GitHub nothing.

Environment: GITHUB_REPOSITORY, GH_TOKEN, GITHUB_OUTPUT (gets `STACK=COMMIT` for each, empty where none was found).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import delivery
from gh import MAIN, Refused, api, has, is_commit, main_tip

WORKFLOW = ".github/workflows/deploy.yml"
JOB = "{stack} / pulumi up"
"""The job's name: the one in deploy.yml, then the one in the reusable workflow that it calls (8398a7/action-slack, issue 183)."""
PAGES = 10
"""Pages of runs: a filtered list has at most 1,000 (docs.github.com: rest/actions/workflow-runs)."""
A_PAGE = 100
"""Runs of a full page."""
MOST = 300
"""Runs of main whose jobs are asked for: a token of GitHub Actions has 1,000 requests an hour (docs.github.com: rate-limits)."""


def deployed(repository: str, stacks: list[str]) -> tuple[dict[str, str], int]:
    """Return the commit of each stack's newest update that succeeded, empty where none was found.

    Beside it, the number of runs looked at where there are more of them, otherwise 0. Raises Refused.
    """
    commits = dict.fromkeys(stacks, "")
    tip = main_tip(repository)
    asked = seen = 0
    for run in runs(repository):
        missing = [stack for stack in stacks if not commits[stack]]
        if not missing:
            return commits, 0
        if asked == MOST:
            return commits, seen
        seen += 1
        why = doubt(run, repository)
        if not why and not has(repository, tip, run["head_sha"]):
            why = f"{run['head_sha']} is not on main"
        if why:
            print(f"::warning::run {int(run['id'])} is passed over: {why}")
            continue
        asked += 1
        names = succeeded(repository, int(run["id"]))
        commits.update({stack: run["head_sha"] for stack in missing if JOB.format(stack=stack) in names})
    # A full last page says nothing about older runs.
    return commits, seen if seen == PAGES * A_PAGE else 0


def runs(repository: str) -> Iterator[dict[str, Any]]:
    """Yield the runs of deploy.yml that pushes to main started, newest first."""
    asked = f"repos/{repository}/actions/workflows/{Path(WORKFLOW).name}/runs?branch={MAIN}&event=push"
    for page in range(1, PAGES + 1):
        found = api(f"{asked}&per_page={A_PAGE}&page={page}")["workflow_runs"]
        yield from found
        if len(found) < A_PAGE:
            return


def doubt(run: dict[str, Any], repository: str) -> str:
    """Return what is wrong with a run that was asked for; empty for one that is deploy.yml's own."""
    # The path may end in the branch, as in `deploy.yml@main`.
    wanted = {
        "path": (str(run["path"]).partition("@")[0], WORKFLOW),
        "event": (run["event"], "push"),
        "branch": (run["head_branch"], MAIN),
        "repository": ((run["head_repository"] or {}).get("full_name"), repository),
    }
    wrong = [f"its {name} is {found!r}" for name, (found, right) in wanted.items() if found != right]
    if not is_commit(run["head_sha"]):
        wrong.append("it has no commit")
    return ", ".join(wrong)


def succeeded(repository: str, run: int) -> set[str]:
    """Return the jobs that succeeded in any attempt of a run: a second attempt waits, and the first one's update stands."""
    jobs = f"repos/{repository}/actions/runs/{run}/jobs?filter=all&per_page=100"
    return {
        job["name"]
        for page in api(jobs, "--paginate", "--slurp")
        for job in page["jobs"]
        if job["conclusion"] == "success"
    }


def main() -> None:
    """Write the commits. Raises Refused when GitHub says no, and when it is not known whether a stack was brought up."""
    stacks = list(delivery.read())
    if not stacks:
        print(f"::notice::no stack is delivered: {delivery.FILE.name} has none")
        return
    commits, looked_at = deployed(os.environ["GITHUB_REPOSITORY"], stacks)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a") as outputs:
        for stack, commit in commits.items():
            outputs.write(f"{stack}={commit}\n")
            if commit:
                print(f"{stack} was last brought up from {commit}")
            elif not looked_at:
                print(f"::warning::{stack} was never brought up by deploy.yml")
    missing = ", ".join(stack for stack, commit in commits.items() if not commit)
    if looked_at and missing:
        raise Refused(
            f"deploy.yml did not bring {missing} up in its last {looked_at} runs, and older ones are not looked at: whether it "
            f"drifted is not known. Approve a deployment; a stack that is not deployed at all leaves {delivery.FILE.name}"
        )


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"error: {why}")
