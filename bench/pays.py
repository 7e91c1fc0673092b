"""When spot pays: `python -m bench.pays [STACK]` draws docs/when-spot-pays.svg, and prints its figures.

Twenty drawn weeks in memory for each share of time with spot, boot time and signal of a shortage. Spells of spot are as long as
measured (`drill/world/measurements.py`, AWS), and the gaps between them are stretched or cut until the share is the wanted one.
The price of spot changes no decision of the autoscaler, whose order is fixed here: one run gives the cost at each price.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from random import Random
from statistics import mean
from typing import Any

from bench import pictures
from bench.weeks import SIGNALS, ends, read_home_stack, trial, up
from drill.in_memory.stack import Stack
from drill.judge.outcome import outcome_of
from drill.judge.pieces import gpu_cost
from drill.tune.policies import GREEDY, on_demand_alone, run_policy
from drill.world.capacity import ALL
from drill.world.measurements import DAY, Measurement, alike
from drill.world.record import Record, Step
from drill.world.weeks import WEEK, Trace, drawn, shuffled

SEEDS = range(31, 51)
SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
"""Of the week's time with any spot machine."""
RATIOS = (0.25, 0.4, 0.6, 0.8)
"""The price of spot over that of the same machine on demand."""
BOOTS = (100.0, 300.0)
"""Seconds from a machine's order to its registered node."""
_NEAR = 0.03
"""A week is drawn anew until its share is so near to the wanted one."""


@dataclass(frozen=True)
class Case:
    """What all weeks of one point of the picture have in common, but for the price."""

    share: float
    boot: float
    signal: str


@dataclass(frozen=True)
class Found:
    """One week: what is saved against on demand alone at each ratio, in percent, and the longest wait in seconds."""

    saved: Mapping[float, float]
    longest_wait: float


def stretched(row: Measurement, share: float) -> Measurement:
    """Return a measured row with spells as they are and gaps so long that there is spot for this share of the time."""
    losses = share * DAY / row.spells.mean
    factor = ((1 - share) * DAY / losses) / row.gaps.mean
    short, median, long = row.gone
    return replace(row, share=share, total_losses=losses, gone=(short * factor, median * factor, long * factor))


def week(seed: int, share: float, machine: str, most: int) -> list[Step]:
    """Draw a week with spot for about this share of its time."""
    draws = Random(f"{seed} {share}")
    row = stretched(shuffled(alike(1, most), Random(f"{seed}"))[0], share)
    while abs(share_with_spot(trace := drawn(row, most, draws)) - share) > _NEAR:
        pass
    return [Step(at=at, machine=machine, zone=ALL, nodes=nodes) for at, nodes in trace]


def share_with_spot(trace: Trace) -> float:
    """Return the share of a week with any machine."""
    ends = [at for at, _ in trace[1:]] + [WEEK]
    return sum(end - at for (at, nodes), end in zip(trace, ends, strict=True) if nodes) / WEEK


def at_ratio(record: Record, ratio: float) -> float:
    """Return what a record's GPU nodes cost in USD, where spot has this share of the price on demand."""
    pools = [
        replace(pool, price=(pool.on_demand_price or 0.0) * ratio) if pool.capacity == "spot" else pool
        for pool in record.pools
    ]
    return gpu_cost(replace(record, pools=pools)) or 0.0


@dataclass(frozen=True)
class Basis:
    """The work of one seed and boot time, and what it costs on demand alone in USD: no spot is asked, so no signal counts."""

    stack: Stack
    alone: float


def basis(stack: Stack, boot: float, seed: int) -> Basis:
    """Draw the work, and run it on demand alone."""
    plain = trial(stack, seed, None, boot)
    same = replace(stack, basis=stack.basis.worked(run_policy(stack, plain)))
    return Basis(same, gpu_cost(run_policy(on_demand_alone(same), plain)) or 0.0)


def measured(job: tuple[Case, int, Basis]) -> Found:
    """Run one week by the stack's settings, spot first."""
    case, seed, own = job
    (spot,) = [pool for pool in own.stack.pools if pool.capacity == "spot" and pool.gpus]
    base = trial(own.stack, seed, case.signal, case.boot)
    steps = week(seed, case.share, spot.machine, spot.most or 1)
    record = run_policy(own.stack, replace(base, steps=steps), GREEDY)
    saved = {ratio: 100 * (1 - at_ratio(record, ratio) / own.alone) for ratio in RATIOS}
    return Found(saved, outcome_of(record).longest_wait)


@dataclass(frozen=True)
class Row:
    """One point of the picture: the mean saving in percent with its interval, and the longest wait in minutes."""

    case: Case
    ratio: float
    saved: float
    low: float
    high: float
    wait: float


def rows_of(found: Mapping[Case, Sequence[Found]]) -> Iterator[Row]:
    """Yield the points of all cases."""
    for case, weeks in found.items():
        for ratio in RATIOS:
            values = [each.saved[ratio] for each in weeks]
            yield Row(case, ratio, mean(values), *ends(values), max(each.longest_wait for each in weeks) / 60)


