"""Drawn weeks in memory: `python -m bench.weeks table|agreement|engines [STACK ...]`.

table: a stack's settings beside fixed policies, ten weeks that tuned nothing, at both ends of a shortage's signal.
agreement: drills over the real programs beside drills in memory on the same work.
engines: a stack on AKS by the cluster autoscaler and by Karpenter's own code, on the same five weeks and work.

Each brings its stacks up in a sandbox of its own.
"""

import io
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

from ruamel.yaml import YAML

from bench.drills import sandbox
from drill.command import Request
from drill.in_memory.stack import Stack, read_stack
from drill.judge.hindsight import hindsight
from drill.judge.outcome import ALONE, OURS, Outcome, outcome_of
from drill.play.run import run_drill
from drill.play.source import copied, copy_cloud
from drill.tune.policies import POLICIES, compare_policies, run_policy
from drill.tune.tune_command import tuned_stack
from drill.world import scenario as scenarios
from drill.world.basis import Trial
from drill.world.record import Pod, Record
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


ENGINES_JUDGED = range(11, 16)
_BACK_OFFS = (3600.0, 300.0)
"""Seconds for which Karpenter leaves a refused machine alone: the provider's own, and a short time beside it."""
_OF_ENGINES = (
    *("stack", "engine", "USD a week", "saved, %", "longest wait", "GPU-days waited", "on spot", "done again"),
    *("moved", "kept pods moved", "back on spot after, min", "s a week"),
)


def provisioned_text(text: str) -> str:
    """Return a stack file on AKS with node auto-provisioning in place of the cluster autoscaler."""
    yaml = YAML()
    content = yaml.load(text)
    config = content["config"]
    cloud = config["kubeflow-spot:cloud"]
    cloud.pop("autoscaler", None)
    cloud["nodeProvisioning"] = {}
    cloud.setdefault("network", {}).update({"dataplane": "cilium", "policy": "cilium"})
    for pool in config["kubeflow-spot:pools"]:
        # Karpenter keeps no empty machines.
        pool.pop("minNodes", None)
    out = io.StringIO()
    yaml.dump(content, out)
    return out.getvalue()


@contextmanager
def both(home: Home, folder: Path) -> Iterator[tuple[Stack, Stack]]:
    """Yield a stack that is up, and the same one with node auto-provisioning, which comes up beside it."""
    path = folder / f"{home.stack}.yaml"
    path.write_text(provisioned_text((PROJECT / f"Pulumi.{home.stack}.yaml").read_text()))
    request = Request("week", 1, folder, config_file=path)
    with tuned_stack(home, request, lambda text: print(text, file=sys.stderr)) as (stack, _):
        yield read_home_stack(home), stack


def by_engine(stacks: tuple[Stack, Stack], seed: int) -> dict[str, Record]:
    """Return the records of one week by engine, on the work that the autoscaler's settings draw."""
    stack, provisioned = stacks
    week = trial(stack, seed, "provision-time")
    first = run_policy(stack, week)
    basis = stack.basis.worked(first)
    found = {ALONE: run_policy(replace(stack, basis=basis), week, ALONE)}
    for signal in SIGNALS:
        found[f"autoscaler, {signal}"] = run_policy(replace(stack, basis=basis), trial(stack, seed, signal))
    assert provisioned.engine
    for seconds in _BACK_OFFS:
        engine = replace(provisioned.engine, left_alone=seconds)
        own = replace(provisioned, basis=basis, engine=engine)
        found[f"Karpenter, {seconds / 60:.0f} min"] = run_policy(own, trial(stack, seed, None))
    return found


def returns(record: Record) -> list[float]:
    """Return the minutes from the time at which a moved pod could be on spot to its start there.

    It could be once the back-off after its machine's last refusal had ended, and spot was there.
    """
    back_off = 60.0 * float(record.settings["a refused machine is left alone"].removesuffix("m"))
    spot = {pool.name: pool.machine for pool in record.pools if pool.capacity == "spot"}
    after: dict[str, list[Pod]] = {pod.work: [] for pod in record.pods}
    for pod in record.pods:
        after[pod.work].append(pod)
    found = []
    for pod in record.pods:
        if pod.how != "drained" or pod.pool in spot or pod.ended is None or pod.started is None:
            continue
        new = next((each for each in after[pod.work] if each.created >= pod.ended and each.pool in spot), None)
        if new is None or new.started is None:
            continue
        machine, until = spot[str(new.pool)], pod.ended
        refused = [e.at for e in record.events if e.kind == "failed" and spot.get(e.pool) == machine and e.at < until]
        free = [step.at for step in record.capacity if step.machine == machine and step.nodes and step.at < until]
        could = max([pod.started, *(at + back_off for at in refused[-1:]), *free[-1:]])
        found.append((new.started - could) / 60)
    return found


def engines(*names: str) -> None:
    """Print the table of both engines (docs/reference/figures.md)."""
    print(f"| {' | '.join(_OF_ENGINES)} |")
    print(f"|{'---|' * len(_OF_ENGINES)}")
    chosen = names or ("dev",)
    with up(chosen) as home, TemporaryDirectory() as folder:
        for name in chosen:
            with both(home(name), Path(folder)) as stacks, ProcessPoolExecutor() as pool:
                weeks = list(pool.map(partial(by_engine, stacks), ENGINES_JUDGED))
            for engine in weeks[0]:
                print(_engine_row(name, engine, weeks), flush=True)


def _engine_row(name: str, engine: str, weeks: Sequence[dict[str, Record]]) -> str:
    records = [week[engine] for week in weeks]
    found, alone = [outcome_of(each) for each in records], [outcome_of(week[ALONE]) for week in weeks]
    saved = [100 * (1 - (own.usd or 0.0) / (other.usd or 1.0)) for own, other in zip(found, alone, strict=True)]
    moved = [pod for each in records for pod in each.pods if pod.how == "drained" and pod.started is not None]
    back = sorted(time for each in records if "Karpenter" in engine for time in returns(each))
    cells = (
        *(name, engine, f"{mean(each.usd or 0.0 for each in found):.1f}"),
        "" if engine == ALONE else f"{mean(saved):.1f} (least {min(saved):.1f})",
        f"{max(each.longest_wait for each in found) / 60:.1f} min",
        f"{mean(each.waited for each in found) / 86400:.2f}",
        *(f"{mean(each.on_spot or 0.0 for each in found):.0%}", f"{mean(each.again for each in found):.1%}"),
        *(f"{len(moved) / len(weeks):.1f}", str(sum(not pod.spot for pod in moved))),
        f"{back[len(back) // 2]:.1f}, most {back[-1]:.1f} ({len(back)})" if back else "",
        f"{mean(each.clock.wall for each in records):.0f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    {"table": table, "agreement": agreement, "engines": engines}[sys.argv[1]](*sys.argv[2:])
