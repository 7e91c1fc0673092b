"""`sandbox drill --tune`: tunes a stack's chains in memory, and writes the change of its stack file as a difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from drill.command import Side, brought_up
from drill.folder import writable, writing
from drill.in_memory import stack as stacks
from drill.in_memory.stack import Stack
from drill.judge.outcome import Outcome
from drill.judge.spans import span
from drill.play.source import cloud_of
from drill.tune.policies import Trial
from drill.tune.tune import Judged, Tuned, tune
from drill.tune.tuned_file import difference
from drill.world import scenario as scenarios
from sandbox.base.home import Home
from sandbox.base.notices import Notify
from sandbox.engine.scratch import DRILL, opened
from sandbox.kubernetes.client import Client

SEEDS = 5
"""Weeks that choose, and as many others that judge."""
FILE = "tuned.diff"


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    seed: int
    config_file: Path | None
    directory: Path
    as_json: bool
    shortage: scenarios.Shortage | None = None
    cluster: str | None = None
    cloud: Path | None = None


@contextmanager
def read(home: Home, request: Request, notify: Notify) -> Iterator[tuple[Stack, dict[str, str]]]:
    """Read a stack that is up, or that comes up beside it by another stack file; and the stack file's pool of each pool."""
    with opened(home.root, notify, DRILL) as scratch:
        source = home
        if request.config_file:
            side = Side(request.config_file.name, request.config_file)
            source = brought_up(home, side, scratch, request.cloud, notify)
        plane, copy = cloud_of(source, scratch.folder / "copy", request.cluster)
        client = Client(plane.admin_kubeconfig)
        try:
            stack = stacks.of(home.stack, copy, client)
        finally:
            client.close()
        yield stack, dict((copy.outputs.get("remembered") or {}).get("pools") or {})


def run(home: Home, request: Request, notify: Notify) -> None:
    """Tune, print what came out, and write the difference. Raises SandboxError."""
    scenario = scenarios.load("week").model_copy(update={"shortage": request.shortage})
    path = request.config_file or home.config_file or home.project / f"Pulumi.{home.stack}.yaml"
    with writable(request.directory), read(home, request, notify) as (stack, sources):
        weeks = [
            Trial(scenario, "week", seed, stack.basis.drawn_week(seed, stack.basis))
            for seed in range(request.seed, request.seed + 2 * SEEDS)
        ]
        accepted = stack.accepted_wait
        notify(
            f"drawn weeks {request.seed} to {request.seed + SEEDS - 1} choose, the {SEEDS} after them judge"
        )
        with ProcessPoolExecutor() as pool:
            tuned = tune(stack, weeks[:SEEDS], weeks[SEEDS:], accepted, pool, notify)
    text = difference(path.read_text(), path.name, tuned.chosen, stack, sources)
    if request.as_json:
        click.echo(json.dumps(as_json(tuned, text), indent=2))
    else:
        _print(Console(), tuned, text, path.name, accepted)
    with writing(request.directory):
        (request.directory / FILE).write_text(text)
    notify(
        f"the difference is {request.directory / FILE}: `git apply` takes it; {path.name} stays as it is"
    )


def as_json(tuned: Tuned, text: str) -> dict[str, Any]:
    """The result as plain data."""
    return {**asdict(tuned), "difference": text}


def _print(console: Console, tuned: Tuned, text: str, name: str, accepted: float) -> None:
    table = Table(
        "Setting",
        "USD a week",
        "Saved against alone",
        "Longest wait",
        "On spot",
        "Done again",
        box=None,
    )
    rows: list[tuple[str, Judged]] = [
        ("on demand alone", tuned.alone),
        ("as it is", tuned.before),
        ("as tuned", tuned.after),
        ("as tuned, pods move back to spot", tuned.moved),
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
        f"\nMeans of {SEEDS} drawn weeks that chose nothing; waits are the longest of all. Accepted: {span(accepted)}."
        f" {tuned.tried} settings were tried. Regret: {tuned.regret:,.2f} USD a week less by the best of the last eight.\n",
        highlight=False,
    )
    console.print(
        text or f"{name}: nothing to change.", highlight=False, markup=False, soft_wrap=True
    )


def _mean(judged: Judged, figure: Callable[[Outcome], float]) -> str:
    return f"{sum(map(figure, judged.outcomes)) / len(judged.outcomes):.0%}"
