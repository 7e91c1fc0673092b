"""Commits that get credentials: the last one of an open pull request from the repository itself, and main's last one.

Drift is measured against the commit a stack was brought up from: deploy.yml's own runs on main say which, and nothing else.
"""

import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.workflows.conftest import GitHub, Machine, delivery_entry

RUNS = "repos/owner/project/actions/workflows/deploy.yml/runs"
MAIN = "repos/owner/project/git/ref/heads/main"
TIP, OLDER, OLDEST, PLANTED = "a" * 40, "b" * 40, "c" * 40, "d" * 40
ON_MAIN = {TIP: "identical", OLDER: "behind", OLDEST: "behind"}


def run(id: int, sha: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": id,
        "path": ".github/workflows/deploy.yml",
        "event": "push",
        "head_branch": "main",
        "head_sha": sha,
        "head_repository": {"full_name": "owner/project"},
    } | changed


def job(stack: str, conclusion: str | None = "success", name: str = "pulumi up") -> dict[str, Any]:
    return {"name": f"{stack} / {name}", "conclusion": conclusion}


def answer(world: GitHub | Machine, *runs: tuple[dict[str, Any], list[dict[str, Any]]], **standing: str) -> None:
    """Set runs with their jobs, newest first, and where commits stand that are not on main."""
    world.answer(MAIN, {"ref": "refs/heads/main", "object": {"sha": TIP}})
    world.answer(RUNS, {"workflow_runs": [run for run, _ in runs]})
    for one, jobs in runs:
        world.answer(f"repos/owner/project/actions/runs/{one['id']}/jobs", [{"jobs": jobs}])
    for commit, status in (ON_MAIN | standing).items():
        world.answer(f"repos/owner/project/compare/{TIP}...{commit}", {"status": status})


def deployed(github: GitHub, *stacks: str) -> dict[str, str]:
    commits: dict[str, str]
    commits, _ = github.script("deployed", "gh").deployed("owner/project", [*stacks] or ["prod"])
    return commits


@pytest.mark.process
def test_each_stack_has_the_commit_of_its_own_last_update(machine: Machine) -> None:
    answer(
        machine,
        (run(3, TIP), [job("dev"), job("staging", None), job("prod", None)]),
        (run(2, OLDER), [job("dev"), job("staging"), job("prod", "failure")]),
        (run(1, OLDEST), [job("dev"), job("staging"), job("prod")]),
    )
    outputs = machine.folder / "outputs"
    machine.deliver("dev", "staging", "prod")
    done = machine.run("deployed.py", GITHUB_OUTPUT=str(outputs))
    assert done.returncode == 0, done.stderr
    assert outputs.read_text() == f"dev={TIP}\nstaging={OLDER}\nprod={OLDEST}\n"
    asked = [path for _, path, _, _ in machine.calls() if path.startswith(RUNS)]
    assert asked == [f"{RUNS}?branch=main&event=push&per_page=100&page=1"]


def test_a_second_attempt_that_waits_does_not_hide_the_first_ones_update(github: GitHub) -> None:
    answer(github, (run(1, TIP), [job("prod", None), job("prod")]))
    assert deployed(github) == {"prod": TIP}
    assert "repos/owner/project/actions/runs/1/jobs?filter=all&per_page=100" in github.asked


