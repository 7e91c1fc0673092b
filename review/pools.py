"""Pools that lose all their nodes, and the consequences for the pods on them.

The stack's output `pools` tells a pool's purpose: its taints keep pods away, and its capacity tells
which pods may be evicted.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from review.model import ReplacedPool
from sandbox.base.cloud_types import CLUSTERS, POOLS, SPOT_TAINTS
from sandbox.engine.changes import Change, Op, Property

_LABEL = "kubeflow-spot.dev/pool"
_REFUSED = (
    "Unless it is an older generation, pulumi up refuses that while pods run there, and names them."
)
_REFUSED_EDIT = "pulumi up refuses that while pods run there, and names them."
_BY_AND_BY = (
    "Karpenter makes the new nodes first, as many at a time as"
    " cloud.nodeProvisioning.disruptionBudget allows."
)
SWITCH = (
    "**Karpenter takes the pools over from the cluster autoscaler**, in three updates. This page"
    " shows the first, which fixes the sizes of all pools: none grows before the second, which"
    " switches. Later ones remove the pools of before on which nothing runs. There is no way back"
    " by an update."
)
_KEEPS_AWAY = ("NoSchedule", "NoExecute")

KARPENTER = "kubernetes:karpenter.sh/v1:NodePool"
KARPENTER_CLASS = "kubernetes:karpenter.azure.com/v1beta1:AKSNodeClass"
"""Types of the two objects that are a pool of AKS' node auto-provisioning."""
_DRIFTING = {KARPENTER: r"spec\.template\b.*", KARPENTER_CLASS: r"spec\b(?!\.tags\b).*"}
"""Paths of what nodes are made of, in each object: where it changes, Karpenter replaces the nodes
(Karpenter v1.14.1, pkg/apis/v1/nodepool.go, and Azure's provider v1.14.0, aksnodeclass.go: all
fields but those of the tag `hash:"ignore"`)."""
_WIDER = re.compile(r".*\.requirements\[\d+\]\.values\[\d+\]")
_ENDING = re.compile(r"-(nodepool|aksnodeclass)\Z")

# The value of a label (kubernetes.io/docs/concepts/overview/working-with-objects/labels).
_VALUE = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_LOOK = """\
for node in $(kubectl get nodes -l {label}={value} -o name); do
  kubectl get pods --all-namespaces -o wide --field-selector spec.nodeName=${{node#node/}}
done"""
"""kubectl cannot select pods by a label of their node."""
_OURS = re.compile(_VALUE.join(map(re.escape, _LOOK.format(label=_LABEL, value="\0").split("\0"))))


def replaced(
    changes: Iterable[Change], pools_before: Sequence[Mapping[str, Any]]
) -> tuple[ReplacedPool, ...]:
    """Return the pools that lose all nodes, with all pools of a replaced cluster; `pools_before` is
    the base's output `pools`."""
    by_name = {str(pool.get("name", "")): pool for pool in pools_before}
    by_pool: dict[str, ReplacedPool] = {}
    for change in changes:
        drift = drifting(change)
        if change.op not in (Op.REPLACE, Op.DELETE) and not drift:
            continue
        why = drift or tuple(changed.path for changed in change.properties if changed.replaces)
        if change.type in (*POOLS, KARPENTER) or drift:
            name = pool_name(change.name, by_name)
            pool = by_name.get(name, {})
            # A pool and its class may change at once.
            why = (*by_pool[name].why, *why) if drift and name in by_pool else why
            by_pool[name] = _replaced(name, pool, why, _consequence(change, pool))
        elif change.type in CLUSTERS:
            for name, pool in by_name.items():
                by_pool.setdefault(
                    name, _replaced(name, pool, tuple(f"{path} of the cluster" for path in why))
                )
    return tuple(by_pool[name] for name in sorted(by_pool))


def drifting(change: Change) -> tuple[str, ...]:
    """Return the properties for which Karpenter replaces a pool's nodes; empty if it need not."""
    nodes = _DRIFTING.get(change.type) if change.op == Op.UPDATE else None
    return tuple(
        changed.path
        for changed in change.properties
        if nodes and re.fullmatch(nodes, changed.path) and not _widens(changed)
    )


