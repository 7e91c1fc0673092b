"""Drawn weeks of spot capacity against the measurements."""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random
from statistics import mean, median

import pytest

from drill.world.measurements import Lengths, Measurement, alike, measurements
from drill.world.weeks import WEEK, Trace, drawn, week

SPELLS = 1500
"""Spells drawn of each row, in stretches as long as it was measured, so that its begin and its end cut as many of them."""

OFF = 0.04
"""The share of drawn lengths below a measured percentile may be off by three standard errors: 3 * sqrt(0.25 / SPELLS)."""

ROWS = [row for row in measurements() if row.total_losses >= 2]
"""Rows with fewer losses a day had 3 to 46 spells, of which the edges of the measurement cut too many."""


@dataclass(frozen=True)
class Seen:
    """What a measurement would say of drawn traces. Minutes."""

    share: float
    total_losses: float
    partial_losses: float
    there: list[float]
    gone: list[float]


def seen(traces: list[Trace], length: int) -> Seen:
    there: list[float] = []
    gone: list[float] = []
    total = partial = 0
    for trace in traces:
        total += sum(after == 0 for (_, _), (_, after) in pairwise(trace))
        partial += sum(0 < after < before for (_, before), (_, after) in pairwise(trace))
        ups = [nodes > 0 for _, nodes in trace]
        turns = [place for place, up in enumerate(ups) if place == 0 or up != ups[place - 1]]
        ends = [(trace[place][0], ups[place]) for place in turns]
        for (at, up), (until, _) in pairwise([*ends, (length, False)]):
            (there if up else gone).append((until - at) / 60)
    days = len(traces) * length / 86400
    return Seen(sum(there) / (days * 1440), total / days, partial / days, there, gone)


def drawn_like(row: Measurement) -> Seen:
    length = round(row.days * 86400)
    number = math.ceil(SPELLS / (row.total_losses * row.days))
    return seen([drawn(row, row.nodes, Random(f"{seed} {row.name}"), length) for seed in range(number)], length)


def differences(lengths: list[float], measured: tuple[float, float, float]) -> Iterator[str]:
    """Yield measured percentiles that the drawn lengths miss. Many lengths equal the shortest that were sampled."""
    for part, length in zip((0.1, 0.5, 0.9), measured, strict=True):
        below = sum(drawn < length * 0.99 for drawn in lengths) / len(lengths)
        up_to = sum(drawn <= length * 1.01 + 0.02 for drawn in lengths) / len(lengths)
        if not below - OFF <= part <= up_to + OFF:
            yield f"{length} min is the measured {part:.0%} percentile; of the drawn lengths {below:.0%} are below"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_drawn_traces_have_the_measured_shares_and_percentiles(row: Measurement) -> None:
    found = drawn_like(row)
    assert [*differences(found.there, row.there), *differences(found.gone, row.gone)] == []
    assert found.share == pytest.approx(row.share, abs=0.05)
    # A fifth: the means of such tails are off by about 5 % after 1,500 draws, and the table is rounded to tenths.
    assert found.total_losses == pytest.approx(row.total_losses, rel=0.2)
    assert found.partial_losses == pytest.approx(row.partial_losses, rel=0.3)


def test_lengths_keep_their_mean() -> None:
    for row in measurements():
        for lengths in (row.spells, row.gaps) if row.total_losses else ():
            drawn = [lengths.at((draw + 0.5) / 2000) for draw in range(2000)]
            assert mean(drawn) == pytest.approx(lengths.mean, rel=0.04), row.name


def test_exponential_lengths_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    exponential: Callable[[Lengths, float], float] = lambda lengths, part: -lengths.mean * math.log(1 - part)  # noqa: E731
    monkeypatch.setattr(Lengths, "at", exponential)
    for row in ROWS[::6]:
        assert list(differences(drawn_like(row).there, row.there)), row.name


def of_week(seed: int, most: int = 8, gpus: int = 1, zones: tuple[str, ...] = ("1", "2", "3")) -> dict[str, Trace]:
    steps = week(seed, ["T4"], zones, {"T4": most}, {"T4": gpus})
    return {zone: [(int(step.at), step.nodes or 0) for step in steps if step.zone == zone] for zone in zones}


