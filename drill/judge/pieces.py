"""What a drill's work needed of GPU machines, and what the machines cost: the common ground of `hindsight` and `losses`.

Only pools with GPUs are looked at. A record does not say how much CPU and memory a pod requests, so nobody can say with it
how few machines without GPUs would have done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from drill.world.record import Node, Pod, Pool, Record, Work

HOUR = 3600.0


@dataclass(frozen=True)
class Run:
    """One pod on a GPU node, from second `begin` to `end`. What it did up to `useful` was kept; the rest was done again, or was
    not needed.
    """

    pod: Pod
    pool: Pool
    begin: float
    useful: float
    end: float


@dataclass(frozen=True)
class Piece:
    """Work to be done between two seconds: `seconds` of it, on `gpus` GPUs at once."""

    work: str
    gpus: int
    spot: bool
    begin: float
    end: float
    seconds: float
    pools: frozenset[str]
    """The pools that ran it in the drill."""


def model(pool: Pool) -> str:
    """What a pool's machines are: the machine, its GPUs and its price on demand.

    On Google Cloud other GPUs may be attached to machines of the same name (cloud.google.com/compute/docs/gpus, N1).
    """
    price = pool.price if pool.capacity == "on-demand" else pool.on_demand_price
    return f"{pool.machine}, {pool.gpus} GPUs, {price} on demand"


def gpu_pools(record: Record) -> dict[str, Pool]:
    return {pool.name: pool for pool in record.pools if pool.gpus > 0}


def paid(node: Node, length: float) -> float:
    """Seconds of a node that are paid: from the request to its end. A node that never registered was no machine and costs
    nothing.
    """
    if node.registered is None and node.ready is None:
        return 0.0
    return max(
        0.0, (length if node.gone is None else min(node.gone, length)) - max(0.0, node.requested)
    )


def cost(record: Record) -> float | None:
    """The cost of the drill's GPU nodes; None where a price is unknown."""
    pools = gpu_pools(record)
    total = 0.0
    for node in record.nodes:
        if node.pool in pools and (seconds := paid(node, record.clock.length)):
            price = pools[node.pool].price
            if price is None:
                return None
            total += seconds * price / HOUR
    return total


def runs(record: Record) -> list[Run]:
    """All runs of GPU pods on GPU nodes, in the order of their begin.

    Of a piece of work that ends, what its pods did counts until it has what it needs; what a pod did since its last checkpoint
    when it was ended does not count.
    """
    works = {work.name: work for work in record.work}
    return sorted(
        (
            run
            for name, pods in _pods(record).items()
            for run in _kept(_raw(pods, record), works.get(name))
        ),
        key=lambda run: run.begin,
    )


def pieces(record: Record) -> list[Piece]:
    """The work of a drill.

    A piece that ends may run at any time from its submission to its deadline, `slowdown` times its need later, or to the drill's
    end: its finish in the drill is no deadline, or a drill that makes its users wait would be compared with one that waits as
    long. Work that serves runs at the very times at which it ran in the drill. Work which the drill did not finish counts as much
    as was done.
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
        # What ran on spot may, whatever its pod says: the bound must not be above what the drill did.
        spot=any(run.pod.spot or run.pool.capacity == "spot" for run in own),
        begin=begin,
        end=end,
        seconds=min(sum(run.useful - run.begin for run in own), end - begin),
        pools=frozenset(run.pool.name for run in own),
    )


def _pods(record: Record) -> dict[str, list[Pod]]:
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in record.pods:
        if pod.gpus > 0 and pod.started is not None:
            pods[pod.work].append(pod)
    return pods


def _raw(pods: Iterable[Pod], record: Record) -> Iterator[tuple[Pod, Pool, float, float]]:
    """Pods with their pool, begin and end, in order."""
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
