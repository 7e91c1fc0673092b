"""Drawn weeks in memory: `python -m bench.weeks table|agreement [STACK ...]`.

table: a stack's settings beside fixed policies, ten weeks that tuned nothing, at both ends of a shortage's signal.
agreement: drills over the real programs beside drills in memory on the same work.

Each brings its stacks up in a sandbox of its own.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from bench.drills import sandbox
from drill.in_memory.stack import Stack, read_stack
from drill.judge.hindsight import hindsight
from drill.judge.outcome import ALONE, OURS, Outcome, outcome_of
from drill.play.run import run_drill
from drill.play.source import copied, copy_cloud
from drill.tune.policies import POLICIES, compare_policies, run_policy
from drill.world import scenario as scenarios
from drill.world.basis import Trial
from sandbox.base.home import PROJECT, Home
from sandbox.kubernetes.client import Client

STACKS = ("dev", "staging", "prod")
JUDGED = range(11, 21)
"""Seeds of weeks on which nothing was tuned."""
SIGNALS = ("at-once", "provision-time")
_DRAWS = 2000
COLUMNS = (
    *("stack", "shortage", "policy", "USD a week", "saved, %", "least saved"),
    *("longest wait", "GPU-days waited", "on spot", "times best"),
)


@contextmanager
def up(names: Sequence[str]) -> Iterator[Callable[[str], Home]]:
    """Yield the homes of stacks in a sandbox of their own, by name."""
    with sandbox() as bench:
        for name in names:
            bench.up(name)
        os.environ["SANDBOX_HOME"] = bench.home
        yield lambda name: Home.of(name, PROJECT)
        for name in names:
            bench.down(name)


def read_home_stack(home: Home) -> Stack:
    """Return a stack that is up."""
    with TemporaryDirectory() as folder:
        plane, copy = copy_cloud(home, Path(folder) / "copy")
        client = Client(plane.admin_kubeconfig)
        try:
            return read_stack(home.stack, copy, client)
        finally:
            client.close()


def trial(stack: Stack, seed: int, signal: str | None = None, boot: float | None = None) -> Trial:
    """Draw a week; None for the scenario's own signal and boot time."""
    week = scenarios.load_scenario("week").model_copy(
        update={"shortage": signal, **({} if boot is None else {"boot": boot})}
    )
    return Trial(week, "week", seed, stack.basis.drawn_week(seed, stack.basis))


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the middle 95 % of means of values drawn anew from these."""
    draws = random.Random(1)
    means = sorted(mean(draws.choices(values, k=len(values))) for _ in range(_DRAWS))
    return means[_DRAWS // 40], means[-_DRAWS // 40]


def interval(values: Sequence[float]) -> str:
    """Return the mean with its interval, as text."""
    low, high = ends(values)
    return f"{mean(values):.1f} ({low:.1f} to {high:.1f})"


Week = tuple[dict[str, Outcome], float]


def judged(stack: Stack, signal: str, seed: int) -> Week:
    """Return the outcomes of all policies in one week, and how many times the best possible the stack's own costs."""
    week = trial(stack, seed, signal)
    own = run_policy(stack, week)
    best = hindsight(own).cost
    rows = {row.policy: row.outcome for row in compare_policies(stack, week)}
    return rows, (rows[OURS].usd or 0.0) / best if best else 0.0


def table(*names: str) -> None:
    """Print the table of docs/reference/figures.md."""
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    chosen = names or STACKS
    with up(chosen) as home, ProcessPoolExecutor() as pool:
        for name in chosen:
            stack = read_home_stack(home(name))
            for signal in SIGNALS:
                weeks = list(pool.map(partial(judged, stack, signal), JUDGED))
                for policy in POLICIES:
                    print(_row(name, signal, policy, weeks), flush=True)


def _row(name: str, signal: str, policy: str, weeks: Sequence[Week]) -> str:
    found = [rows[policy] for rows, _ in weeks]
    saved = [100 * (1 - (rows[policy].usd or 0.0) / (rows[ALONE].usd or 1.0)) for rows, _ in weeks]
    times = interval([times for _, times in weeks]) if policy == OURS else ""
    cells = (
        *(name, signal, policy, interval([each.usd or 0.0 for each in found])),
        *(("", "") if policy == ALONE else (interval(saved), f"{min(saved):.1f}")),
        f"{max(each.longest_wait for each in found) / 60:.1f} min",
        f"{mean(each.waited for each in found) / 86400:.2f}",
        *(f"{mean(each.on_spot or 0.0 for each in found):.0%}", times),
    )
    return f"| {' | '.join(cells)} |"


def agreement(*names: str) -> None:
    """Run real drills beside drills in memory, on the same work."""
    print("| stack | seed | drill | USD | longest wait | GPU-days waited | on spot | nodes | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    week = scenarios.load_scenario("week")
    with up(names or STACKS) as home:
        for name in names or STACKS:
            stack = read_home_stack(home(name))
            for seed in (1, 2):
                folder = TemporaryDirectory()
                with folder as path, copied(home(name), Path(path) / "copy", lambda text: None) as copy:
                    steps = stack.basis.drawn_week(seed, stack.basis)
                    found = run_drill(name, copy, Trial(week, "week", seed, steps, basis=stack.basis))
                same = replace(stack, basis=stack.basis.worked(found))
                for kind, record in (("real programs", found), ("in memory", run_policy(same, trial(same, seed)))):
                    own = outcome_of(record)
                    head = f"| {name} | {seed} | {kind} | {own.usd:.2f} | {own.longest_wait / 60:.1f} min |"
                    rest = f"{own.on_spot or 0:.0%} | {len(record.nodes)} | {record.clock.wall:.0f} |"
                    print(f"{head} {own.waited / 86400:.2f} | {rest}", flush=True)


if __name__ == "__main__":
    {"table": table, "agreement": agreement}[sys.argv[1]](*sys.argv[2:])