def test_a_week_is_the_same_each_time() -> None:
    """Also on another version of Python: the digest is of Python 3.11."""
    arguments = (["T4", "A100"], ["1", "2"], {"T4": 16, "A100": 4}, {"T4": 1, "A100": 8})
    steps = week(7, *arguments)
    assert steps == week(7, *arguments)
    assert steps != week(8, *arguments)
    assert hashlib.sha256(repr(steps).encode()).hexdigest()[:16] == "351353116403e7e1"
    alone = week(7, ["A100"], ["1", "2"], {"A100": 4}, {"A100": 8})
    assert alone == [step for step in steps if step.machine == "A100"], "a machine does not change what another gets"


def test_a_week_is_steps_in_order_from_its_begin_to_its_end() -> None:
    steps = week(1, ["T4"], [], {"T4": 4}, {"T4": 1})
    assert {(step.machine, step.zone) for step in steps} == {("T4", "*")}
    assert steps[0].at == 0
    assert [step.at for step in steps] == sorted({step.at for step in steps})
    assert steps[-1].at < WEEK
    assert all(step.nodes is not None and 0 <= step.nodes <= 4 for step in steps)
    assert all(before.nodes != after.nodes for before, after in pairwise(steps))


def test_a_week_begins_anywhere_in_a_spell() -> None:
    """Most of the time is in long spells, so what is there at second 0 stays longer than the median spell."""
    row = next(row for row in ROWS if row.there == (10, 62, 894))
    traces = [drawn(row, 1, Random(f"{seed}")) for seed in range(100)]
    assert median(trace[1][0] if len(trace) > 1 else WEEK for trace in traces if trace[0][1]) > 5 * 62 * 60


def share(trace: Trace, nodes: range) -> float:
    return sum(until - at for (at, number), (until, _) in pairwise([*trace, (WEEK, 0)]) if number in nodes) / WEEK


def test_a_group_is_there_as_a_whole_or_not_at_all() -> None:
    """Of 16 nodes all were there 42 to 46 % of the time and a part 2.5 to 17 % (computed from the same public files)."""
    traces = [trace for seed in range(15) for trace in of_week(seed, most=16).values()]
    assert 0.38 < mean(share(trace, range(16, 17)) for trace in traces) < 0.50
    assert 0.025 < mean(share(trace, range(1, 16)) for trace in traces) < 0.10


def test_eight_gpus_are_there_half_as_often() -> None:
    single, eight = (
        mean(share(of_week(seed, most=1, gpus=gpus, zones=("1",))["1"], range(1, 2)) for seed in range(150))
        for gpus in (1, 8)
    )
    assert 0.5 < eight / single < 0.8, "0.42 against 0.64 in the table, over all rows"


def test_zones_differ_in_their_share_and_change_at_other_hours() -> None:
    weeks = [of_week(seed) for seed in range(12)]
    shares = [[share(trace, range(1, 9)) for trace in zones.values()] for zones in weeks]
    assert median(max(each) - min(each) for each in shares) > 0.2
    pairs = [pair for zones in weeks for pair in combinations(zones.values(), 2)]
    equal = [at for one, other in pairs for at, _ in one[1:] if at in dict(other)]
    assert len(equal) < 0.01 * sum(len(trace) for zones in weeks for trace in zones.values())


def test_zones_come_and_go_together_more_often_than_by_chance() -> None:
    """Zones of one region correlate by 0.11 to 0.73 (17 pairs of the public files, median 0.47)."""

    def correlation(one: Trace, other: Trace) -> float:
        a, b = ([dict_at(trace, at) > 0 for at in range(0, WEEK, 600)] for trace in (one, other))
        both, p, q = mean(x and y for x, y in zip(a, b, strict=True)), mean(a), mean(b)
        return (both - p * q) / math.sqrt(max(p * (1 - p) * q * (1 - q), 1e-9))

    def dict_at(trace: Trace, now: int) -> int:
        return next(nodes for at, nodes in reversed(trace) if at <= now)

    weeks = [of_week(seed, most=1) for seed in range(5)]
    pairs = [pair for zones in weeks for pair in combinations(zones.values(), 2)]
    assert 0.1 < median(correlation(*pair) for pair in pairs) < 0.6


@pytest.mark.parametrize(
    ("gpus", "most", "nodes", "kind"), [(0, 30, 1, 0), (1, 1, 1, 1), (1, 8, 4, 1), (4, 16, 16, 1), (8, 16, 1, 8)]
)
def test_a_machine_is_drawn_from_the_rows_nearest_to_it(gpus: int, most: int, nodes: int, kind: int) -> None:
    rows = alike(gpus, most)
    assert {(row.nodes, row.gpus) for row in rows} == {(nodes, kind)}