@pytest.mark.parametrize(
    ("planted", "jobs", "standing"),
    [
        pytest.param({"path": ".github/workflows/evil.yml"}, [job("prod")], "behind", id="another workflow"),
        pytest.param({"path": "evil/other/.github/workflows/deploy.yml"}, [job("prod")], "behind", id="elsewhere's"),
        pytest.param({"event": "workflow_dispatch"}, [job("prod")], "behind", id="by hand, of any branch"),
        pytest.param({"event": "pull_request"}, [job("prod")], "behind", id="a pull request from a branch main"),
        pytest.param({"head_branch": "topic"}, [job("prod")], "behind", id="another branch"),
        pytest.param({"head_repository": {"full_name": "evil/project"}}, [job("prod")], "behind", id="a fork's main"),
        pytest.param({"head_repository": None}, [job("prod")], "behind", id="a fork that is gone"),
        pytest.param({}, [job("prod")], "ahead", id="a tag called main, ahead of it"),
        pytest.param({}, [job("prod")], "diverged", id="a tag called main, beside it"),
        pytest.param({"head_sha": "main"}, [job("prod")], "behind", id="no commit"),
        pytest.param({"head_sha": f"{OLDER}\ndev={PLANTED}"}, [job("prod")], "behind", id="a second line"),
        pytest.param({}, [job("prod", "failure")], "behind", id="an update that failed"),
        pytest.param({}, [job("prod", "skipped")], "behind", id="an update that was skipped"),
        pytest.param({}, [job("prod", None)], "behind", id="an update that waits"),
        pytest.param({}, [job("dev")], "behind", id="another stack's update"),
        pytest.param({}, [job("prod", name="pulumi preview")], "behind", id="a preview"),
        pytest.param({}, [{"name": "prod", "conclusion": "success"}], "behind", id="a job of the stack's name"),
    ],
)
def test_a_planted_run_is_passed_over(
    github: GitHub, planted: dict[str, Any], jobs: list[dict[str, Any]], standing: str
) -> None:
    answer(github, (run(2, PLANTED) | planted, jobs), (run(1, OLDER), [job("prod")]), **{PLANTED: standing})
    for text in ("main", f"{OLDER}\ndev={PLANTED}"):
        github.answer(f"repos/owner/project/compare/{TIP}...{text}", {"status": "behind"})
    assert deployed(github) == {"prod": OLDER}


