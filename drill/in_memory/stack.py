"""The data of a stack for drills in memory, read once from a stack that is up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drill.play.provisioning import Engine
from drill.play.source import CopiedCloud
from drill.play.stack_facts import StackFacts, Tiers, growth_orders, stack_facts
from drill.world.basis import Basis, basis_of_cloud
from drill.world.node_groups import zones_of
from sandbox.autoscaler import expander
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Client, Object


@dataclass(frozen=True, kw_only=True)
class Stack(StackFacts):
    """A stack's pools, autoscaler settings and DaemonSets: `read_stack("dev", copy, client)`."""

    orders: tuple[Tiers, ...]
    """The orders in which the pools grow: one on AKS, one for each ComputeClass on GKE."""
    groups: tuple[NodeGroup, ...]
    zones: Mapping[str, Sequence[str]]
    """The zones of each pool."""
    kept: frozenset[str]
    """Pools whose evicted machines are stopped, not deleted."""
    profile: Mapping[str, Any]
    classes: tuple[Object, ...]
    """GKE's ComputeClasses."""
    daemon_sets: tuple[Object, ...]
    maps: Mapping[tuple[str, str], Mapping[str, str]]
    """The data of ConfigMaps by namespace and name."""
    placement: Mapping[str, Any]
    """The placement that the defaults add to pods that may run on spot."""
    basis: Basis
    back_to_spot: bool = False
    """Whether the descheduler of `scheduling.backToSpot` runs."""
    engine: Engine | None = None
    """Karpenter, in place of the cluster autoscaler."""

    @property
    def order(self) -> tuple[str, ...]:
        """The pools in the order in which they grow; unranked pools come last."""
        ranked = [name for tiers in self.orders for tier in tiers for name in tier]
        return tuple(dict.fromkeys([*ranked, *(pool.name for pool in self.pools)]))

    def with_most(self, most: Mapping[str, int]) -> Stack:
        """Return the stack with other maxima of pools."""
        groups = (replace(each, most=most.get(each.pool, each.most)) for each in self.groups)
        pools = (replace(each, most=most.get(each.name, each.most)) for each in self.pools)
        return replace(self, groups=tuple(groups), pools=tuple(pools))

    def with_profile(self, settings: Mapping[str, str]) -> Stack:
        """Return the stack with other settings of its autoscaler, by AKS' keys."""
        return replace(self, profile={**self.profile, **settings})

    def with_engine(self, engine: Engine) -> Stack:
        """Return the stack whose pools are Karpenter's NodePools."""
        # Karpenter looks at every change, not at intervals.
        profile = {**self.profile, "scanInterval": "1s"}
        return replace(self, profile=profile, engine=engine, back_to_spot=False)

    def with_consolidation(self, minutes: int) -> Stack:
        """Return the stack whose ComputeClasses remove unused nodes after so many minutes."""
        policy = {"autoscalingPolicy": {"consolidationDelayMinutes": minutes}}
        classes = ({**body, "spec": {**body["spec"], **policy}} for body in self.classes)
        return replace(self, classes=tuple(classes))

    @property
    def consolidation(self) -> int | None:
        """The minutes after which the ComputeClasses remove unused nodes; None by default."""
        policies = [body["spec"].get("autoscalingPolicy") or {} for body in self.classes]
        return policies[0].get("consolidationDelayMinutes") if policies else None

    def with_order(self, order: Sequence[str]) -> Stack:
        """Return the stack whose pools grow in another order."""
        place = {name: number for number, name in enumerate(order)}
        classes = []
        for body in self.classes:
            rules = sorted(body["spec"]["priorities"], key=_rank(place))
            classes.append({**body, "spec": {**body["spec"], "priorities": rules}})
        maps = dict(self.maps)
        if _EXPANDER in maps:
            groups = {group.pool: re.escape(group.name) for group in self.groups}
            ranks = ((10 * (len(order) - place[name]) + 10, groups[name]) for name in order)
            lines = [f"{rank}: ['^{group}$']" for rank, group in ranks]
            maps[_EXPANDER] = {"priorities": "\n".join([*lines, "1: ['.*']"])}
        named = [{name for tier in tiers for name in tier} for tiers in self.orders]
        orders = tuple(tuple((name,) for name in order if name in names) for names in named)
        return replace(self, classes=tuple(classes), maps=maps, orders=orders)


_EXPANDER = ("kube-system", expander.CONFIG_MAP)


def _rank(place: Mapping[str, int]) -> Callable[[Mapping[str, Any]], int]:
    return lambda rule: min(
        (place[name] for name in rule.get("nodepools") or () if name in place), default=len(place)
    )


def read_stack(name: str, copy: CopiedCloud, client: Client, engine: Engine | None = None) -> Stack:
    """Read a stack from the copy of its cloud and from its API server.

    `engine` runs the stack's NodePools, if it has any.
    """
    groups = copy.cloud.node_groups(copy.cluster)
    by_name = {group.pool: group for group in groups.groups}
    maps = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each.get("data") or {}
        for each in client.list("v1", "ConfigMap")
    }
    deployments = client.list("apps/v1", "Deployment", "kube-system")
    names = [each["metadata"]["name"] for each in deployments]
    snippets = (copy.outputs.get("contract") or {}).get("snippets", {})
    stack = Stack(
        **vars(stack_facts(name, copy)),
        orders=tuple(growth_orders(copy)),
        groups=tuple(groups.groups),
        zones={pool: zones_of(copy.cloud, group) for pool, group in by_name.items()},
        kept=frozenset(pool for pool, group in by_name.items() if _kept(copy, group)),
        profile=dict(groups.profile),
        classes=tuple(copy.classes),
        daemon_sets=tuple(_declared(body) for body in client.list("apps/v1", "DaemonSet")),
        maps=maps,
        placement=snippets.get("gpu-prefer-spot", {}),
        basis=basis_of_cloud(copy.cloud, copy.cluster),
        back_to_spot=any(each.endswith("-back-to-spot") for each in names),
    )
    return stack.with_engine(engine) if engine else stack


def _kept(copy: CopiedCloud, group: NodeGroup) -> bool:
    return (copy.cloud.get(group.pool_id) or {}).get("scaleSetEvictionPolicy") == "Deallocate"


def _declared(body: Object) -> Object:
    metadata = {key: body["metadata"][key] for key in ("name", "namespace")}
    own = {"metadata": metadata, "spec": body["spec"]}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", **own}
