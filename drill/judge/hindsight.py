"""Hindsight: the least cost of a drill's work on the same capacity, if the future were known.

A lower bound, not a plan. Every schedule that keeps these rules costs at least as much. A drill
that is late for its deadlines breaks the first rule, and may cost less:

- Each piece of work is done between its submission and its deadline, `slowdown` times its need
  later, so that a worse service saves no money. Of unfinished work the part that was done counts,
  by the drill's end. Work that serves runs at the same times as in the drill.
- A piece uses at most its own number of GPUs at a time, and spot only if its pods may.
- Spot nodes are bounded at each moment by the capacity and by the pools' `most`; on-demand nodes
  are not bounded.
- A machine with too few GPUs does none of the work; weaker machines never do the work of stronger
  ones (`Reach`).

Everything else is free, so the bound is below any real cost: nodes come at once and are paid by the
second for the share of their GPUs that works; moves cost no time and no work; no node idles, boots,
or has an empty GPU.

The bound is a flow (`Transport`) from pieces of work through cells of time into the spot machines
of each cell; the rest is paid on demand. In a cell nothing changes: no piece is submitted or
finished, no capacity comes or goes. Then a piece may be cut into any shares of it (McNaughton's
rule: machines share a cell without running a piece twice at once). So the flow is optimal for these
rules. If that needs more than `MOST_ARCS` arcs, cells are equal stretches of time: windows are
widened to whole cells, the capacity of a cell counts as a whole, and similar pieces are joined.
Each of these allows more, so the bound stays a bound.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

from drill.judge.markets import Market, Reach, dollars, markets, unpriced
from drill.judge.pieces import Piece, gpu_cost, model, pieces
from drill.judge.transport import UNLIMITED, Transport
from drill.world.record import Record

MOST_ARCS = 100_000
"""One to two seconds of one core, and at most a hundredth below the exact bound for a week of 400
pieces."""

_ALIKE = math.log(1.1)
"""Pieces with the same cells are joined if their lengths are in the same step of ten percent."""


@dataclass(frozen=True)
class Best:
    """The least cost of a drill's GPU work: `hindsight(record).cost`; None without a price."""

    cost: float | None
    paid: float | None
    """The cost of the drill's GPU nodes."""
    spot_seconds: float
    """Seconds of machines; a machine with half of its GPUs at work counts half."""
    on_demand_seconds: float
    explanation: str


@dataclass(frozen=True)
class _Group:
    """Pieces that are joined, in whole milliseconds of GPUs."""

    first: int
    last: int
    """The cells of its window: from `first` to before `last`."""
    gpus: int
    work: int
    spot: bool
    machines: frozenset[str]
    price: float
    """On demand, for a GPU and hour."""


def hindsight(
    record: Record,
    *,
    reach: Mapping[str, Collection[str]] | None = None,
    all_zones: bool = True,
    all_machines: bool = True,
    most_arcs: int = MOST_ARCS,
) -> Best:
    """Return the least cost of a drill's GPU work on the machines of the stack.

    `reach` has the pools that a piece of work may use, by the work's name, if they are known.
    Without `all_zones` only the zones of each machine's pools count, without `all_machines` only
    the chains of the stack.
    """
    if missing := unpriced(record):
        why = f"No price is known for {', '.join(missing)}, so there is no least cost."
        return Best(None, None, 0.0, 0.0, why)
    spot = markets(record, all_zones=all_zones)
    reached = Reach(record, dict(reach or {}), weaker_to_stronger=all_machines)
    found = pieces(record)
    cells, exact = _cells(found, list(spot.values()), record.clock.length, most_arcs)
    groups = _groups(found, reached, cells, exact)
    used, rest = _flow(groups, spot, cells)
    gpus = {model(pool): pool.gpus for pool in record.pools}
    on_demand = {group.price: 0.0 for group in groups}
    seconds = 0.0
    for group, left in zip(groups, rest, strict=True):
        on_demand[group.price] += left / 1000
        priced = group.machines & reached.on_demand.keys()
        cheapest = min(priced, key=lambda machine: (reached.on_demand[machine], machine))
        seconds += left / 1000 / gpus[cheapest]
    return Best(
        cost=sum(dollars(used[name], spot[name].price) for name in used)
        + sum(dollars(left, price) for price, left in on_demand.items()),
        paid=gpu_cost(record),
        spot_seconds=sum(used[name] / spot[name].gpus for name in used),
        on_demand_seconds=seconds,
        explanation=_explanation(cells, exact),
    )


def _explanation(cells: list[int], exact: bool) -> str:
    text = (
        "The least cost with hindsight: every piece of work is done within the accepted slowdown,"
        " on the spot capacity there was; nodes come at once, are paid by the second for the GPUs"
        " that work, and moving costs nothing. Nobody can be in time for less; nobody can quite"
        " reach it. Pools without GPUs are in none of these figures."
    )
    if exact:
        return text
    stretch = max(1, round((cells[1] - cells[0]) / 1000))
    return f"{text} Time was cut into stretches of {stretch} s, which can lower it a little."