def _widens(changed: Property) -> bool:
    """Return whether a property allows machines beside those of before, such as another zone."""
    return changed.before is None and bool(_WIDER.fullmatch(changed.path))


def pool_name(resource: str, pools: Iterable[str]) -> str:
    """Return the pool of a resource, which is called `<cluster>-<pool>`; both may have hyphens.

    Karpenter's objects have their kind at the end.
    """
    names = (resource, _ENDING.sub("", resource))
    ends = [
        pool
        for pool in pools
        if any(name == pool or (pool and name.endswith(f"-{pool}")) for name in names)
    ]
    return max(ends, key=len, default=names[1])


def _consequence(change: Change, pool: Mapping[str, Any]) -> str:
    if change.op == Op.UPDATE:
        return _REFUSED_EDIT if _kept(pool) else _BY_AND_BY
    return _REFUSED if change.op == Op.DELETE and _kept(pool) else ""


def _kept(pool: Mapping[str, Any]) -> bool:
    """Return whether the program keeps a pool that is removed while pods run there."""
    return bool(pool) and pool.get("capacity") != "spot"


def _replaced(
    name: str, pool: Mapping[str, Any], why: tuple[str, ...], more: str = ""
) -> ReplacedPool:
    fewest, most = pool.get("minNodes"), pool.get("maxNodes")
    return ReplacedPool(
        pool=name,
        why=why,
        nodes=f"{fewest} to {most}" if pool else "an unknown number of",
        runs=(*_runs(pool), *([more] if more else [])),
        look=look(str(pool.get("label", name))) if pool else "",
    )


def _runs(pool: Mapping[str, Any]) -> Iterator[str]:
    if not pool:
        yield (
            "Unknown: it is no pool of the output `pools`. The system pool runs the"
            " cluster's own pods, such as DNS."
        )
        return
    taints = [taint for taint in listed(pool.get("taints")) if isinstance(taint, Mapping)]
    keeping = [taint for taint in taints if taint.get("effect", "NoSchedule") in _KEEPS_AWAY]
    spot, gpus = pool.get("capacity") in ("spot", "flex-start"), bool(pool.get("gpus"))
    if gpus and spot:
        yield (
            "GPU pods that accept spot machines, training above all. They start anew, from a"
            " checkpoint where they keep one."
        )
    elif gpus:
        yield (
            "GPU pods that must not be evicted, and those for which no spot machine was"
            " available. They start anew."
        )
    elif spot:
        yield "Pods without GPUs that accept spot machines. They start anew."
    elif not keeping:
        yield (
            "Everything that tolerates no taint: Kubeflow's own services, notebooks, the CPU"
            " steps of pipelines. All are evicted."
        )
    if not gpus and not spot and keeping:
        yield "Pods that tolerate its taints. All are evicted."
    if gpus and not keeping:
        yield "No taint keeps pods without GPUs away: anything may run there."
    others = sorted({_key(taint) for taint in keeping if not _known(taint)})
    if others:
        yield f"Only pods that tolerate {', '.join(others)}."


def _known(taint: Mapping[str, Any]) -> bool:
    """Return whether the sentences about GPUs and spot cover a taint."""
    return str(taint.get("key")) in {"nvidia.com/gpu", *SPOT_TAINTS}


def _key(taint: Mapping[str, Any]) -> str:
    value = taint.get("value")
    return f"{taint.get('key')}={value}" if value else str(taint.get("key"))


def listed(value: Any) -> list[Any]:
    """Return a value that should be a list; empty for anything else."""
    return value if isinstance(value, list) else []


def look(label: str) -> str:
    """Return the commands that list the pods on a pool's nodes; empty for a text that is no label,
    which a shell might run."""
    return (
        _LOOK.format(label=_LABEL, value=shlex.quote(label)) if re.fullmatch(_VALUE, label) else ""
    )


def ours(command: str) -> bool:
    """Return whether `look` could have written this command."""
    return bool(_OURS.fullmatch(command))
