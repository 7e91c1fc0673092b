"""The timeline of a record, in few steps, whatever the number of pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from drill.judge.verdict import counted
from drill.report.model import Band, Mark, Series, Stretch, Timeline
from drill.world.record import Event, Node, Pod, Pool, Record

STEPS = 240
"""The most steps."""
POOLS = 3
"""The most pools with a band of their own, for spot and for on demand."""
PLACES = 12
"""The most rows of capacity; further zones are added up."""
STRETCHES = 600
MARKS = 48
"""The most marks of one kind."""
WORDS = 240
"""The most letters of a mark's text."""

_Spans = list[tuple[float, float]]


def timeline(record: Record) -> Timeline:
    """Return the timeline of a record: exact with few changes, otherwise in STEPS equal steps."""
    length = record.clock.length
    moments = [at for node in record.nodes for at in (node.requested, node.ready, node.gone)]
    for pod in record.pods:
        if pod.gpus:
            moments += [pod.created, pod.bound, pod.ended]
    changes = {0.0, *(at for at in moments if at is not None and 0 < at < length)}
    exact = len(changes) <= STEPS
    times = sorted(changes) if exact else [length * step / STEPS for step in range(STEPS)]
    return Timeline(
        length=length,
        step=0.0 if exact else length / STEPS,
        times=tuple(round(at, 2) for at in times),
        nodes=tuple(_nodes(record, times)),
        pods=tuple(_pods(record, times)),
        capacity=tuple(_capacity(record)),
        marks=tuple(_marks(record)),
    )


def sampled(spans: _Spans, times: Sequence[float], end: float) -> tuple[float, ...]:
    """Return the mean number of spans in each step."""
    shown = [(begin, stop) for begin, stop in spans if begin < min(stop, end)]
    starts = [(max(begin, 0.0), 1) for begin, _ in shown]
    changes = sorted(starts + [(max(stop, 0.0), -1) for _, stop in shown if stop < end])
    values, count, index = [], 0, 0
    for begin, stop in zip(times, [*times[1:], end], strict=True):
        while index < len(changes) and changes[index][0] <= begin:
            count, index = count + changes[index][1], index + 1
        area, at = 0.0, begin
        while index < len(changes) and changes[index][0] < stop:
            moment, change = changes[index]
            area, at = area + count * (moment - at), moment
            count, index = count + change, index + 1
        area += count * (stop - at)
        values.append(round(area / (stop - begin), 2) if stop > begin else float(count))
    return tuple(values)


def _nodes(record: Record, times: Sequence[float]) -> Iterable[Series]:
    end = record.clock.length
    ready = {
        pool.name: _ready([node for node in record.nodes if node.pool == pool.name], end)
        for pool in record.pools
    }
    plain = [spans for pool in record.pools if not pool.gpus for spans in ready[pool.name]]
    if plain:
        yield Series("pools without GPUs", "other", sampled(plain, times, end))
    bands: tuple[Band, Band] = ("on-demand", "spot")
    for band in bands:
        own = [pool for pool in record.pools if pool.gpus and pool.capacity == band]
        grown = [pool for pool in own if ready[pool.name]]
        shown, rest = _largest(grown, {name: len(spans) for name, spans in ready.items()})
        for pool in shown:
            yield Series(pool.name, band, sampled(ready[pool.name], times, end))
        if rest:
            together = [spans for pool in rest for spans in ready[pool.name]]
            name = f"{len(rest)} more {band.replace('-', ' ')}"
            yield Series(name, band, sampled(together, times, end))
    yield Series("requested, not ready", "booting", sampled(_booting(record), times, end))


def _largest(pools: list[Pool], sizes: dict[str, int]) -> tuple[list[Pool], list[Pool]]:
    if len(pools) <= POOLS:
        return pools, []
    kept = set(sorted((pool.name for pool in pools), key=lambda name: -sizes[name])[: POOLS - 1])
    rest = [pool for pool in pools if pool.name not in kept]
    return [pool for pool in pools if pool.name in kept], rest


def _ready(nodes: Iterable[Node], end: float) -> _Spans:
    spans = [(node.ready, end if node.gone is None else node.gone) for node in nodes]
    return [(ready, gone) for ready, gone in spans if ready is not None]


def _booting(record: Record) -> _Spans:
    ends = [(node, (node.ready, node.gone, record.clock.length)) for node in record.nodes]
    return [(node.requested, min(at for at in each if at is not None)) for node, each in ends]


