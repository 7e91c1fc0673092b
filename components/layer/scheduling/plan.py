"""SchedulingPlan: what `scheduling` declares in a cluster of some version and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from components.layer.part import Inside
from components.layer.scheduling import contract, kept_pods, neighbours, pod_defaults
from components.layer.scheduling.back_to_spot import BackToSpot
from components.layer.scheduling.contract import Contract
from components.layer.scheduling.defaults import PlacementDefaults
from components.layer.scheduling.guard import SpotGuard
from components.layer.scheduling.kept_pods import KeptPods
from components.layer.scheduling.label_places import LabelPlaces
from components.layer.scheduling.lost_pods import LostPods
from components.layer.scheduling.pod_defaults import PodDefaults
from components.layer.scheduling.quota import Quotas
from components.output_types import SchedulingOutput
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.release import has_mutating_policies
from config.model.scheduling import Placement, Scheduling
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, spot_grace


@dataclass(frozen=True)
class SchedulingPlan:
    """The objects to declare."""

    scheduling: Scheduling
    pools: tuple[NodePool, ...]
    by_default: bool
    """Whether the cluster's version has MutatingAdmissionPolicy, which places pods by default."""
    placements: tuple[Placement, ...]
    """Values of the placement label that have an effect in the cluster."""
    shortfall: tuple[str, ...]
    """Missing abilities of the cluster, and their replacements."""
    conflicts: tuple[str, ...]
    """Disagreements with the guards of other stacks in the cluster."""
    contract: str | None
    """The name under which the contract is published; None when no objects are declared."""
    moves_pods: bool
    """Whether the cluster's engine moves running pods, so that some must be kept."""
    on_demand_gpus: int | None
    """All GPUs that the cluster can have on demand; None if unknown."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Logged with every `up`."""
        return (*(["\n  ".join(self.shortfall)] if self.shortfall else []), *self.conflicts)

    @property
    def shown(self) -> SchedulingOutput:
        """The plan in the stack's outputs."""
        if self.contract is None:
            return {"enabled": False}
        shown: SchedulingOutput = {
            "enabled": True,
            "defaults": self.scheduling.defaults.model_dump(mode="json", by_alias=True)
            if self.by_default
            else {},
            "guard": self.scheduling.guard.mode,
        }
        if self.shortfall:
            shown["shortfall"] = list(self.shortfall)
        return shown

    @property
    def outputs(self) -> dict[str, Any]:
        """The stack's outputs by name."""
        if self.contract is None:
            return {"scheduling": self.shown}
        return {
            "scheduling": self.shown,
            "contract": contract.as_output(self.contract, self.pools, self.placements),
        }


def plan(
    spec: ClusterSpec,
    node_pools: Sequence[NodePool],
    version: str,
    instance: str,
    published_as: str,
    contracts: Sequence[Mapping[str, Any]] | None = None,
) -> SchedulingPlan:
    """Return the plan.

    `version`: the API server's; `published_as`: the contract's name; `contracts`: those of all
    stacks in an existing cluster, None for a new one. Raise `pulumi.RunError` if the guard would
    forbid pods that another stack's guard admits.
    """
    scheduling = spec.scheduling
    pools = tuple(node_pools)
    return SchedulingPlan(
        scheduling,
        pools,
        by_default=has_mutating_policies(version),
        placements=pod_defaults.heeded(scheduling, pools, version),
        shortfall=tuple(pod_defaults.shortfall(scheduling, pools, version)),
        conflicts=neighbours.check_neighbours(scheduling, instance, contracts or ())
        if scheduling.enabled
        else (),
        contract=published_as if scheduling.enabled else None,
        moves_pods=spec.moves_pods,
        on_demand_gpus=_on_demand_gpus(pools) if contracts is None else None,
    )


def _on_demand_gpus(pools: Sequence[NodePool]) -> int | None:
    """Return the GPUs of all on-demand pools; None if any are partitioned: pods ask for MIG
    instances by other names.
    """
    on_demand = [pool for pool in pools if pool.capacity == Capacity.ON_DEMAND]
    return (
        None if any(pool.mig for pool in on_demand) else sum(pool.most_gpus for pool in on_demand)
    )


def declare(
    name: str,
    plan: SchedulingPlan,
    release: str,
    cloud: Cloud,
    inside: Inside,
    workloads: Mapping[str, Any] | None = None,
) -> None:
    """Declare the policies, the contract with users' `workloads`, and profiles' objects."""
    if plan.contract is None:
        return
    scheduling, pools = plan.scheduling, plan.pools
    if plan.by_default:
        grace = scheduling.grace_period_seconds or spot_grace(
            (pool.source for pool in pools), cloud
        )
        also = kept_pods.unless_on_spot(cloud) if plan.moves_pods else ""
        PlacementDefaults(f"{name}-defaults", scheduling, pools, inside, grace=grace, also=also)
        if plan.moves_pods:
            KeptPods(f"{name}-kept-pods", scheduling, cloud, inside)
    elif scheduling.profiles:
        PodDefaults(f"{name}-pod-defaults", scheduling.profiles, pools, inside)
    if scheduling.back_to_spot:
        BackToSpot(f"{name}-back-to-spot", scheduling.back_to_spot.image, inside)
    SpotGuard(f"{name}-guard", scheduling, pools, cloud, inside)
    LabelPlaces(f"{name}-guard-labels", scheduling, inside)
    LostPods(
        f"{name}-lost-pods",
        scheduling,
        inside,
        marks=plan.by_default,
        on_demand_gpus=plan.on_demand_gpus,
    )
    content: dict[str, pulumi.Input[str]] = {
        **contract.data(release, pools, plan.placements),
        **neighbours.published(scheduling),
    }
    content |= contract.of_workloads(workloads)
    Contract(f"{name}-contract", plan.contract, content, scheduling.contract.readers, inside)
    if scheduling.profiles:
        Quotas(f"{name}-quota", scheduling.profiles, scheduling.guard, inside)
