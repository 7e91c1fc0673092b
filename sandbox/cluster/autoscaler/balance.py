"""How the autoscaler shares new nodes among pools that are alike (`balanceSimilarNodeGroups`).

Rules of cluster-autoscaler 1.36.1: processors/nodegroupset (compare_nodegroups.go, azure_nodegroups.go, balancing_processor.go),
and the recording balance-similar-zones-on-different-tiers: pools of other tiers of the priority expander take their share as well.

Plain: what the cloud says of a pool's machine is compared, and not a node that is there with what is free on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.autoscaler import resources

# In which pools that are alike may differ: where a node is, which pool it is of, and what its image is.
_IGNORED = {
    "kubernetes.io/hostname",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "beta.kubernetes.io/fluentd-ds-ready",
    "kops.k8s.io/instancegroup",
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "topology.disk.csi.azure.com/zone",
    "aksEngineVersion",
    "creationSource",
    "poolName",
    "resourceNameSuffix",
    "kubernetes.azure.com/consolidated-additional-properties",
    "kubernetes.azure.com/node-image-version",
}
_MEMORY, _ALLOCATABLE = Decimal("0.015"), Decimal("0.05")
"""By which share of the larger the memory of two machines may differ, and anything that pods may have of them."""


@dataclass(frozen=True)
class Size:
    """A group by name, how many nodes it has and how many it may have."""

    group: str
    now: int
    most: int


def alike(one: NodeGroup, other: NodeGroup) -> bool:
    """Whether the machines of two groups differ in nothing that counts. Another label that differs does."""
    return (
        _labels(one) == _labels(other)
        and _close(_has(one, "capacity"), _has(other, "capacity"), {"memory": _MEMORY}, Decimal(0))
        and _close(_has(one, "allocatable"), _has(other, "allocatable"), {}, _ALLOCATABLE)
    )


def shares(sizes: Sequence[Size], nodes: int) -> dict[str, int]:
    """How many nodes each group gets: one after the other goes to the smallest that may have more."""
    now = {size.group: size.now for size in sizes}
    for _ in range(nodes):
        growing = [size.group for size in sizes if now[size.group] < size.most]
        if not growing:
            break
        now[min(growing, key=lambda group: now[group])] += 1
    return {size.group: now[size.group] - size.now for size in sizes if now[size.group] > size.now}


def _labels(group: NodeGroup) -> dict[str, Any]:
    return {key: value for key, value in group.template["metadata"]["labels"].items() if key not in _IGNORED}


def _has(group: NodeGroup, what: str) -> resources.Resources:
    return resources.of(group.template["status"].get(what))


def _close(
    one: resources.Resources, other: resources.Resources, differences: Mapping[str, Decimal], usual: Decimal
) -> bool:
    return one.keys() == other.keys() and all(
        abs(amount - other[name]) <= max(amount, other[name]) * differences.get(name, usual)
        for name, amount in one.items()
    )
