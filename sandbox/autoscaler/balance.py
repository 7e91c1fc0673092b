"""Balance: the autoscaler shares new nodes among similar pools (`balanceSimilarNodeGroups`).

Rules of cluster-autoscaler 1.36.1: processors/nodegroupset (compare_nodegroups.go, azure_nodegroups.go, balancing_processor.go),
and the recording balance-similar-zones-on-different-tiers: pools of other tiers of the priority expander take their share as well.

Simplified: it compares the cloud's descriptions of the pools' machines, and no existing nodes with their free resources.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sandbox.autoscaler import resources
from sandbox.cloud.node_groups import NodeGroup

# Labels in which similar pools may differ: a node's place, its pool and its image.
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
"""The shares of the larger by which two machines may differ in memory, and in anything allocatable."""


@dataclass(frozen=True)
class Size:
    """A group by name, its number of nodes and its maximum."""

    group: str
    now: int
    most: int


def similar(first: NodeGroup, second: NodeGroup, ignored: frozenset[str] = frozenset()) -> bool:
    """Return whether two groups have machines of one size and the same labels, but for those that do not count and `ignored`."""
    return (
        _labels(first, ignored) == _labels(second, ignored)
        and _close(_resources(first, "capacity"), _resources(second, "capacity"), {"memory": _MEMORY}, Decimal(0))
        and _close(_resources(first, "allocatable"), _resources(second, "allocatable"), {}, _ALLOCATABLE)
    )


def shares(sizes: Sequence[Size], nodes: int) -> dict[str, int]:
    """Return the number of new nodes by group: each goes to the smallest group below its maximum."""
    now = {size.group: size.now for size in sizes}
    for _ in range(nodes):
        growing = [size.group for size in sizes if now[size.group] < size.most]
        if not growing:
            break
        now[min(growing, key=lambda group: now[group])] += 1
    return {size.group: now[size.group] - size.now for size in sizes if now[size.group] > size.now}


def _labels(group: NodeGroup, ignored: frozenset[str]) -> dict[str, Any]:
    labels = group.template["metadata"]["labels"]
    return {key: value for key, value in labels.items() if key not in _IGNORED and key not in ignored}


def _resources(group: NodeGroup, field: str) -> resources.Resources:
    return resources.amounts(group.template["status"].get(field))


def _close(
    first: resources.Resources, second: resources.Resources, differences: Mapping[str, Decimal], usual: Decimal
) -> bool:
    return first.keys() == second.keys() and all(
        abs(amount - second[name]) <= max(amount, second[name]) * differences.get(name, usual)
        for name, amount in first.items()
    )
