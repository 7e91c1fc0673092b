"""GKE's choice of a pool to scale up: by the order of a ComputeClass, and without one by the price.

Pages about-cluster-autoscaler and about-custom-compute-classes; where they are silent the autoscaler's own code,
GoogleCloudPlatform/cluster-autoscaler of 2026-08-21 (pkg/computeclass/{organizer,matcher}.go, pkg/expander/gkeprice).

Simplified: the sandbox has no prices, so vCPUs and then memory stand for them, and spot costs less than on-demand. Of several
spot pools GKE does not pick the cheapest; one is drawn. A rule without `nodepools` matches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from sandbox.autoscaler import gke_figures, resources
from sandbox.autoscaler.expander import ONLY, Option, draw
from sandbox.autoscaler.fit import required_terms
from sandbox.autoscaler.migration import Rank
from sandbox.autoscaler.shapes import Object, Shape
from sandbox.autoscaler.world import Failure, Hands, World
from sandbox.cloud.node_groups import NodeGroup

KEY = "cloud.google.com/compute-class"
_RECLAIMABLE = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")


@dataclass(frozen=True)
class ComputeClass:
    """A ComputeClass: its rules as sets of pool names (the order inside a list is ignored)."""

    rules: tuple[frozenset[str], ...]
    anyway: bool
    """Whether pools of the class that no rule names grow last."""
    migrates: bool = False
    """Whether running pods move to the pools of an earlier rule."""
    unneeded_time: float | None = None
    """Seconds after which an unused node goes: page about-custom-compute-classes, "GKE removes unused nodes after five minutes"."""

    @classmethod
    def of(cls, body: Object) -> ComputeClass:
        """Read an object. `whenUnsatisfiable` is DoNotScaleUp by default, as from 1.33 on."""
        spec = body["spec"]
        minutes = (spec.get("autoscalingPolicy") or {}).get("consolidationDelayMinutes")
        return cls(
            tuple(frozenset(rule.get("nodepools") or ()) for rule in spec["priorities"]),
            spec.get("whenUnsatisfiable") == "ScaleUpAnyway",
            bool((spec.get("activeMigration") or {}).get("optimizeRulePriority")),
            60.0 * minutes if minutes else None,
        )

    def tier(self, pool: str) -> int | None:
        """Return the first rule that names a pool, from 0; None where the pool never grows."""
        named = next((number for number, pools in enumerate(self.rules) if pool in pools), None)
        return len(self.rules) if named is None and self.anyway else named


class Gke:
    """ComputeClasses first, then the price. A cluster without the kind has no class."""

    defaults = gke_figures.DEFAULTS
    least = 1
    """Page about-cluster-autoscaler: a pool can reach 0, the cluster cannot."""
    # kubernetes/autoscaler 1.36.1, cloudprovider/gce/autoscaling_gce_client.go:574-578.
    unmade = Failure("RESOURCE_POOL_EXHAUSTED")

    def __init__(self, world: World) -> None:
        self._by_name = {body["metadata"]["name"]: ComputeClass.of(body) for body in world.classes}

    @staticmethod
    def answer(group: NodeGroup, refused: str) -> str:
        """Return it as it is: GKE shows nobody its autoscaler's status."""
        return refused

    def hopeless(self, shape: Shape) -> str:
        """Return the reason why no pool can grow for a pod: its class does not exist. Empty where one may."""
        name = requested(shape.spec)
        return f"there is no ComputeClass {name}" if name and name not in self._by_name else ""

    def barred(self, groups: Sequence[NodeGroup]) -> Mapping[str, str]:
        """Return the groups of a class that none of its rules names, with the reason: they never grow."""
        return {
            group.name: f"no rule of ComputeClass {name} names it"
            for group in groups
            if (known := self._by_name.get(name := _label(group))) and known.tier(group.pool) is None
        }

    def admit(self, pods: Sequence[Object], hands: Hands) -> None:
        """Add a class's toleration to pods that ask for the class where no admission policy did (`sandbox/gcp/data/objects`)."""
        for pod in pods:
            if added := tolerations(pod):
                hands.tolerate(pod, added)

    def ranks(self, groups: Sequence[NodeGroup]) -> Rank:
        """Return the class and the number of the rule of each group, by name, whose class moves running pods."""
        found = {}
        for group in groups:
            name = _label(group)
            known = self._by_name.get(name)
            if known and known.migrates and (tier := known.tier(group.pool)) is not None:
                found[group.name] = (name, tier)
        return found

    def unneeded_times(self, groups: Sequence[NodeGroup]) -> Mapping[str, float]:
        """Return the seconds after which an unused node of a group goes, by the group's name, where its class says so."""
        known = {group.name: self._by_name.get(_label(group)) for group in groups}
        return {name: found.unneeded_time for name, found in known.items() if found and found.unneeded_time}

    def choose(self, groups: Sequence[NodeGroup], options: Sequence[Option], random: Random) -> tuple[Option, str]:
        """Return the option to take, and why.

        One class is drawn first, where pools without a class count as one: "so that no crd starves".
        """
        by_name = {group.name: group for group in groups}
        families: dict[str, list[Option]] = {}
        for option in options:
            name = _label(by_name[option.group])
            families.setdefault(name if name in self._by_name else "", []).append(option)
        name = random.choice(sorted(families))
        if not name:
            return cheapest(families[name], by_name, random)
        own = self._by_name[name]
        tiers = {option.group: _tier(own, option.pool) for option in families[name]}
        best = [option for option in families[name] if tiers[option.group] == min(tiers.values())]
        option, why = cheapest(best, by_name, random)
        number = tiers[option.group]
        rule = f"rule {number + 1} of {len(own.rules)}" if number < len(own.rules) else "after all its rules"
        return option, f"ComputeClass {name}, {rule}" + (f"; {why}" if len(best) > 1 else "")


