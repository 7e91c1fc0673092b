"""`sandbox drill` on a stack that is up."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drill.judge.verdicts import verdicts
from drill.play import source
from drill.play.real_autoscaler import VARIABLE
from drill.play.run import run_drill
from drill.play.source import Copy
from drill.world import scenario
from drill.world.basis import Trial
from drill.world.record import Record
from drill.world.scenario import Scenario
from sandbox.base.home import Home
from sandbox.tests.stack import Standing, until
from sandbox.tests.subjects import Subject

pytestmark = pytest.mark.engine

PROGRAM = os.environ.get(VARIABLE, "")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the sandbox's own autoscaler, whatever program the environment names."""
    monkeypatch.delenv(VARIABLE, raising=False)


def cluster_of(stack: Standing) -> dict[str, str]:
    """Return every node and declared object of the stack's own cluster, with its version."""
    kinds = ("nodes", "configmaps", "validatingadmissionpolicies", "namespaces", "pods")
    return {
        f"{kind} {item['metadata'].get('namespace')} {item['metadata']['name']}": item["metadata"]["uid"]
        for kind in kinds
        for item in stack.get(kind, "-A")["items"]
    }


@pytest.mark.repeats
def test_a_drill_holds_its_verdicts_and_leaves_the_stack_alone(stack: Standing, subject: Subject) -> None:
    before = cluster_of(stack)
    report = json.loads(stack.run("drill", "--json").stdout)
    assert report["failed"] is False
    verdicts_by_name = {each["name"]: each["ok"] for each in report["verdicts"]}
    assert verdicts_by_name["Work lost for good"] is True
    assert verdicts_by_name["On spot while there was spot"] is True
    placed = {(each["role"], each["pool"]): each for each in report["placed"]}
    assert placed["trial", subject.spot]["restarts"] > 0, "nothing was evicted"
    assert placed["trial", subject.twin]["pods"] > 0, "nothing fell back"
    assert not {pool for role, pool in placed if role in ("notebook", "platform", "predictor")} & {
        *(subject.spot, subject.twin)
    }
    folder = stack.home / f"{stack.name}+drill"
    assert {path.name for path in folder.iterdir()} == {"report.html", "report.json", "timeline.png", "timeline.svg"}
    assert cluster_of(stack) == before
    assert stack.changed_files() == ""
    assert not list(stack.home.glob("drill+*/")), "the copy is left"


@pytest.mark.repeats
def test_what_cannot_be_drilled_is_said_before_anything_starts(
    stack: Standing, subject: Subject, tmp_path: Path
) -> None:
    def refused(*arguments: str) -> str:
        return stack.run("drill", *arguments, ok=False).stderr

    assert "there is no scenario 'storn', nor a file of that name" in refused("storn")
    file = tmp_path / "own.yaml"
    work = "[{name: sweep, role: trial, runFor: 10m}]"
    file.write_text(
        f"{{description: A test., length: 1h, work: {work}, faults: [{{at: 1m, capacity: {{machine: x1}}}}]}}"
    )
    assert "faults[0].capacity.machine: the stack has no 'x1'; it has " in refused(str(file))
    trace = tmp_path / "trace.json"
    trace.write_text('{"metadata": {"gap_seconds": 60}, "data": [1, 2]}')
    assert "x1" in refused("--trace", "x1", "*", str(trace))


SHORT = """
description: There is no spot machine; two pods wait for their turn on demand.
length: 3m
boot: 10s
work:
  - {name: burst, role: trial, pods: 2, at: 5s, runFor: 20s}
faults:
  - {at: 0s, capacity: {nodes: 0}}
"""


