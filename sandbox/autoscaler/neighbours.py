"""Rules between pods: required affinity and anti-affinity, spread with `DoNotSchedule`, and ports of the host.

As the scheduler's filters decide, which the real program runs (kubernetes.io, pages assign-pod-node, "Inter-pod affinity and
anti-affinity", and topology-spread-constraints). Preferences never count. Of a namespace only its name is known to a
`namespaceSelector`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sandbox.autoscaler.fit import selects

Object = Mapping[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_NAMESPACE = "kubernetes.io/metadata.name"
_ANYWHERE = ("", "0.0.0.0")


@dataclass(frozen=True)
class Term:
    """The pods that a rule is about: those that every selector matches. Equal terms have equal texts."""

    text: str
    living: bool = False
    """Whether pods that are being deleted do not count (spread)."""

    @cached_property
    def parts(self) -> Sequence[Object]:
        parts: list[Object] = json.loads(self.text)
        return parts

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return all(_covers(part, namespace) and selects(part["labels"], labels) for part in self.parts)


@dataclass(frozen=True)
class Spread:
    """One constraint of `topologySpreadConstraints`."""

    term: Term
    key: str
    most: int
    """The largest difference between two domains."""
    domains: int
    """With fewer domains the least number of pods in one counts as 0."""
    affinity: bool
    """Whether only nodes count that the pod's selector and affinity allow."""
    taints: bool
    """Whether only nodes count whose taints the pod tolerates."""


Port = tuple[str, str, int]
"""Address, protocol and port of a host."""


@dataclass(frozen=True)
class Rules:
    """One pod's own rules."""

    apart: tuple[tuple[Term, str], ...] = ()
    """No such pod in the same domain of this key."""
    beside: Term | None = None
    """Such a pod in the same domain of each of `keys`."""
    keys: tuple[str, ...] = ()
    spread: tuple[Spread, ...] = ()
    ports: tuple[Port, ...] = ()

    @property
    def terms(self) -> Iterable[Term]:
        """The terms of all rules."""
        yield from (term for term, _ in self.apart)
        yield from (spread.term for spread in self.spread)
        if self.beside:
            yield self.beside


NONE = Rules()


@dataclass(frozen=True)
class Bonds:
    """The part of a pod that decides beside which pods it may run."""

    rules: Rules
    matched: frozenset[Term]
    """The terms of any pod's rules that are about this pod."""

    @cached_property
    def single(self) -> bool:
        """Whether a placed pod may change where its like may go."""
        rules = self.rules
        return bool(rules.beside or rules.spread or rules.ports) or any(term in self.matched for term, _ in rules.apart)


def rules_of(namespace: str, labels: Mapping[str, str], spec: Object) -> Rules | None:
    """Return a pod's rules; None for most pods."""
    affinity = spec.get("affinity") or {}
    apart = (affinity.get("podAntiAffinity") or {}).get(_REQUIRED) or ()
    beside = (affinity.get("podAffinity") or {}).get(_REQUIRED) or ()
    spread = [
        each for each in spec.get("topologySpreadConstraints") or () if each["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    ports = _ports(spec)
    if not (apart or beside or spread or ports):
        return None
    return Rules(
        tuple((Term(_text([_part(term, namespace, labels)])), term["topologyKey"]) for term in apart),
        Term(_text([_part(term, namespace, labels) for term in beside])) if beside else None,
        tuple(term["topologyKey"] for term in beside),
        tuple(_spread(each, namespace, labels) for each in spread),
        ports,
    )


class Terms:
    """The terms of all rules that were seen, and the bonds of pods."""

    def __init__(self) -> None:
        self._by_label: dict[tuple[str, str], list[Term]] = {}
        self._others: list[Term] = []
        self._known: set[Term] = set()
        self.version = 0
        """Grows with each new term: a pod's bonds are the same while it does not."""

    def learn(self, rules: Rules) -> None:
        """Note the terms of a pod's rules."""
        for term in rules.terms:
            if term not in self._known:
                self._known.add(term)
                self.version += 1
                wanted = ((term.parts[0]["labels"] or {}).get("matchLabels") or {}) if term.parts else {}
                if wanted:
                    self._by_label.setdefault(next(iter(wanted.items())), []).append(term)
                else:
                    self._others.append(term)

    def bonds(self, rules: Rules | None, namespace: str, labels: Mapping[str, str]) -> Bonds | None:
        """Return the bonds of a pod; None where nothing ties it to others."""
        near = [term for item in labels.items() for term in self._by_label.get(item, ())]
        matched = frozenset(term for term in (*near, *self._others) if term.matches(namespace, labels))
        return Bonds(rules or NONE, matched) if rules or matched else None


@dataclass
class Tally:
    """The bonds of the pods on one node, counted."""

    matched: Counter[Term] = field(default_factory=Counter)
    holding: Counter[tuple[Term, str]] = field(default_factory=Counter)
    """The pods that want others apart, by their rule."""
    ports: Counter[Port] = field(default_factory=Counter)

    def add(self, bonds: Bonds, count: int = 1, *, dying: bool = False) -> None:
        """Count pods with these bonds; a negative number takes them away."""
        for term in bonds.matched:
            if not (dying and term.living):
                self.matched[term] += count
        for rule in bonds.rules.apart:
            self.holding[rule] += count
        for port in bonds.rules.ports:
            self.ports[port] += count

    def copy(self) -> Tally:
        return Tally(Counter(self.matched), Counter(self.holding), Counter(self.ports))

    def blocks(self, ports: Iterable[Port]) -> bool:
        """Return whether one of these ports is taken."""
        return any(
            count > 0
            and (protocol, number) == (other, own)
            and (address == place or address in _ANYWHERE or place in _ANYWHERE)
            for (address, protocol, number), count in self.ports.items()
            for place, other, own in ports
        )


def _covers(part: Object, namespace: str) -> bool:
    chosen = part["namespaceSelector"]
    return namespace in part["namespaces"] or (chosen is not None and selects(chosen, {_NAMESPACE: namespace}))


def _part(term: Object, namespace: str, labels: Mapping[str, str]) -> Object:
    chosen, names = term.get("namespaceSelector"), list(term.get("namespaces") or ())
    if not names and chosen is None:
        names = [namespace]
    return {"namespaces": names, "namespaceSelector": chosen, "labels": _selector(term, labels)}


def _selector(term: Object, labels: Mapping[str, str]) -> Object | None:
    """Return the selector of a term, with the pod's own values of `matchLabelKeys` and `mismatchLabelKeys`."""
    selector = term.get("labelSelector")
    if selector is None:
        return None
    own = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(keys) or ()
        if key in labels
    ]
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *own]}


def _spread(constraint: Object, namespace: str, labels: Mapping[str, str]) -> Spread:
    part = {"namespaces": [namespace], "namespaceSelector": None, "labels": _selector(constraint, labels)}
    return Spread(
        Term(_text([part]), living=True),
        constraint["topologyKey"],
        int(constraint.get("maxSkew", 1)),
        int(constraint.get("minDomains") or 1),
        constraint.get("nodeAffinityPolicy", "Honor") == "Honor",
        constraint.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )


def _text(parts: Sequence[Object]) -> str:
    return json.dumps(parts, sort_keys=True)


def _ports(spec: Object) -> tuple[Port, ...]:
    """Return the host's ports that a pod's containers and sidecars take."""
    containers = [*(spec.get("containers") or ())]
    containers += [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    return tuple(
        (port.get("hostIP") or "", port.get("protocol", "TCP"), int(port["hostPort"]))
        for container in containers
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )
