"""Shapes: what pods ask of a node. Equal pods share one, so that a scan of thousands of pods compares few.

Amounts are whole numbers of a thousandth of each resource's unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING
from functools import lru_cache
from typing import Any

from sandbox.autoscaler import neighbours, resources
from sandbox.autoscaler.neighbours import Bonds, Terms

Object = Mapping[str, Any]
Amounts = dict[str, int]

# utils/gpu/gpu.go, GPUVendorResourceNames.
GPU_RESOURCES = ("nvidia.com/gpu", "habana.ai/gaudi", "gpu.intel.com/xe", "amd.com/gpu", "microsoft.com/directx")

_MIRROR = "kubernetes.io/config.mirror"
_LIKE_DAEMON = "cluster-autoscaler.kubernetes.io/daemonset-pod"
_PARTS = ("tolerations", "nodeSelector", "affinity", "priority", "overhead", "resources", "schedulerName")


class Shape:
    """The part of a pod's spec that decides where it fits; `spec` is one pod's. `bonds` tie it to other pods."""

    __slots__ = ("bonds", "gpu", "priority", "requests", "spec")

    def __init__(self, spec: Object, bonds: Bonds | None = None) -> None:
        self.spec, self.bonds = spec, bonds
        self.requests: Amounts = amounts(resources.requests(spec))
        self.priority: int = spec.get("priority") or 0
        self.gpu = any(name in self.requests for name in GPU_RESOURCES)

    def lacking(self, free: Mapping[str, int]) -> str:
        """Return the first resource of which too little is free; empty when all suffice."""
        for name, amount in self.requests.items():
            if amount > free.get(name, 0) and amount > 0:
                return name
        return ""

    def times(self, free: Mapping[str, int]) -> int:
        """Return how many pods of this shape so much free room takes; each takes one of `pods` at least."""
        return min((free.get(name, 0) // amount for name, amount in self.requests.items() if amount > 0), default=0)


class PodInfo:
    """One pod of a scan, with what earlier scans found out about it."""

    __slots__ = (
        "base",
        "metadata",
        "mirror",
        "name",
        "of_node",
        "pod",
        "rules",
        "shape",
        "terminating",
        "tolerations",
        "uid",
        "version",
    )

    def __init__(self, uid: Any, pod: Object, base: Shape) -> None:
        self.uid, self.pod = uid, pod
        self.base = self.shape = base
        """`shape` has the pod's bonds, `base` has not."""
        self.metadata: Object = pod["metadata"]
        labels = self.metadata.get("labels") or {}
        self.rules = neighbours.rules_of(self.metadata["namespace"], labels, pod["spec"])
        self.version = -1
        """The version of the terms by which its bonds were found."""
        self.name = f"{self.metadata['namespace']}/{self.metadata['name']}"
        self.of_node, self.mirror = of_node(pod), _MIRROR in (self.metadata.get("annotations") or {})
        self.tolerations: Any = pod["spec"].get("tolerations")
        self.terminating: float | None = None
        """Since when it has a deletion timestamp."""

    @property
    def spec(self) -> Object:
        spec: Object = self.pod["spec"]
        return spec


class Shapes:
    """The shapes of all pods that were seen; pods of one owner are compared with each other first."""

    def __init__(self) -> None:
        self._by_owner: dict[Any, Shape] = {}
        self._all: dict[str, Shape] = {}
        self._bound: dict[tuple[int, Bonds], tuple[Shape, Shape]] = {}
        """Shapes with bonds, beside the shapes without them."""

    def of(self, pod: Object) -> Shape:
        """Return the shape of a pod."""
        spec, owners = pod["spec"], pod["metadata"].get("ownerReferences")
        owner = (owners[0].get("uid") or owners[0].get("name")) if owners else ""
        known = self._by_owner.get(owner)
        if known is not None and _alike(known.spec, spec):
            return known
        key = repr([[spec.get(part) for part in _PARTS], _containers(spec)])
        shape = self._all.get(key)
        if shape is None:
            shape = self._all[key] = Shape(spec)
        self._by_owner[owner] = shape
        return shape

    def bind(self, pods: Iterable[PodInfo], terms: Terms) -> None:
        """Give pods the shapes with their bonds."""
        for pod in pods:
            if pod.version != terms.version:
                pod.version = terms.version
                bonds = terms.bonds(pod.rules, pod.metadata["namespace"], pod.metadata.get("labels") or {})
                pod.shape = self.bound(pod.base, bonds)

    def bound(self, base: Shape, bonds: Bonds | None) -> Shape:
        """Return a shape with bonds; equal ones are one."""
        if bonds is None:
            return base
        key = (id(base), bonds)
        known = self._bound.get(key)
        if known is None or known[0] is not base:
            known = self._bound[key] = (base, Shape(base.spec, bonds))
        return known[1]

    def forget(self, used: Iterable[Shape]) -> None:
        """Keep only these shapes, once too many were seen."""
        if len(self._all) > 4096:
            kept = {id(shape) for shape in used}
            self._all = {key: shape for key, shape in self._all.items() if id(shape) in kept}
            self._bound = {key: shapes for key, shapes in self._bound.items() if key[0] in kept}
            self._by_owner = {}


def of_node(pod: Object) -> bool:
    """Return whether a pod belongs to its node: a DaemonSet's, or the mirror of a static pod (utils/pod/pod.go)."""
    metadata = pod["metadata"]
    if any(owner["kind"] == "DaemonSet" for owner in metadata.get("ownerReferences") or []):
        return True
    annotations = metadata.get("annotations") or {}
    return _MIRROR in annotations or annotations.get(_LIKE_DAEMON) == "true"


def amounts(quantities: Mapping[str, Any]) -> Amounts:
    """Return quantities (texts or numbers) as thousandths; halves of a thousandth round up."""
    return {name: amount(str(value)) for name, value in quantities.items()}


@lru_cache(maxsize=8192)
def amount(text: str) -> int:
    """Return the thousandths of a quantity. Raises ValueError."""
    return int((resources.quantity(text) * 1000).to_integral_value(ROUND_CEILING))


def _alike(first: Object, second: Object) -> bool:
    return all(first.get(part) == second.get(part) for part in _PARTS) and _containers(first) == _containers(second)


def _containers(spec: Object) -> list[Sequence[Any]]:
    """Return the requests of containers, and how init containers restart."""
    return [
        (kind, container.get("resources"), container.get("restartPolicy"))
        for kind in ("initContainers", "containers")
        for container in spec.get(kind) or ()
    ]
