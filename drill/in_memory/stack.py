"""What a drill in memory knows of a stack: plain data, read once from a stack that is up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drill.play.run import Tiers, accepted_wait, location, orders, pools, sources
from drill.play.source import CopiedCloud
from drill.world import basis, record
from drill.world.basis import Basis
from drill.world.zones import zones_of
from sandbox.autoscaler import expander
from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Client, Object


@dataclass(frozen=True)
class Stack:
    """A stack's pools, autoscaler settings and DaemonSets."""

    name: str
    provider: str
    location: str
    pools: tuple[record.Pool, ...]
    orders: tuple[Tiers, ...]
    """The orders in which the pools grow: one on AKS, one for each ComputeClass on GKE."""
    groups: tuple[NodeGroup, ...]
    zones: Mapping[str, Sequence[str]]
    """The zones of each pool."""
    kept: frozenset[str]
    """Pools whose evicted machines are stopped in place of deleted."""
    profile: Mapping[str, Any]
    classes: tuple[Object, ...]
    """GKE's ComputeClasses."""
    daemon_sets: tuple[Object, ...]
    maps: Mapping[tuple[str, str], Mapping[str, str]]
    """The data of ConfigMaps by namespace and name."""
    placement: Mapping[str, Any]
    """What the defaults add to the spec of a pod that may run on spot."""
    basis: Basis
    accepted_wait: float
    """Seconds."""
    price_source: str = ""
    back_to_spot: bool = False
    """Whether the descheduler of `scheduling.backToSpot` runs."""

    @property
    def order(self) -> tuple[str, ...]:
        """The pools in the order in which they grow; those that the order does not name come last."""
        ranked = [name for tiers in self.orders for tier in tiers for name in tier]
        return tuple(dict.fromkeys([*ranked, *(pool.name for pool in self.pools)]))

    def with_most(self, most: Mapping[str, int]) -> Stack:
        """The stack with other maxima of pools."""
        return replace(
            self,
            groups=tuple(
                replace(each, most=most.get(each.pool, each.most)) for each in self.groups
            ),
            pools=tuple(replace(each, most=most.get(each.name, each.most)) for each in self.pools),
        )

    def with_profile(self, settings: Mapping[str, str]) -> Stack:
        """The stack with other settings of its autoscaler, by AKS' keys."""
        return replace(self, profile={**self.profile, **settings})

    def with_consolidation(self, minutes: int) -> Stack:
        """Return the stack whose ComputeClasses remove unused nodes after so many minutes."""
        policy = {"autoscalingPolicy": {"consolidationDelayMinutes": minutes}}
        return replace(
            self,
            classes=tuple({**body, "spec": {**body["spec"], **policy}} for body in self.classes),
        )

    @property
    def consolidation(self) -> int | None:
        """The minutes after which unused nodes go by the ComputeClasses; None where they say nothing."""
        found = [
            (body["spec"].get("autoscalingPolicy") or {}).get("consolidationDelayMinutes")
            for body in self.classes
        ]
        return found[0] if found else None

    def with_order(self, order: Sequence[str]) -> Stack:
        """The stack whose pools grow in another order."""
        place = {name: number for number, name in enumerate(order)}
        classes = [
            {
                **body,
                "spec": {
                    **body["spec"],
                    "priorities": sorted(body["spec"]["priorities"], key=_rank(place)),
                },
            }
            for body in self.classes
        ]
        maps = dict(self.maps)
        if _EXPANDER in maps:
            groups = {group.pool: group.name for group in self.groups}
            lines = [
                f"{10 * (len(order) - place[name]) + 10}: ['^{re.escape(groups[name])}$']"
                for name in order
            ]
            maps[_EXPANDER] = {"priorities": "\n".join([*lines, "1: ['.*']"])}
        orders = tuple(
            tuple((name,) for name in order if name in _named(tiers)) for tiers in self.orders
        )
        return replace(self, classes=tuple(classes), maps=maps, orders=orders)


_EXPANDER = ("kube-system", expander.CONFIG_MAP)


def _named(tiers: Tiers) -> set[str]:
    return {name for tier in tiers for name in tier}


def _rank(place: Mapping[str, int]) -> Callable[[Mapping[str, Any]], int]:
    return lambda rule: min(
        (place[name] for name in rule.get("nodepools") or () if name in place), default=len(place)
    )


def of(name: str, copy: CopiedCloud, client: Client) -> Stack:
    """Read a stack from the copy of its cloud and from its API server."""
    groups = copy.cloud.node_groups(copy.cluster)
    by_name = {group.pool: group for group in groups.groups}
    maps = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each.get("data") or {}
        for each in client.list("v1", "ConfigMap")
    }
    ranked, deployments = orders(copy), client.list("apps/v1", "Deployment", "kube-system")
    found = tuple(pools(copy, ranked))
    return Stack(
        name=name,
        provider=copy.provider,
        location=location(copy),
        pools=found,
        orders=tuple(ranked),
        groups=tuple(groups.groups),
        zones={pool: zones_of(copy.cloud, group) for pool, group in by_name.items()},
        kept=frozenset(pool for pool, group in by_name.items() if _kept(copy, group)),
        profile=dict(groups.profile),
        classes=tuple(copy.classes),
        daemon_sets=tuple(_declared(body) for body in client.list("apps/v1", "DaemonSet")),
        maps=maps,
        placement=(copy.outputs.get("contract") or {})
        .get("snippets", {})
        .get("gpu-prefer-spot", {}),
        basis=basis.of(copy.cloud, copy.cluster),
        accepted_wait=accepted_wait(copy),
        price_source="; ".join(sorted(sources(copy, found))),
        back_to_spot=any(
            each["metadata"]["name"].endswith("-back-to-spot") for each in deployments
        ),
    )


def _kept(copy: CopiedCloud, group: NodeGroup) -> bool:
    return (copy.cloud.get(group.pool_id) or {}).get("scaleSetEvictionPolicy") == "Deallocate"


def _declared(body: Object) -> Object:
    metadata = {key: body["metadata"][key] for key in ("name", "namespace")}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata,
        "spec": body["spec"],
    }
