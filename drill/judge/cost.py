"""The cost of GPU nodes: what was paid, what on demand alone costs by the same work, and the least with hindsight."""

from __future__ import annotations

from drill.judge.outcome import Saved
from drill.judge.verdict import Verdict
from drill.judge.view import View
from drill.world.record import Node, Pool

WORST = 1.25
"""A drawn week costs at most so many times the best possible."""

HOUR = 3600.0


def machine_seconds(view: View, node: Node) -> float:
    """The seconds of a node that are paid for: from its request to its end. A node that never registered was no machine."""
    if node.registered is None and node.ready is None:
        return 0.0
    return max(
        0.0,
        (view.end if node.gone is None else min(node.gone, view.end)) - max(node.requested, 0.0),
    )


def machine_hours(view: View, pool: Pool) -> float:
    return sum(machine_seconds(view, node) for node in view.of_pool(pool.name)) / HOUR


def paid(view: View) -> float | None:
    """The cost of the GPU pools in US dollars; None where a pool that had nodes has no price."""
    total = 0.0
    for pool in view.record.pools:
        hours = machine_hours(view, pool) if pool.gpus else 0.0
        if hours and pool.price is None:
            return None
        total += hours * (pool.price or 0.0)
    return total


def cost(view: View, best: float | None, saved: Saved | None) -> Verdict:
    """The cost against on demand alone by the same work, and against the best possible; bounds only for a drawn week."""
    name = "Cost of GPU nodes"
    week = view.record.scenario == "week"
    bound = (
        f"at most {WORST} times the best possible, and less than on demand alone" if week else ""
    )
    actual = paid(view)
    if actual is None:
        pools = [pool.name for pool in view.record.pools if pool.gpus and pool.price is None]
        why = f"No price is known for {', '.join(pools) or 'a pool'} in {view.record.location}."
        return Verdict(name, None, "not known", bound, why)
    text = f"{actual:,.2f} USD" + (f", {compared(saved)}" if saved else "")
    if best is None:
        return Verdict(name, None, text, bound, view.record.price_source)
    if not best:
        return Verdict(
            name, None, text, bound, "The best possible costs nothing: no work needed a GPU node."
        )
    ratio = actual / best
    text += f", {ratio:.2f} times the best possible ({best:,.2f} USD)"
    if not week:
        why = "A bound holds for drawn weeks only: in a short drill single nodes decide the ratio."
        return Verdict(name, None, text, bound, why)
    if saved and saved.share <= 0:
        return Verdict(
            name, False, text, bound, "Spot saves nothing here: on demand alone costs no more."
        )
    why = "The best possible knows the capacity of the whole week in advance."
    if ratio > WORST:
        why = "The table says what it is lost to."
    return Verdict(name, ratio <= WORST, text, bound, why)


def compared(saved: Saved) -> str:
    """What is saved against on demand alone, in words."""
    if saved.share >= 0:
        return f"{saved.share:.0%} saved against on demand alone"
    return f"{-saved.share:.0%} more than on demand alone"
