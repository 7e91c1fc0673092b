"""The basis of a scenario: the sizes of a stack's pools, of which shares are taken and for which a week is drawn.

Both sides of a comparison have that of the first. With its own the second would have other work in another market, and more nodes
would bring nothing: there would be more work for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drill.world.kinds import machine_of, spot
from drill.world.record import Record, Step
from drill.world.scenario import Scenario
from drill.world.weeks import week
from drill.world.workloads import DRIVERS
from drill.world.zones import spread, zones_of
from sandbox.cloud.node_groups import NodeGroup


@dataclass(frozen=True)
class Basis:
    """Sizes of pools at their maximum, and the lengths of work that were drawn."""

    gpus: Mapping[str, int]
    """The GPUs of pools on `spot` and `on-demand`: the devices that pods ask for, where GPUs are cut or shared."""
    nodes: Mapping[tuple[str, str], int]
    """The spot nodes of a machine in a zone."""
    largest: Mapping[str, int]
    """The nodes of the largest spot pool of a machine."""
    gpus_by_machine: Mapping[str, int]
    zones: tuple[str, ...]
    """The zones of spot pools."""
    run_for: Mapping[str, float] = field(default_factory=dict)
    """The seconds of work by object, such as `team-a/sweep-0`; empty where they are still to be drawn."""

    def amount(self, amount: int | str) -> int:
        """A number, or a share such as `75% of spot`; at least 1 of a share."""
        if isinstance(amount, int):
            return amount
        share, _, kind = amount.partition("% of ")
        return max(1, self.gpus[kind] * int(share) // 100)

    def drawn_week(self, seed: int, own: Basis) -> list[Step]:
        """A drawn week for a stack whose own basis is `own`.

        Machines and zones of both have the capacity that this basis gives them; those that it lacks are drawn beside them.
        """
        zones = [*self.zones, *(zone for zone in own.zones if zone not in self.zones)]
        most = {**own.largest, **self.largest}
        gpus = {**own.gpus_by_machine, **self.gpus_by_machine}
        return week(seed, sorted(own.largest), zones, most, gpus)

    def worked(self, record: Record) -> Basis:
        """The same, with the lengths of work that a drill drew."""
        found = {}
        for work in record.work:
            name, _, piece = work.name.rpartition("/")
            if work.needs is not None and piece not in DRIVERS:
                found[name] = work.needs
        return replace(self, run_for=found)


def of(cloud: Any, cluster: str) -> Basis:
    """The basis of a copied stack."""
    groups: list[NodeGroup] = list(cloud.node_groups(cluster).groups)
    gpus = {"spot": 0, "on-demand": 0}
    nodes: dict[tuple[str, str], int] = {}
    largest: dict[str, int] = {}
    by_machine: dict[str, int] = {}
    zones: set[str] = set()
    for group in groups:
        shown = group.gpus.shown if group.gpus else 0
        gpus["spot" if spot(group) else "on-demand"] += (group.most or 0) * shown
        if not spot(group):
            continue
        machine, own = machine_of(group), zones_of(cloud, group)
        largest[machine] = max(largest.get(machine, 0), group.most or 1)
        by_machine[machine] = shown
        zones |= set(own)
        for zone, part in zip(own, spread(group.most or len(group.nodes), len(own)), strict=True):
            nodes[machine, zone] = nodes.get((machine, zone), 0) + part
    return Basis(gpus, nodes, largest, by_machine, tuple(sorted(zones)))


def sentence(scenario: Scenario, basis: Basis, side: str) -> str:
    """One sentence about the work and the spot capacity of both sides of a comparison; `side` is the name of the first."""
    amounts = [
        amount for work in scenario.work for amount in (work.count, work.pods, work.parallelism)
    ]
    kinds = [
        kind
        for kind in basis.gpus
        if any(str(amount).endswith(f"% of {kind}") for amount in amounts)
    ]
    sized = scenario.drawn_capacity or any(
        fault.capacity and fault.capacity.share for fault in scenario.faults
    )
    counted = []
    if kinds:
        counted.append(
            f"shares of {' and '.join(f'the {basis.gpus[kind]:,} GPUs {_WORDS[kind]}' for kind in kinds)}"
        )
    if sized:
        counted.append("spot capacity for its spot pools")
    what = "Both sides have the same work" + (" and the same spot capacity" if sized else "")
    return f"{what}, counted from {side}: {'; '.join(counted)}." if counted else f"{what}."


_WORDS = {"spot": "on spot", "on-demand": "on demand"}
