"""Pools of AKS' node auto-provisioning: Karpenter's NodePools and Azure's AKSNodeClasses.

What they mean: the CRDs and the code of Azure/karpenter-provider-azure v1.14.0. Nodes have no public
addresses, since an AKSNodeClass has no such field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policy.azure.azure_pools import SPOT, has_nvidia
from policy.cloud import Bounds, Pool, Spot, Taint, Taints
from policy.declared import UNKNOWN, Declared, Unknown, at

POOL = "kubernetes:karpenter.sh/v1:NodePool"
CLASS = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"

_TEMPLATE = "spec.template.spec"
_LABELS = "spec.template.metadata.labels"
_REQUIREMENTS = f"{_TEMPLATE}.requirements"
_MODE = "kubernetes.azure.com/mode"

_PRIORITIES = (
    "karpenter.sh/capacity-type",
    "kubernetes.azure.com/scalesetpriority",
    "kubernetes.azure.com/priority",
)
"""Labels whose value `spot` is a machine that may be evicted (pkg/apis/v1beta1/labels.go)."""

_NVIDIA: Mapping[str, Callable[[Any], bool]] = {
    "node.kubernetes.io/instance-type": has_nvidia,
    "karpenter.azure.com/sku-name": has_nvidia,
    "karpenter.azure.com/sku-gpu-manufacturer": lambda value: bool(value == "nvidia"),
}


def pools(declared: Declared) -> Iterator[Pool]:
    """Yield the pool of a NodePool."""
    if declared.type != POOL:
        return
    listed = declared.get(_REQUIREMENTS)
    # One that is not known may be the one that counts.
    known = listed is not UNKNOWN and all(map(_is_known, listed or ()))
    spot = _spot_at(listed or ()) if known else None
    found = declared.get(_LABELS)
    labels = found if isinstance(found, Mapping) else {}
    yield Pool(
        nvidia_at=_nvidia_at(listed or ()) if known else None,
        spot=Spot(spot, SPOT.taint, SPOT.kept_off_by) if spot else None,
        system_at=f'{_LABELS}["{_MODE}"]' if labels.get(_MODE) == "system" else None,
        taints=Taints(
            f"{_TEMPLATE}.taints",
            _taints(declared.get(f"{_TEMPLATE}.taints")),
            "{key: {key}, value: {value}, effect: NoSchedule}",
        ),
        bounds=_bounds(declared),
    )


def _is_known(requirement: Any) -> bool:
    values = at(requirement, "values")
    parts = [at(requirement, "key"), at(requirement, "operator"), values]
    return UNKNOWN not in [*parts, *(values if isinstance(values, list) else ())]


def _spot_at(requirements: Sequence[Any]) -> str | None:
    """Return what lets a pool have spot machines; None if nothing does.

    Karpenter buys spot, which is cheaper, wherever no requirement excludes it
    (pkg/providers/allocationstrategy/stages/offering_rank.go).
    """
    path = _REQUIREMENTS
    for index, requirement in enumerate(requirements):
        if at(requirement, "key") not in _PRIORITIES:
            continue
        operator, named = at(requirement, "operator"), "spot" in (at(requirement, "values") or ())
        if (operator == "In" and not named) or (operator == "NotIn" and named):
            return None
        path = f"{_REQUIREMENTS}[{index}]"
    return path


def _nvidia_at(requirements: Sequence[Any]) -> str | None:
    for index, requirement in enumerate(requirements):
        means = _NVIDIA.get(str(at(requirement, "key")))
        values = at(requirement, "values") if at(requirement, "operator") == "In" else None
        if means and any(map(means, values or ())):
            return f"{_REQUIREMENTS}[{index}]"
    return None


def _bounds(declared: Declared) -> Bounds | None:
    """Return the most nodes; None where other limits bound the pool, which are not nodes."""
    limits = declared.get("spec.limits")
    if limits is UNKNOWN or (limits and "nodes" not in limits):
        return None
    quantity = at(limits, "nodes")
    try:
        # A quantity of Kubernetes, such as 6, "6" or "1k".
        most = None if quantity is None else float(str(quantity).replace("k", "e3"))
    except ValueError:
        return None
    return Bounds("spec.limits.nodes", most)


def _taints(listed: Any) -> tuple[Taint, ...] | Unknown:
    if listed is UNKNOWN or (isinstance(listed, list) and UNKNOWN in listed):
        return UNKNOWN
    taints = [taint for taint in listed or () if isinstance(taint, Mapping)]
    return tuple(Taint(taint.get("key", ""), taint.get("effect", "")) for taint in taints)
