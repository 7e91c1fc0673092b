"""`sandbox drill --tune`: tunes a stack in memory, and writes the change of its stack file."""

from __future__ import annotations

import difflib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from ruamel.yaml import YAML

from drill.command import Request, writable, writing
from drill.in_memory.provisioned_stack import reading
from drill.in_memory.stack import Stack
from drill.judge.outcome import Outcome
from drill.judge.verdict import span
from drill.play.source import copy_cloud
from drill.sides import Side, bring_up, check_side
from drill.tune.tune import Judged, Setting, Tuned, tune
from drill.world.basis import Trial
from drill.world.scenario import load_scenario
from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.engine.scratch import DRILL, opened

SEEDS = 5
"""Weeks that choose, and as many others that judge."""
FILE = "tuned.diff"
_PREFIX = "kubeflow-spot:"


@contextmanager
def tuned_stack(
    home: Home, request: Request, notify: Notify
) -> Iterator[tuple[Stack, dict[str, str]]]:
    """Read the running stack, or one that comes up by another stack file.

    Yields the stack, and the stack file's pool of each pool.
    """
    with opened(home.root, notify, DRILL) as scratch:
        source = home
        if request.config_file:
            side = Side(request.config_file.name, request.config_file)
            source = bring_up(home, side, scratch, request.cloud, notify)
        copied = copy_cloud(source, scratch.folder / "copy", request.cluster)
        with reading(home.stack, copied, notify) as stack:
            yield stack, dict((copied[1].outputs.get("remembered") or {}).get("pools") or {})


@contextmanager
def other_stack(home: Home, request: Request, notify: Notify) -> Iterator[Stack | None]:
    """Read the stack that `--against` names, which comes up beside the first; None without one."""
    if not request.against:
        yield None
        return
    path = Path(request.against).resolve()
    if not path.is_file():
        raise SandboxError(f"--against: with --tune {request.against} must be a stack file")
    check_side(home, Side(path.name, path), request.cloud, notify)
    with tuned_stack(home, replace(request, config_file=path), notify) as (stack, _):
        yield stack


def tune_stack(home: Home, request: Request, notify: Notify) -> None:
    """Tune a stack, print the result, and write the difference. Raises SandboxError."""
    scenario = load_scenario("week").model_copy(update={"shortage": request.shortage})
    path = request.config_file or home.config_file or home.project / f"Pulumi.{home.stack}.yaml"
    with (
        writable(request.directory),
        tuned_stack(home, request, notify) as (stack, sources),
        other_stack(home, request, notify) as other,
    ):
        weeks = [
            Trial(scenario, "week", seed, stack.basis.drawn_week(seed, stack.basis))
            for seed in range(request.seed, request.seed + 2 * SEEDS)
        ]
        accepted = stack.accepted_wait
        last = request.seed + SEEDS - 1
        notify(f"drawn weeks {request.seed} to {last} choose, the {SEEDS} after them judge")
        with ProcessPoolExecutor() as pool:
            tuned = tune(stack, weeks[:SEEDS], weeks[SEEDS:], accepted, pool, notify, other)
    text = difference(path.read_text(), path.name, tuned.chosen, stack, sources)
    if request.as_json:
        click.echo(json.dumps(as_json(tuned, text), indent=2))
    else:
        _print(Console(), tuned, text, path.name, accepted, Path(request.against).name)
    with writing(request.directory):
        (request.directory / FILE).write_text(text)
    notify(
        f"the difference is {request.directory / FILE}: `git apply` takes it;"
        f" {path.name} stays as it is"
    )


def as_json(tuned: Tuned, text: str) -> dict[str, Any]:
    """Return the result as plain data."""
    return {**asdict(tuned), "difference": text}


def _print(
    console: Console, tuned: Tuned, text: str, name: str, accepted: float, other: str
) -> None:
    columns = ("Setting", "USD a week", "Saved against alone", "Longest wait", "On spot")
    table = Table(*columns, "Done again", box=None)
    rows: list[tuple[str, Judged]] = [
        ("on demand alone", tuned.alone),
        ("as it is", tuned.before),
        ("as tuned", tuned.after),
        ("as tuned, pods move back to spot", tuned.moved),
        *([(f"{other} as it is", tuned.other)] if tuned.other else []),
    ]
    for title, judged in rows:
        saved = 1 - judged.usd / tuned.alone.usd if tuned.alone.usd else 0.0
        table.add_row(
            title,
            f"{judged.usd:,.2f}",
            "" if judged is tuned.alone else f"{saved:.0%}",
            span(judged.longest_wait),
            _mean(judged, lambda each: each.on_spot or 0.0),
            _mean(judged, lambda each: each.again),
        )
    console.print(table)
    console.print(
        f"\nMeans of {SEEDS} drawn weeks that chose nothing; waits are the longest of all."
        f" Accepted: {span(accepted)}. {tuned.tried} settings were tried."
        f" Regret: {tuned.regret:,.2f} USD a week less by the best of the last eight.\n",
        highlight=False,
    )
    words = text or f"{name}: nothing to change."
    console.print(words, highlight=False, markup=False, soft_wrap=True)


def _mean(judged: Judged, figure: Callable[[Outcome], float]) -> str:
    return f"{sum(map(figure, judged.outcomes)) / len(judged.outcomes):.0%}"


def difference(
    text: str, path: str, setting: Setting, stack: Stack, sources: Mapping[str, str]
) -> str:
    """Return the unified difference of a stack file, for `git apply`; empty without changes.

    Comments and layout stay. `sources` has the stack file's pool of each pool.
    """
    after = tuned_text(text, setting, stack, sources)
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(lines)


def tuned_text(text: str, setting: Setting, stack: Stack, sources: Mapping[str, str]) -> str:
    """Return the text of a stack file with tuned settings."""
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    content = yaml.load(text)
    config = content["config"]
    most = {pool.name: pool.most for pool in stack.pools}
    for name, size in setting.most:
        if size != most[name]:
            _twin(config[f"{_PREFIX}pools"], sources[name], size)
    if setting.times:
        cloud = config[f"{_PREFIX}cloud"]
        cloud.setdefault("autoscaler", {}).update(dict(setting.times))
    if setting.consolidation:
        fallback = config[f"{_PREFIX}cloud"].setdefault("fallback", {})
        fallback["consolidationDelayMinutes"] = setting.consolidation
    if setting.order:
        with_gpus = {pool.name for pool in stack.pools if pool.gpus}
        order = [name for name in setting.order if name in with_gpus]
        config.setdefault(f"{_PREFIX}growth", {})["order"] = order
    out = io.StringIO()
    yaml.dump(content, out)
    return out.getvalue()


def _twin(pools: list[Any], source: str, size: int) -> None:
    """Give a pool's on-demand step a maximum."""
    pool = next(each for each in pools if each["name"] == source)
    steps = [step for step in pool.get("fallback") or () if "onDemand" in step]
    if steps:
        steps[0]["onDemand"]["maxNodes"] = size
    else:
        pool["maxNodes"] = size