def spec(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the picture: what spot saves, a line for each price, and beside it what the signal of a shortage makes pods wait."""
    share = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [15, 100], "nice": False},
        "axis": {"title": "time with spot machines, %", "values": [100 * share for share in SHARES]},
    }
    return {
        "hconcat": [_savings(rows, share), _waits(rows, share)],
        "spacing": 40,
        "resolve": {"scale": {"color": "independent"}},
    }


def _savings(rows: Sequence[Row], x: dict[str, Any]) -> dict[str, Any]:
    strict = [row for row in rows if row.case.boot == BOOTS[-1] and row.case.signal == SIGNALS[-1]]
    values = [
        {"share": 100 * row.case.share, "price": f"{row.ratio:.0%}"}
        | {"saved": row.saved, "low": row.low, "high": row.high}
        for row in strict
    ]
    y = {"type": "quantitative", "title": "saved, % of the cost without spot", "scale": {"domain": [0, 65]}}
    names = [f"{ratio:.0%}" for ratio in RATIOS]
    colour = {
        "field": "price",
        "sort": names,
        "scale": {"domain": names, "range": list(pictures.COLOURS)},
        "title": ["price of spot,", "of on demand"],
    }
    return {
        "title": {"text": "What it saves", "subtitle": "by the price of spot", "anchor": "start", "fontSize": 13},
        "width": 330,
        "height": 250,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.16},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
            },
            {
                "mark": {"type": "line", "point": {"size": 24}, "strokeWidth": 2},
                "encoding": {"x": x, "y": {**y, "field": "saved"}, "color": colour},
            },
        ],
    }


_DASHES = f"dashed: machines boot in {BOOTS[1]:.0f} s, else in {BOOTS[0]:.0f} s"
_TOLD = {"at-once": "at once", "provision-time": "not at all (10 min)"}


def _waits(rows: Sequence[Row], x: dict[str, Any]) -> dict[str, Any]:
    cases = [(row.case, row.wait) for row in rows if row.ratio == RATIOS[0]]
    values = [
        {"share": 100 * case.share, "wait": wait, "told": _TOLD[case.signal], "boot": f"{case.boot:.0f} s"}
        for case, wait in cases
    ]
    names = list(_TOLD.values())
    return {
        "title": {"text": "What pods wait, at most", "subtitle": _DASHES, "anchor": "start", "fontSize": 13},
        "width": 250,
        "height": 250,
        "data": {"values": values},
        "mark": {"type": "line", "point": {"size": 24}, "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {"field": "wait", "type": "quantitative", "title": "longest wait of a week, minutes"},
            "color": {
                "field": "told",
                "scale": {"domain": names, "range": [pictures.COLOURS[1], pictures.COLOURS[3]]},
                "title": ["a shortage", "is told"],
            },
            "strokeDash": {"field": "boot", "legend": None, "sort": [f"{boot:.0f} s" for boot in BOOTS]},
        },
    }


def draw(rows: Sequence[Row], machine: str) -> None:
    """Write the picture."""
    words = [
        f"A week of work on spot {machine} with an on-demand twin, spot first. Means of {len(SEEDS)} drawn weeks, and where 95 %",
        "of such means lie; machines boot in 5 minutes. Spells of spot as measured on AWS: nobody published them for Azure.",
    ]
    title = "When spot pays: it saves what it is cheaper, for as long as it is there"
    pictures.write("when-spot-pays.svg", title, words, spec(rows))


def main(name: str = "dev") -> None:
    """Measure, draw and print."""
    cases = [Case(*each) for each in product(SHARES, BOOTS, SIGNALS)]
    found: dict[Case, list[Found]] = {}
    with up([name]) as home, ProcessPoolExecutor() as pool:
        stack = read_home_stack(home(name))
        works = {boot: list(pool.map(partial(basis, stack, boot), SEEDS)) for boot in BOOTS}
        for place, case in enumerate(cases, 1):
            jobs = [(case, *each) for each in zip(SEEDS, works[case.boot], strict=True)]
            found[case] = list(pool.map(measured, jobs))
            print(f"{place} of {len(cases)} points", file=sys.stderr, flush=True)
    rows = list(rows_of(found))
    draw(rows, next(pool.machine for pool in stack.pools if pool.capacity == "spot"))
    prices = " | ".join(f"spot at {ratio:.0%}" for ratio in RATIOS)
    print(f"| time with spot | boot | shortage | {prices} | longest wait |")
    print("|---|---|---|---|---|---|---|---|")
    for case in found:
        own = [row for row in rows if row.case == case]
        saved = " | ".join(f"{row.saved:.1f} ({row.low:.1f} to {row.high:.1f})" for row in own)
        print(f"| {case.share:.0%} | {case.boot:.0f} s | {case.signal} | {saved} | {own[0].wait:.1f} min |")


if __name__ == "__main__":
    main(*sys.argv[1:])