def _pods(record: Record, times: Sequence[float]) -> Iterable[Series]:
    end = record.clock.length
    capacity = {pool.name: pool.capacity for pool in record.pools}
    asking = [pod for pod in record.pods if pod.gpus]
    bands: tuple[Band, Band] = ("on-demand", "spot")
    for band, name in zip(bands, ("running on demand", "running on spot"), strict=True):
        own = [pod for pod in asking if capacity.get(pod.pool or "") == band]
        spans = [(pod.bound, end if pod.ended is None else pod.ended) for pod in own]
        bound = [(begin, stop) for begin, stop in spans if begin is not None]
        yield Series(name, band, sampled(bound, times, end))
    yield Series("waiting", "waiting", sampled([_waiting(pod, end) for pod in asking], times, end))


def _waiting(pod: Pod, end: float) -> tuple[float, float]:
    return pod.created, min(at for at in (pod.bound, pod.ended, end) if at is not None)


def _capacity(record: Record) -> list[Stretch]:
    steps: dict[tuple[str, str], list[tuple[float, int | None]]] = {}
    for step in sorted(record.capacity, key=lambda step: step.at):
        steps.setdefault((step.machine, step.zone), []).append((max(step.at, 0.0), step.nodes))
    if len(steps) > PLACES:
        steps = _summed(steps)
    stretches = []
    for (machine, zone), changes in sorted(steps.items()):
        ends = [at for at, _ in changes[1:]] + [record.clock.length]
        row = [
            Stretch(machine, zone, at, end, nodes)
            for (at, nodes), end in zip(changes, ends, strict=True)
            if end > at
        ]
        if row and row[0].begin > 0:
            row.insert(0, Stretch(machine, zone, 0.0, row[0].begin, None))
        stretches += _joined(row, STRETCHES // len(steps), record.clock.length)
    return stretches


_Steps = dict[tuple[str, str], list[tuple[float, int | None]]]


def _summed(steps: _Steps) -> _Steps:
    """Return the capacity of each machine in all zones together."""
    summed: _Steps = {}
    for machine, group in groupby(sorted(steps), key=lambda place: place[0]):
        places = list(group)
        now: dict[tuple[str, str], int | None] = {}
        for at in sorted({at for place in places for at, _ in steps[place]}):
            for place in places:
                for nodes in [nodes for moment, nodes in steps[place] if moment == at]:
                    now[place] = nodes
            known = [nodes for nodes in now.values() if nodes is not None]
            total = None if len(known) < len(now) else sum(known)
            summed.setdefault((machine, f"{len(places)} zones"), []).append((at, total))
    return summed


def _joined(row: list[Stretch], most: int, length: float) -> list[Stretch]:
    """Join stretches until none is too short; the longest part gives the number of nodes."""
    if len(row) <= most:
        return row
    shortest = length / most
    kept = [[row[0]]]
    for stretch in row[1:]:
        long = stretch.end - kept[-1][0].begin > shortest
        if long and kept[-1][-1].nodes != stretch.nodes:
            kept.append([stretch])
        else:
            kept[-1].append(stretch)
    longest = [max(group, key=lambda each: each.end - each.begin) for group in kept]
    return [
        Stretch(group[0].machine, group[0].zone, group[0].begin, group[-1].end, each.nodes)
        for group, each in zip(kept, longest, strict=True)
    ]


def _marks(record: Record) -> Iterable[Mark]:
    shown = [event for event in record.events if 0 <= event.at <= record.clock.length]
    shown.sort(key=lambda event: (event.kind, event.at))
    for kind, group in groupby(shown, key=lambda event: event.kind):
        events = list(group)
        if kind == "capacity":
            continue
        if len(events) <= MARKS:
            yield from (_together(kind, [event]) for event in events)
            continue
        width = record.clock.length / MARKS
        for _, near in groupby(events, key=lambda event: int(event.at // width)):
            yield _together(kind, list(near))


def _together(kind: str, events: list[Event]) -> Mark:
    text = events[0].text
    if len(events) > 1:
        text = f"{counted(len(events), 'event')}, the first: {text}"
    nodes = sum(max(event.nodes, 1) for event in events)
    return Mark(round(events[0].at, 2), kind, nodes, _short(text))


def _short(text: str) -> str:
    return text if len(text) <= WORDS else text[: WORDS - 1] + "…"
