"""Tuning: what a search finds on small drills, and the change of a stack file that it writes."""

import subprocess
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from drill.tune.tune import UNNEEDED, Setting, Tuned, axes, tune
from drill.tune.tune_command import difference, tuned_text
from drill.world.basis import Trial
from drill.world.scenario import Scenario
from tests.drill.in_memory_stack import stack

FILE = """\
config:
  kubeflow-spot:cloud:
    provider: azure  # ours
    autoscaler: {maxNodeProvisionTime: 5m}
  kubeflow-spot:pools:
    - name: t4
      capacity: spot
      # At least what a sweep needs.
      fallback:
        - onDemand: {maxNodes: 2}
    - {name: general, maxNodes: 6}
"""
SOURCES = {"t4": "t4", "t4od": "t4", "general": "general"}


class Here(Executor):
    """Runs everything at once, in this process."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **keys: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(call(*arguments, **keys))
        return done

    def map(
        self, call: Callable[..., Any], *many: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[Any]:
        return map(call, *many)


def week(seed: int, twice: bool = False) -> Trial:
    """Draw three hours of a sweep without spot: the twin's size decides the wait, and idle machines the cost."""
    work = [
        {"name": "sweep", "role": "trial", "count": 4, "at": "1m", "runFor": "20m-30m", "checkpointEvery": "5m"},
        {"name": "later", "role": "trial", "count": 2, "at": "100m", "runFor": "10m"},
    ]
    faults = [{"at": "0s", "capacity": {"nodes": 0}}]
    wanted = {"description": "", "length": "3h", "work": work, "faults": faults, "shortage": "at-once"}
    return Trial(Scenario.model_validate(wanted), "test", seed)


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    return tune(stack(twin=2), [week(1), week(2)], [week(3), week(4)], 900.0, Here())


def test_the_twin_becomes_as_large_as_the_accepted_wait_needs_and_idle_machines_go_sooner(tuned: Tuned) -> None:
    assert dict(tuned.chosen.most)["t4od"] == 4
    assert dict(tuned.chosen.times)[UNNEEDED] == "1m"
    assert tuned.before.longest_wait > 900 >= tuned.after.longest_wait
    assert tuned.after.usd < tuned.before.usd
    assert tuned.regret >= 0.0


def test_weeks_that_judge_are_others_than_those_that_choose(tuned: Tuned) -> None:
    assert len(tuned.after.outcomes) == len(tuned.before.outcomes) == len(tuned.alone.outcomes) == 2
    again = tune(stack(twin=2), [week(1), week(2)], [week(1), week(2)], 900.0, Here())
    assert again.chosen == tuned.chosen
    assert again.after.outcomes != tuned.after.outcomes


def test_a_wait_that_is_accepted_is_not_paid_for() -> None:
    found = tune(stack(twin=4), [week(1)], [week(2)], 24 * 3600.0, Here())
    assert found.after.longest_wait > 900


def test_gkes_timers_are_no_users_and_are_not_tuned_but_that_of_a_class() -> None:
    body = {"metadata": {"name": "kubeflow-spot"}, "spec": {"priorities": [{"nodepools": ["t4"]}]}}
    gke = replace(stack(), provider="gcp", classes=(body,))
    named = dict(axes(gke, Setting()))
    assert set(named) == {"t4od.maxNodes", "order", "consolidationDelayMinutes"}
    assert UNNEEDED in {name for name, _ in axes(stack(), Setting())}
    chosen = Setting(consolidation=2)
    assert chosen in named["consolidationDelayMinutes"]
    assert chosen.on(gke).consolidation == 2
    assert chosen not in dict(axes(gke, chosen))["consolidationDelayMinutes"]
    config = yaml.safe_load(tuned_text(FILE, chosen, gke, SOURCES))["config"]
    assert config["kubeflow-spot:cloud"]["fallback"] == {"consolidationDelayMinutes": 2}


def test_the_difference_is_one_that_git_applies_and_keeps_comments(tmp_path: Path) -> None:
    setting = Setting(most=(("t4od", 4),), order=("general", "t4od", "t4"), times=(("scaleDownUnneededTime", "1m"),))
    text = difference(FILE, "Pulumi.dev.yaml", setting, stack(), SOURCES)
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(FILE)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=text, text=True, check=True)
    assert file.read_text() == tuned_text(FILE, setting, stack(), SOURCES)
    config = yaml.safe_load(file.read_text())["config"]
    assert config["kubeflow-spot:pools"][0]["fallback"] == [{"onDemand": {"maxNodes": 4}}]
    assert config["kubeflow-spot:growth"] == {"order": ["t4od", "t4"]}
    assert config["kubeflow-spot:cloud"]["autoscaler"] == {"maxNodeProvisionTime": "5m", "scaleDownUnneededTime": "1m"}
    assert "# ours" in file.read_text()
    assert "# At least what a sweep needs." in file.read_text()


def test_what_is_as_it_was_is_no_difference() -> None:
    assert difference(FILE, "Pulumi.dev.yaml", Setting(), stack(), SOURCES) == ""
    assert difference(FILE, "Pulumi.dev.yaml", Setting(most=(("t4od", 2),)), stack(), SOURCES) == ""
