"""The GPU work of a drill, and the cost of its machines, as `hindsight` and `losses` read them.

Only pools with GPUs count. A record does not have the CPU and memory of pods, so the fewest
machines without GPUs are unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from drill.world.record import Node, Pod, Pool, Record, Work

HOUR = 3600.0


@dataclass(frozen=True)
class Run:
    """One pod on a GPU node, from second `begin` to `end`.

    Its work up to `useful` was kept; the rest was done again, or was not needed.
    """

    pod: Pod
    pool: Pool
    begin: float
    useful: float
    end: float


@dataclass(frozen=True)
class Piece:
    """Work of `seconds` between two moments, on `gpus` GPUs at once."""

    work: str
    gpus: int
    spot: bool
    begin: float
    end: float
    seconds: float
    pools: frozenset[str]
    """The pools that ran it in the drill."""


def model(pool: Pool) -> str:
    """Return a key of a pool's machines: the machine, its GPUs and its price on demand.

    On Google Cloud other GPUs may be attached to machines of the same name
    (cloud.google.com/compute/docs/gpus, N1).
    """
    return f"{pool.machine}, {pool.gpus} GPUs, {on_demand_price(pool)} on demand"


def on_demand_price(pool: Pool) -> float | None:
    """Return the price of a pool's machine on demand; None if it is unknown."""
    return pool.price if pool.capacity == "on-demand" else pool.on_demand_price


def gpu_pools(record: Record) -> dict[str, Pool]:
    """Return the pools with GPUs, by name."""
    return {pool.name: pool for pool in record.pools if pool.gpus > 0}


def paid_seconds(node: Node, length: float) -> float:
    """Return the paid seconds of a node, from its request to its end; 0 if it never registered."""
    if node.registered is None and node.ready is None:
        return 0.0
    end = length if node.gone is None else min(node.gone, length)
    return max(0.0, end - max(0.0, node.requested))


def gpu_cost(record: Record) -> float | None:
    """Return the cost of the drill's GPU nodes; None if a price is unknown."""
    pools = gpu_pools(record)
    total = 0.0
    for node in record.nodes:
        if node.pool in pools and (seconds := paid_seconds(node, record.clock.length)):
            price = pools[node.pool].price
            if price is None:
                return None
            total += seconds * price / HOUR
    return total


def runs(record: Record) -> list[Run]:
    """List all runs of GPU pods on GPU nodes, by their begin.

    The work of pods counts until the piece has what it needs. Work since the last checkpoint of a
    pod that was ended does not count.
    """
    works = {work.name: work for work in record.work}
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in record.pods:
        if pod.gpus > 0 and pod.started is not None:
            pods[pod.work].append(pod)
    kept = (_kept(_raw(own, record), works.get(name)) for name, own in pods.items())
    return sorted((run for each in kept for run in each), key=lambda run: run.begin)


def pieces(record: Record) -> list[Piece]:
    """List the work of a drill.

    A piece that ends may run from its submission to its deadline, `slowdown` times its need later,
    or to the drill's end. Its finish in the drill is no deadline: otherwise a drill that makes its
    users wait would be compared with one that waits as long. Work that serves runs at the same
    times as in the drill. Of unfinished work the part that was done counts.
    """
    works = {work.name: work for work in record.work}
    by_work: dict[str, list[Run]] = defaultdict(list)
    for run in runs(record):
        by_work[run.pod.work].append(run)
    found = []
    for name, own in by_work.items():
        work = works.get(name)
        if work is None or work.needs is None:
            found += [_piece(name, [run], run.begin, run.end) for run in own]
        else:
            begin = min(work.submitted, own[0].begin)
            end = min(work.submitted + record.slowdown * work.needs, record.clock.length)
            done = sum(run.useful - run.begin for run in own)
            found.append(_piece(name, own, begin, max(end, begin + done)))
    return [piece for piece in found if piece.seconds > 0]


def _piece(name: str, own: list[Run], begin: float, end: float) -> Piece:
    return Piece(
        work=name,
        gpus=max(run.pod.gpus for run in own),
        # Work that ran on spot may run there: the bound must not be above the drill's cost.
        spot=any(run.pod.spot or run.pool.capacity == "spot" for run in own),
        begin=begin,
        end=end,
        seconds=min(sum(run.useful - run.begin for run in own), end - begin),
        pools=frozenset(run.pool.name for run in own),
    )


def _raw(pods: Iterable[Pod], record: Record) -> Iterator[tuple[Pod, Pool, float, float]]:
    """Yield pods with their pool, begin and end, in order."""
    pools = gpu_pools(record)
    length = record.clock.length
    for pod in sorted(pods, key=lambda pod: pod.started or 0.0):
        begin, end = pod.started or 0.0, length if pod.ended is None else min(pod.ended, length)
        if pod.pool in pools and end > begin:
            yield pod, pools[pod.pool], begin, end


def _kept(raw: Iterable[tuple[Pod, Pool, float, float]], work: Work | None) -> Iterator[Run]:
    left = None if work is None else work.needs
    for pod, pool, begin, end in raw:
        if left is None:
            yield Run(pod, pool, begin, end, end)
            continue
        done = min(max(0.0, end - begin - pod.lost), left)
        left -= done
        yield Run(pod, pool, begin, begin + done, end)