@pytest.mark.slow
@pytest.mark.skipif(not PROGRAM, reason=f"{VARIABLE} names no cluster-autoscaler")
def test_the_real_autoscaler_decides_where_it_is_named(
    stack: Standing, subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In real time: a GPU pod is 30 s old at the first request; the next follows one scan after the refusal."""
    monkeypatch.setenv(VARIABLE, PROGRAM)
    file = tmp_path / "short.yaml"
    file.write_text(SHORT)
    if subject.name != "dev":
        assert "is for stacks on AKS" in stack.run("drill", str(file), ok=False).stderr
        return
    assert "runs in real time" in stack.run("drill", str(file), "--factor", "5", ok=False).stderr
    report = json.loads(stack.run("drill", str(file), "--json").stdout)
    assert report["autoscaler"].startswith("cluster-autoscaler 1.36")
    assert any("kwok" in caveat for caveat in report["caveats"])
    assert (report["failed"], report["clock"]["factor"]) == (False, 1.0)
    asked = [mark for mark in report["timeline"]["marks"] if mark["kind"] == "scale-up"]
    assert asked[0]["at"] == pytest.approx(40, abs=10)
    assert 0 < asked[1]["at"] - asked[0]["at"] < 15
    placed = {each["pool"]: each["pods"] for each in report["placed"] if each["role"] == "trial"}
    assert placed == {subject.twin: 2}
    assert not list(stack.home.glob("drill+*/")), "the copy is left"


def drilled(stack: Standing, folder: Path, change: Callable[[Copy], None], steps: Scenario, seed: int = 1) -> Record:
    """Run a drill on a copy of the stack that was changed first."""
    home = Home(stack.name, stack.project, stack.home)
    with source.copied(home, folder, lambda _: None) as copy:
        change(copy)
        return run_drill(stack.name, copy, Trial(steps, "test", seed))


def red(record: Record) -> set[str]:
    return {verdict.name for verdict in verdicts(record) if verdict.ok is False}


def without_order(copy: Copy) -> None:
    copy.client.delete("v1", "ConfigMap", "cluster-autoscaler-priority-expander", "kube-system")


def without_defaults(copy: Copy) -> None:
    _unbind(copy, "MutatingAdmissionPolicyBinding")


def without_guard(copy: Copy) -> None:
    _unbind(copy, "ValidatingAdmissionPolicyBinding")


def without_twin(copy: Copy) -> None:
    groups = copy.cloud.node_groups(copy.cluster).groups
    copy.cloud.delete(next(group.pool_id for group in groups if group.pool == "t4od"))


def _unbind(copy: Copy, kind: str) -> None:
    group = "admissionregistration.k8s.io/v1"
    for binding in copy.client.list(group, kind):
        copy.client.delete(group, kind, binding["metadata"]["name"])
    # The API server takes up changes of policies about once a second.
    time.sleep(3)


def unsaved(name: str) -> Scenario:
    """Return a scenario whose work has no checkpoints."""
    found = scenario.load_scenario(name)
    work = [each.model_copy(update={"checkpoint_every": None}) for each in found.work]
    return found.model_copy(update={"work": work})


BREAKS: dict[str, tuple[Callable[[Copy], Any], Callable[[], Scenario], int, str]] = {
    "expander": (without_order, lambda: scenario.load_scenario("burst-from-zero"), 2, "None on demand before its turn"),
    "defaults": (
        without_defaults,
        lambda: scenario.load_scenario("burst-from-zero"),
        1,
        "On spot while there was spot",
    ),
    "twin": (without_twin, lambda: scenario.load_scenario("spot-gone"), 1, "Work completes"),
    "guard": (without_guard, lambda: scenario.load_scenario("burst-from-zero"), 1, "Platform off spot and GPU nodes"),
    "checkpoints": (lambda _: None, lambda: unsaved("spot-gone-and-back"), 1, "Work done again"),
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", BREAKS)
def test_what_is_broken_on_purpose_turns_a_verdict_red(
    stack: Standing, subject: Subject, broken: str, tmp_path: Path
) -> None:
    if subject.name != "dev":
        pytest.skip("the same verdicts on one cloud")
    change, steps, seed, verdict = BREAKS[broken]
    assert verdict in red(drilled(stack, tmp_path / "copy", change, steps(), seed))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in scenario.scenario_names() if name != "week"])
def test_every_scenario_holds_its_verdicts(stack: Standing, subject: Subject, name: str, tmp_path: Path) -> None:
    record = drilled(stack, tmp_path / "copy", lambda _: None, scenario.load_scenario(name))
    assert red(record) == set()
    assert record.clock.wall < 300


@pytest.mark.slow
def test_a_killed_drill_leaves_the_stack_and_the_next_one_cleans_up(stack: Standing, subject: Subject) -> None:
    before = cluster_of(stack)
    environment = {**os.environ, "SANDBOX_HOME": str(stack.home)}
    command = [
        sys.executable,
        "-m",
        "sandbox",
        "drill",
        "eviction-storm",
        "--stack",
        stack.name,
        "--cwd",
        str(stack.project),
    ]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert until(lambda: any(stack.home.glob("drill+*/copy/clusters/*/processes/kube-scheduler.json")), 60)
    second = stack.run("drill", "burst-from-zero", ok=False)
    assert "another drill is running in this sandbox" in second.stderr
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert cluster_of(stack) == before
    third = stack.run("drill", "burst-from-zero")
    assert "removing the folder of a command that was killed" in third.stderr
    assert not list(stack.home.glob("drill+*/"))
    assert cluster_of(stack) == before