def test_planted_runs_cannot_push_the_last_update_out_of_sight(
    github: GitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    flood = [run(number, PLANTED, head_branch="topic") for number in range(1000, 900, -1)]
    answer(github, (run(1, OLDER), [job("prod")]))
    github.answer(RUNS, {"workflow_runs": flood}, {"workflow_runs": [run(1, OLDER)]})
    assert deployed(github) == {"prod": OLDER}
    assert capsys.readouterr().out.count("::warning::run ") == 100


def test_runs_of_tags_do_not_use_up_the_runs_that_are_asked_for(
    github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = github.script("deployed", "gh")
    monkeypatch.setattr(script, "MOST", 2)
    tags = [(run(number, PLANTED), [job("prod")]) for number in range(9, 4, -1)]
    answer(github, *tags, (run(3, TIP), []), (run(2, OLDER), [job("prod")]), **{PLANTED: "ahead"})
    assert deployed(github) == {"prod": OLDER}
    answer(github, (run(3, TIP), []), (run(2, OLDER), []), (run(1, OLDEST), [job("prod")]))
    assert deployed(github) == {"prod": ""}


@pytest.mark.parametrize("answered", [{"ref": "refs/heads/main-2"}, {"ref": "refs/tags/main"}, {"object": {"sha": ""}}])
def test_what_is_not_the_branch_main_is_refused(github: GitHub, answered: dict[str, Any]) -> None:
    answer(github, (run(1, OLDER), [job("prod")]))
    github.answer(MAIN, {"ref": "refs/heads/main", "object": {"sha": PLANTED}} | answered)
    with pytest.raises(Exception, match=r"owner/project has no branch main"):
        deployed(github)


@pytest.mark.parametrize(
    ("bounds", "older", "known"),
    [
        pytest.param({"MOST": 2}, 1, False, id="more runs than are asked for"),
        pytest.param({"MOST": 2}, 0, True, id="as many runs as are asked for"),
        pytest.param({"A_PAGE": 1, "PAGES": 2}, 1, False, id="more pages than GitHub gives"),
        pytest.param({"A_PAGE": 2, "PAGES": 2}, 1, True, id="a last page that is not full"),
    ],
)
def test_what_is_older_than_the_runs_that_are_looked_at_is_not_called_never(
    github: GitHub,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    bounds: dict[str, int],
    older: int,
    known: bool,
) -> None:
    script = github.script("deployed", "gh")
    for name, value in bounds.items():
        monkeypatch.setattr(script, name, value)
    jobs = {3: [job("dev"), job("prod", None)], 2: [job("dev")], 1: [job("dev")]}
    every = [(run(number, TIP), jobs[number]) for number in (3, 2, 1)][: 2 + older]
    answer(github, *every)
    size = bounds.get("A_PAGE", 100)
    pages = [[one for one, _ in every[at : at + size]] for at in range(0, len(every), size)]
    github.answer(RUNS, *({"workflow_runs": page} for page in pages), {"workflow_runs": []})
    set_up(monkeypatch, tmp_path, "dev prod")
    if known:
        script.main()
    else:
        with pytest.raises(Exception, match=r"did not bring prod up in its last 2 runs"):
            script.main()
    # The other stack is watched all the same.
    assert (tmp_path / "outputs").read_text() == f"dev={TIP}\nprod=\n"
    assert ("::warning::prod was never brought up" in capsys.readouterr().out) is known


@pytest.mark.process
def test_a_stack_that_is_not_found_in_so_many_runs_fails_the_step(machine: Machine) -> None:
    many = [run(number, TIP) for number in range(100, 0, -1)]
    answer(machine, *((one, [job("dev")]) for one in many[:1]))
    # Ten full pages of runs that are not main's
    machine.answer(RUNS, {"workflow_runs": [one | {"head_branch": "topic"} for one in many]})
    outputs = machine.folder / "outputs"
    machine.deliver("prod")
    done = machine.run("deployed.py", GITHUB_OUTPUT=str(outputs))
    assert (done.returncode, outputs.read_text()) == (1, "prod=\n")
    assert "in its last 1000 runs" in done.stderr
    assert "never" not in done.stdout


@pytest.mark.parametrize(("stack", "says"), [("dev&environment=prod", "delivery.toml"), ("", None)])
def test_a_stacks_name_cannot_change_the_question_and_no_stack_asks_none(
    stack: str, says: str | None, github: GitHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = github.script("deployed", "gh")
    set_up(monkeypatch, tmp_path, stack)
    if says:
        with pytest.raises(Exception, match=says):
            script.main()
    else:
        script.main()
    assert github.asked == []


def set_up(monkeypatch: pytest.MonkeyPatch, folder: Path, stacks: str) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/project")
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "outputs"))
    (folder / "delivery.toml").write_text("".join(delivery_entry(name) for name in stacks.split()))
    monkeypatch.setattr(importlib.import_module("delivery"), "FILE", folder / "delivery.toml")


# --- pull requests, and main ---

PULL: dict[str, Any] = {"number": 12, "state": "open", "head": {"sha": TIP, "repo": {"full_name": "owner/project"}}}


@pytest.mark.process
def test_the_last_commit_of_a_branch_of_the_repository_passes(machine: Machine) -> None:
    machine.answer("repos/owner/project/pulls/12", PULL)
    done = machine.run("pinned.py", PULL_REQUEST="12", COMMIT=TIP)
    assert (done.returncode, done.stdout) == (0, f"#12 is at {TIP}\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("pull", "reason"),
    [
        (PULL | {"state": "closed"}, "not open"),
        (PULL | {"head": {"sha": TIP, "repo": {"full_name": "stranger/project"}}}, "from another repository"),
        (PULL | {"head": {"sha": TIP, "repo": None}}, "from another repository"),
        (PULL | {"head": {"sha": "b" * 40, "repo": {"full_name": "owner/project"}}}, "not at a"),
    ],
)
def test_any_other_commit_is_refused(machine: Machine, pull: dict[str, Any], reason: str) -> None:
    machine.answer("repos/owner/project/pulls/12", pull)
    done = machine.run("pinned.py", PULL_REQUEST="12", COMMIT=TIP)
    assert done.returncode == 1
    assert reason in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "commit"),
    [("12/../../other", TIP), ("", TIP), ("012", TIP), ("12", "main"), ("12", TIP[:-1]), ("12", TIP.upper())],
)
def test_an_invalid_number_or_commit_never_reaches_github(machine: Machine, number: str, commit: str) -> None:
    assert machine.run("pinned.py", PULL_REQUEST=number, COMMIT=commit).returncode == 1
    assert machine.calls() == []


@pytest.fixture
def main(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    branch = {"ref": "refs/heads/main", "object": {"sha": TIP}}
    github.answer("repos/owner/project/git/ref/heads/main", branch)
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/project")
    return github


def test_mains_last_commit_comes_up(main: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SHA", TIP)
    main.script("tip", "gh").main()


@pytest.mark.parametrize("commit", ["b" * 40, "", TIP[:12]])
def test_an_older_commit_does_not(main: GitHub, monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    monkeypatch.setenv("GITHUB_SHA", commit)
    with pytest.raises(Exception, match=f"main has moved on from {commit} to {TIP}"):
        main.script("tip", "gh").main()