def _cells(
    found: Collection[Piece], spot: Collection[Market], length: float, most_arcs: int
) -> tuple[list[int], bool]:
    """Return the bounds of cells in milliseconds, and whether they are the exact changes."""
    movable = [piece for piece in found if piece.spot]
    windows = {at for piece in movable for at in (_down(piece.begin), _up(piece.end))}
    changes = {round(at * 1000) for market in spot for at, _ in market.levels}
    end = max(_up(length), 1, *windows)
    exact = sorted({0, end, *windows, *(at for at in changes if 0 < at < end)})
    if _arcs(movable, exact, len(spot), exact=True) <= most_arcs:
        return exact, True
    number = 4096
    while True:
        cells = sorted({end * place // number for place in range(number + 1)})
        if number == 1 or _arcs(movable, cells, len(spot), exact=False) <= most_arcs:
            return cells, False
        number //= 2


def _arcs(found: Iterable[Piece], cells: list[int], machines: int, *, exact: bool) -> int:
    """Return the largest possible number of arcs."""
    alike = {
        (*_window(each, cells), _likeness(each, exact), each.gpus, each.pools) for each in found
    }
    return sum((last - first) * (1 + machines) for first, last, *_ in alike)


def _window(piece: Piece, cells: list[int]) -> tuple[int, int]:
    """Return the cells of a piece: the first, and the one after the last."""
    first = bisect_right(cells, _down(piece.begin)) - 1
    return first, max(first + 1, bisect_left(cells, _up(piece.end)))


def _likeness(piece: Piece, exact: bool) -> float:
    return piece.seconds if exact else float(round(math.log(piece.seconds + 1) / _ALIKE))


def _groups(found: Iterable[Piece], reached: Reach, cells: list[int], exact: bool) -> list[_Group]:
    alike: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in found:
        # With the pools, groups are the same for each reach, so that costs can be compared.
        own = (piece.gpus, piece.spot, piece.pools, reached.machines(piece))
        alike[*_window(piece, cells), _likeness(piece, exact), *own].append(piece)
    groups = [
        _Group(
            *_window(first, cells),
            gpus=first.gpus * len(group),
            work=sum(_down(piece.seconds) * piece.gpus for piece in group),
            spot=first.spot,
            machines=reached.machines(first),
            price=reached.price(first),
        )
        for group in alike.values()
        for first in group[:1]
    ]
    # The earliest finish first: this is near the optimum from the first round on.
    return sorted(groups, key=lambda group: group.last)


def _flow(
    groups: list[_Group], spot: Mapping[str, Market], cells: list[int]
) -> tuple[dict[str, float], list[int]]:
    """Return the GPU seconds on each spot machine, and each group's GPU milliseconds on demand."""
    flow = Transport()
    capacity = {name: _capacity(market, cells) for name, market in spot.items()}
    sinks: dict[tuple[str, int], int] = {}
    for name, rooms in capacity.items():
        for cell, (_, room) in enumerate(rooms):
            if room:
                sinks[name, cell] = flow.node()
                flow.room[sinks[name, cell]] = room
    sources = []
    for group in groups:
        sources.append(source := flow.node())
        flow.supply[source] = group.work
        names = sorted(group.machines & spot.keys()) if group.spot else []
        for cell in range(group.first, group.last):
            ups = [name for name in names if (name, cell) in sinks]
            if ups:
                length = cells[cell + 1] - cells[cell]
                step = source
                if len(ups) > 1:
                    flow.arc(source, step := flow.node(), group.gpus * length)
                for name in ups:
                    flow.arc(step, sinks[name, cell], group.gpus * capacity[name][cell][0])
    prices = {source: group.price for source, group in zip(sources, groups, strict=True)}
    _send(flow, prices, spot, sinks)
    used = dict.fromkeys(spot, 0.0)
    for (name, cell), sink in sinks.items():
        used[name] += (capacity[name][cell][1] - flow.room[sink]) / 1000
    return used, [flow.supply[source] for source in sources]


def _send(
    flow: Transport,
    values: Mapping[int, float],
    spot: Mapping[str, Market],
    sinks: Mapping[tuple[str, int], int],
) -> None:
    """Send work to spot by its saving, the largest first."""
    pairs = sorted(
        {
            (round(value - market.price, 9), value, name)
            for value in values.values()
            for name, market in spot.items()
        },
        reverse=True,
    )
    for gain, equal in groupby(pairs, key=lambda pair: pair[0]):
        if gain <= 0:
            return
        same = list(equal)
        again = True
        while again:
            again = False
            for _, value, machine in same:
                sources = [source for source in values if values[source] == value]
                ends = [sink for (name, _), sink in sinks.items() if name == machine]
                sent = flow.send(sources, ends)
                # A flow between one pair may open a path between another pair of the same gain.
                again = again or (sent > 0 and len(same) > 1)


def _capacity(market: Market, cells: list[int]) -> list[tuple[int, int]]:
    """Return each cell's milliseconds with any node, and the GPU milliseconds of all nodes."""
    levels = [(round(at * 1000), nodes) for at, nodes in market.levels]
    found = []
    place = 0
    for begin, end in pairwise(cells):
        up, room, now = 0, 0, begin
        while now < end:
            while place + 1 < len(levels) and levels[place + 1][0] <= now:
                place += 1
            until = min(end, levels[place + 1][0]) if place + 1 < len(levels) else end
            nodes = levels[place][1]
            up += until - now if nodes != 0 else 0
            room += (until - now) * market.gpus * nodes if nodes is not None else UNLIMITED
            now = until
        found.append((up, min(room, UNLIMITED)))
    return found


def _down(seconds: float) -> int:
    return math.floor(seconds * 1000 + 1e-6)


def _up(seconds: float) -> int:
    return math.ceil(seconds * 1000 - 1e-6)
