"""The cost of GPU nodes: what was paid, what the same nodes cost on demand, and the least with hindsight."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.drill.checks.verdict import Verdict
from sandbox.drill.checks.view import View
from sandbox.drill.record import Node, Pool

WORST = 1.25
"""A drawn week costs at most so many times the best possible."""

HOUR = 3600.0


@dataclass(frozen=True)
class Paid:
    """The cost of a drill's GPU nodes in US dollars."""

    actual: float
    on_demand: float
    """The same machine-hours at prices on demand."""


def machine_seconds(view: View, node: Node) -> float:
    """The seconds of a node that are paid for: from its request to its end. A node that never registered was no machine."""
    if node.registered is None and node.ready is None:
        return 0.0
    return max(0.0, (view.end if node.gone is None else min(node.gone, view.end)) - max(node.requested, 0.0))


def machine_hours(view: View, pool: Pool) -> float:
    return sum(machine_seconds(view, node) for node in view.of_pool(pool.name)) / HOUR


def paid(view: View) -> Paid | None:
    """The cost of the GPU pools; None where a pool that had nodes has no price."""
    actual = on_demand = 0.0
    for pool in view.record.pools:
        hours = machine_hours(view, pool) if pool.gpus else 0.0
        if not hours:
            continue
        dear = (
            pool.on_demand_price
            if pool.on_demand_price is not None
            else pool.price
            if pool.capacity == "on-demand"
            else None
        )
        if pool.price is None or dear is None:
            return None
        actual += hours * pool.price
        on_demand += hours * dear
    return Paid(actual, on_demand)


def cost(view: View, best: float | None) -> Verdict:
    """The cost against the same machine-hours on demand, and against the best possible; a bound only for a drawn week."""
    name = "Cost of GPU nodes"
    week = view.record.scenario == "week"
    bound = f"at most {WORST} times the best possible" if week else ""
    sums = paid(view)
    if sums is None:
        pools = [pool.name for pool in view.record.pools if pool.gpus and pool.price is None]
        return Verdict(
            name,
            None,
            "not known",
            bound,
            f"No price is known for {', '.join(pools) or 'a pool'} in {view.record.location}.",
        )
    text = f"{sums.actual:,.2f} USD"
    if sums.on_demand:
        text += f", {sums.actual / sums.on_demand:.0%} of the same hours on demand"
    if best is None:
        return Verdict(name, None, text, bound, view.record.price_source)
    if not best:
        return Verdict(name, None, text, bound, "The best possible costs nothing: no work needed a GPU node.")
    ratio = sums.actual / best
    text += f", {ratio:.2f} times the best possible ({best:,.2f} USD)"
    if not week:
        return Verdict(
            name,
            None,
            text,
            bound,
            "A bound holds for drawn weeks only: in a short drill single nodes decide the ratio.",
        )
    why = (
        "The best possible knows the capacity of the whole week in advance."
        if ratio <= WORST
        else "The table says what it is lost to."
    )
    return Verdict(name, ratio <= WORST, text, bound, why)
