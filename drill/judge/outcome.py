"""The outcome of a drill in a few figures, and the verdict on its cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from drill.judge.bounds import wait_end
from drill.judge.pieces import HOUR, gpu_cost, paid_seconds, runs
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Pool, Record

WORST = 1.25
"""A drawn week costs at most so many times the best possible."""
OURS, ALONE = "as the stack says", "on demand alone"
"""The two policies whose costs are compared for the saving."""


@dataclass(frozen=True)
class Outcome:
    """The cost and the service of a drill's GPU work: `outcome_of(record).usd`."""

    usd: float | None
    """US dollars of GPU nodes; None if a price is unknown."""
    longest_wait: float
    """The longest wait of a pod for a node, in seconds."""
    waited: float
    """GPU seconds that pods with GPUs waited for a node, together."""
    on_spot: float | None
    """The share of GPU seconds worked on spot; None without any."""
    again: float
    """The share of GPU seconds of work that was done again, or not needed."""
    unfinished: int
    """Pieces of work that end and were not finished."""


@dataclass(frozen=True)
class Row:
    """The outcome of one policy of `drill.tune.policies`."""

    policy: str
    outcome: Outcome


@dataclass(frozen=True)
class Saved:
    """The cost of the same work by the stack's settings and on demand alone, in US dollars."""

    ours: float
    alone: float

    @property
    def share(self) -> float:
        """The saved share of the cost on demand alone; negative if spot costs more."""
        return 1 - self.ours / self.alone if self.alone else 0.0


def saved_by(rows: Iterable[Row]) -> Saved | None:
    """Return the saving in a table of policies; None without both policies or a price."""
    usd = {row.policy: row.outcome.usd for row in rows}
    ours, alone = usd.get(OURS), usd.get(ALONE)
    return None if ours is None or alone is None else Saved(ours, alone)


def outcome_of(record: Record) -> Outcome:
    """Return the outcome of a drill's record."""
    view = View(record)
    waits = [(pod.gpus, wait_end(view, pod) - view.due(pod)) for pod in record.pods]
    found = runs(record)
    worked = sum(run.pod.gpus * (run.end - run.begin) for run in found)
    spot = sum(run.pod.gpus * (run.end - run.begin) for run in found if run.pool.capacity == "spot")
    useful = sum(run.pod.gpus * (run.useful - run.begin) for run in found)
    return Outcome(
        usd=gpu_cost(record),
        longest_wait=max((wait for _, wait in waits), default=0.0),
        waited=sum(gpus * wait for gpus, wait in waits),
        on_spot=spot / worked if worked else None,
        again=1 - useful / worked if worked else 0.0,
        unfinished=sum(work.needs is not None and work.finished is None for work in record.work),
    )


def machine_hours(view: View, pool: Pool) -> float:
    """Return the paid hours of a pool's machines."""
    return sum(paid_seconds(node, view.end) for node in view.of_pool(pool.name)) / HOUR


def cost(view: View, best: float | None, saved: Saved | None) -> Verdict:
    """Judge the cost against on demand alone and against the best possible, in a drawn week."""
    name = "Cost of GPU nodes"
    week = view.record.scenario == "week"
    bound = ""
    if week:
        bound = f"at most {WORST} times the best possible, and less than on demand alone"
    actual = gpu_cost(view.record)
    if actual is None:
        pools = [pool.name for pool in view.record.pools if pool.gpus and pool.price is None]
        why = f"No price is known for {', '.join(pools) or 'a pool'} in {view.record.location}."
        return Verdict(name, None, "not known", bound, why)
    text = f"{actual:,.2f} USD" + (f", {saved_text(saved)}" if saved else "")
    if best is None:
        return Verdict(name, None, text, bound, view.record.price_source)
    if not best:
        why = "The best possible costs nothing: no work needed a GPU node."
        return Verdict(name, None, text, bound, why)
    ratio = actual / best
    text += f", {ratio:.2f} times the best possible ({best:,.2f} USD)"
    if not week:
        why = "A bound holds for drawn weeks only: in a short drill single nodes decide the ratio."
        return Verdict(name, None, text, bound, why)
    if saved and saved.share <= 0:
        why = "Spot saves nothing here: on demand alone costs no more."
        return Verdict(name, False, text, bound, why)
    why = "The best possible knows the capacity of the whole week in advance."
    if ratio > WORST:
        why = "The table says what it is lost to."
    return Verdict(name, ratio <= WORST, text, bound, why)


def saved_text(saved: Saved) -> str:
    """Write what is saved against on demand alone."""
    if saved.share >= 0:
        return f"{saved.share:.0%} saved against on demand alone"
    return f"{-saved.share:.0%} more than on demand alone"
