"""Which pool grows on GKE: the order of a ComputeClass, and without one what costs least.

Pages about-cluster-autoscaler and about-custom-compute-classes; where they are silent the autoscaler's own code,
GoogleCloudPlatform/cluster-autoscaler of 2026-08-21 (pkg/computeclass/{organizer,matcher}.go, pkg/expander/gkeprice).

Plain: there are no prices here, so vCPUs and then memory stand for them, and spot costs less than what is not. Of several spot
pools GKE does not pick the cheapest; one is drawn. A rule without `nodepools` matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler import resources
from sandbox.cluster.autoscaler.expander import Option
from sandbox.cluster.autoscaler.rooms import Object, Pod

KEY = "cloud.google.com/compute-class"
_VANISHING = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")


@dataclass(frozen=True)
class ComputeClass:
    """Its rules as sets of pool names (the order inside a list is ignored), and whether other pools of it come last."""

    rules: tuple[frozenset[str], ...]
    anyway: bool

    @classmethod
    def of(cls, body: Object) -> ComputeClass:
        """`whenUnsatisfiable` is DoNotScaleUp where it says nothing, as from 1.33 on."""
        spec = body["spec"]
        return cls(
            tuple(frozenset(rule.get("nodepools") or ()) for rule in spec["priorities"]),
            spec.get("whenUnsatisfiable") == "ScaleUpAnyway",
        )

    def tier(self, pool: str) -> int | None:
        """The first rule that names a pool, from 0; None where it never grows."""
        named = next((number for number, pools in enumerate(self.rules) if pool in pools), None)
        return len(self.rules) if named is None and self.anyway else named


class Classes:
    """The cluster's ComputeClasses by name."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._known = {body["metadata"]["name"]: ComputeClass.of(body) for body in objects}

    def lost(self, pod: Pod) -> str:
        """Why no pool will grow for a pod, whatever it is; empty where one may."""
        name = asked(pod.spec)
        return f"there is no ComputeClass {name}" if name and name not in self._known else ""

    def barred(self, groups: Iterable[NodeGroup]) -> dict[str, str]:
        """The groups of a class that its rules do not name, by name: they do not grow for anybody."""
        found = {}
        for group in groups:
            name = _label(group)
            known = self._known.get(name)
            if known and known.tier(group.pool) is None:
                found[group.name] = f"no rule of ComputeClass {name} names it"
        return found

    def choose(self, options: Sequence[Option], groups: Iterable[NodeGroup], random: Random) -> tuple[Option, str]:
        """One of the options, and why.

        Of the classes that have one, and the pools of none, any comes first: "so that no crd starves".
        """
        by_name = {group.name: group for group in groups}
        families: dict[str, list[Option]] = {}
        for option in options:
            name = _label(by_name[option.group])
            families.setdefault(name if name in self._known else "", []).append(option)
        name = random.choice(sorted(families))
        if not name:
            return cheapest(families[name], by_name, random)
        own = self._known[name]
        tiers = {option.group: _tier(own, option.pool) for option in families[name]}
        best = [option for option in families[name] if tiers[option.group] == min(tiers.values())]
        option, why = cheapest(best, by_name, random)
        number = tiers[option.group]
        rule = f"rule {number + 1} of {len(own.rules)}" if number < len(own.rules) else "after all its rules"
        return option, f"ComputeClass {name}, {rule}" + (f"; {why}" if len(best) > 1 else "")


def cheapest(options: Sequence[Option], groups: Mapping[str, NodeGroup], random: Random) -> tuple[Option, str]:
    """The option that costs least, and why."""
    if len(options) == 1:
        return options[0], "the only pool that can"
    why = ""
    # gke_price.go, acceleratorsUnfitnessOverride: "so it will never use nodes with expensive GPUs".
    best = [option for option in options if not groups[option.group].gpus] or list(options)
    if len(best) < len(options):
        why = "it has no GPUs"
    spot = [option for option in best if _vanishes(groups[option.group])]
    if spot:
        if len(spot) < len(best):
            why = "spot costs less"
        best = spot
    else:
        costs = {option.group: _cost(option, groups[option.group]) for option in best}
        cheap = [option for option in best if costs[option.group] == min(costs.values())]
        if len(cheap) < len(best):
            why = "least vCPUs and memory"
        best = cheap
    if len(best) > 1:
        drawn = "drawn from " + ", ".join(sorted(option.pool for option in best))
        why = f"{why}; {drawn}" if why else drawn
    return random.choice(best), why


def asked(spec: Object) -> str:
    """The class that a pod asks for, by node selector or a required affinity that leaves no other; empty for none."""
    if selected := (spec.get("nodeSelector") or {}).get(KEY):
        return str(selected)
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms: Sequence[Any] = (required or {}).get("nodeSelectorTerms") or ()
    if len(terms) != 1:
        return ""
    for one in terms[0].get("matchExpressions") or ():
        if one["key"] == KEY and one["operator"] == "In" and len(one["values"]) == 1:
            return str(one["values"][0])
    return ""


def toleration(pod: Object) -> list[Any] | None:
    """The tolerations of a waiting pod with the one that GKE gives to those asking for a class; None where it has that."""
    spec = pod["spec"]
    name = (spec.get("nodeSelector") or {}).get(KEY)
    known = spec.get("tolerations") or []
    done = spec.get("nodeName") or pod["metadata"].get("deletionTimestamp")
    if not name or done or any(one.get("key") == KEY and one.get("value") == name for one in known):
        return None
    return [*known, {"key": KEY, "operator": "Equal", "value": name, "effect": "NoSchedule"}]


def _label(group: NodeGroup) -> str:
    return str(group.template["metadata"]["labels"].get(KEY, ""))


def _tier(own: ComputeClass, pool: str) -> int:
    found = own.tier(pool)
    assert found is not None, f"{pool} is barred"
    return found


def _vanishes(group: NodeGroup) -> bool:
    return any(group.template["metadata"]["labels"].get(key) == "true" for key in _VANISHING)


def _cost(option: Option, group: NodeGroup) -> tuple[Decimal, Decimal]:
    has = resources.of(group.template["status"]["allocatable"])
    return has["cpu"] * option.nodes, has["memory"] * option.nodes