def cheapest(options: Sequence[Option], groups: Mapping[str, NodeGroup], random: Random) -> tuple[Option, str]:
    """Return the cheapest option, and why it is."""
    if len(options) == 1:
        return options[0], ONLY
    why = ""
    # gke_price.go, acceleratorsUnfitnessOverride: "so it will never use nodes with expensive GPUs".
    best = [option for option in options if not groups[option.group].gpus] or list(options)
    if len(best) < len(options):
        why = "it has no GPUs"
    spot = [option for option in best if _reclaimable(groups[option.group])]
    if spot:
        if len(spot) < len(best):
            why = "spot costs less"
        best = spot
    else:
        costs = {option.group: _cost(option, groups[option.group]) for option in best}
        least = [option for option in best if costs[option.group] == min(costs.values())]
        if len(least) < len(best):
            why = "least vCPUs and memory"
        best = least
    return draw(best, why, random)


def requested(spec: Object) -> str:
    """Return the class that a pod requests, by node selector or a required affinity that leaves no other; empty for none."""
    if selected := (spec.get("nodeSelector") or {}).get(KEY):
        return str(selected)
    terms = required_terms(spec) or ()
    if len(terms) != 1:
        return ""
    for expression in terms[0].get("matchExpressions") or ():
        if expression["key"] == KEY and expression["operator"] == "In" and len(expression["values"]) == 1:
            return str(expression["values"][0])
    return ""


def tolerations(pod: Object) -> list[Any] | None:
    """Return a waiting pod's tolerations and the one that GKE adds for the class it selects; None where nothing is to be added."""
    spec = pod["spec"]
    name = (spec.get("nodeSelector") or {}).get(KEY)
    present = spec.get("tolerations") or []
    scheduled = spec.get("nodeName") or pod["metadata"].get("deletionTimestamp")
    if not name or scheduled or any(each.get("key") == KEY and each.get("value") == name for each in present):
        return None
    return [*present, {"key": KEY, "operator": "Equal", "value": name, "effect": "NoSchedule"}]


def _label(group: NodeGroup) -> str:
    return str(group.template["metadata"]["labels"].get(KEY, ""))


def _tier(own: ComputeClass, pool: str) -> int:
    tier = own.tier(pool)
    assert tier is not None, f"{pool} is barred"
    return tier


def _reclaimable(group: NodeGroup) -> bool:
    return any(group.template["metadata"]["labels"].get(key) == "true" for key in _RECLAIMABLE)


def _cost(option: Option, group: NodeGroup) -> tuple[Decimal, Decimal]:
    allocatable = resources.amounts(group.template["status"]["allocatable"])
    return allocatable["cpu"] * option.nodes, allocatable["memory"] * option.nodes
