"""The basis of a scenario: the sizes of a stack's pools, from which shares and weeks are counted.

Both sides of a comparison have the basis of the first side. With its own basis the second side
would have other work in another market, and more nodes would gain nothing: they would get more
work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from drill.world.node_groups import is_spot, machine_of, spread, zones_of
from drill.world.record import Record, Step
from drill.world.scenario import Scenario
from drill.world.weeks import week
from drill.world.workloads import DRIVERS
from sandbox.cloud.node_groups import NodeGroup


@dataclass(frozen=True)
class Basis:
    """Sizes of pools at their maximum, and the lengths of work that were drawn.

    `basis_of_cloud(cloud, cluster).amount("75% of spot")`
    """

    gpus: Mapping[str, int]
    """The GPUs of pools on `spot` and `on-demand`, counted as the devices that pods ask for."""
    nodes: Mapping[tuple[str, str], int]
    """The spot nodes of a machine in a zone."""
    largest: Mapping[str, int]
    """The nodes of the largest spot pool of a machine."""
    gpus_by_machine: Mapping[str, int]
    zones: tuple[str, ...]
    """The zones of spot pools."""
    run_for: Mapping[str, float] = field(default_factory=dict)
    """The seconds of work by object, such as `team-a/sweep-0`; empty before they are drawn."""

    def amount(self, amount: int | str) -> int:
        """Return a number, or the number for a share such as `75% of spot`, at least 1."""
        if isinstance(amount, int):
            return amount
        share, _, kind = amount.partition("% of ")
        return max(1, self.gpus[kind] * int(share) // 100)

    def drawn_week(self, seed: int, own: Basis) -> list[Step]:
        """Draw a week for a stack whose own basis is `own`.

        Machines and zones of both have the capacity that this basis gives them. Machines and zones
        that it lacks are drawn beside them.
        """
        zones = [*self.zones, *(zone for zone in own.zones if zone not in self.zones)]
        most = {**own.largest, **self.largest}
        gpus = {**own.gpus_by_machine, **self.gpus_by_machine}
        return week(seed, sorted(own.largest), zones, most, gpus)

    def worked(self, record: Record) -> Basis:
        """Return this basis with the lengths of work that a drill drew."""
        found = {}
        for work in record.work:
            name, _, piece = work.name.rpartition("/")
            if work.needs is not None and piece not in DRIVERS:
                found[name] = work.needs
        return replace(self, run_for=found)


@dataclass(frozen=True)
class Trial:
    """A scenario with all that is drawn for it: `Trial(load_scenario("week"), "week", 3)`."""

    scenario: Scenario
    name: str
    seed: int
    steps: Sequence[Step] = ()
    """The spot capacity over time, if it is drawn or from traces."""
    measured: str = ""
    """The source of `steps`, such as "drawn by measurements on AWS"."""
    basis: Basis | None = None
    """The basis of a comparison's first side; by default the stack's own."""


def basis_of_cloud(cloud: Any, cluster: str) -> Basis:
    """Return the basis of a copied stack."""
    groups: list[NodeGroup] = list(cloud.node_groups(cluster).groups)
    gpus = {"spot": 0, "on-demand": 0}
    nodes: dict[tuple[str, str], int] = {}
    largest: dict[str, int] = {}
    by_machine: dict[str, int] = {}
    zones: set[str] = set()
    for group in groups:
        shown = group.gpus.shown if group.gpus else 0
        gpus["spot" if is_spot(group) else "on-demand"] += (group.most or 0) * shown
        if not is_spot(group):
            continue
        machine, own = machine_of(group), zones_of(cloud, group)
        largest[machine] = max(largest.get(machine, 0), group.most or 1)
        by_machine[machine] = shown
        zones |= set(own)
        for zone, part in zip(own, spread(group.most or len(group.nodes), len(own)), strict=True):
            nodes[machine, zone] = nodes.get((machine, zone), 0) + part
    return Basis(gpus, nodes, largest, by_machine, tuple(sorted(zones)))


def same_work_sentence(scenario: Scenario, basis: Basis, side: str) -> str:
    """Say what both sides of a comparison have alike; `side` is the name of the first."""
    amounts = [
        amount for work in scenario.work for amount in (work.count, work.pods, work.parallelism)
    ]
    kinds = [kind for kind in _WORDS if any(f"% of {kind}" in str(amount) for amount in amounts)]
    sized = scenario.drawn_capacity or any(
        fault.capacity and fault.capacity.share for fault in scenario.faults
    )
    counted = []
    if kinds:
        gpus = " and ".join(f"the {basis.gpus[kind]:,} GPUs {_WORDS[kind]}" for kind in kinds)
        counted.append(f"shares of {gpus}")
    if sized:
        counted.append("spot capacity for its spot pools")
    what = "Both sides have the same work" + (" and the same spot capacity" if sized else "")
    return f"{what}, counted from {side}: {'; '.join(counted)}." if counted else f"{what}."


_WORDS = {"spot": "on spot", "on-demand": "on demand"}
