"""The pools of node auto-provisioning: Karpenter's objects in place of an autoscaler's groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from checks.check import Remark, note, ok, wrong
from checks.ready.cluster import BrokenContract, Cluster, NoContract
from checks.ready.snapshot import Object

_UP = "run `pulumi up`"


def used(cluster: Cluster) -> bool:
    """Return whether Karpenter makes the cluster's nodes, by its objects or the stack file."""
    return bool(cluster.objects("nodePools")) or cluster.intent.provisions


def moves_pods(cluster: Cluster) -> bool:
    """Return whether Karpenter moves running pods of a declared pool to cheaper machines."""
    declared = {pool.name for pool in cluster.contract.pools}
    return any(
        (item["spec"].get("disruption") or {}).get("consolidationPolicy") != "WhenEmpty"
        for item in cluster.objects("nodePools")
        if item["metadata"]["name"] in declared
    )


def order(cluster: Cluster, names: Collection[str]) -> list[str]:
    """Return those of these pools that are NodePools, in the order of their weights."""
    weights = _weights(cluster)
    return sorted((name for name in names if name in weights), key=lambda name: -weights[name])


def _weights(cluster: Cluster) -> dict[str, int]:
    return {
        item["metadata"]["name"]: int(item["spec"].get("weight") or 0)
        for item in cluster.objects("nodePools")
    }


def check_order(cluster: Cluster) -> Iterator[Remark]:
    """Judge the weights, which Karpenter tries from the highest on."""
    weights = _weights(cluster)
    declared = [pool.name for pool in cluster.contract.pools if pool.name in weights]
    by_weight: dict[int, list[str]] = {}
    for name in declared:
        by_weight.setdefault(weights[name], []).append(name)
    fine = True
    for weight, names in sorted(by_weight.items()):
        if len(names) > 1:
            fine = False
            yield wrong(
                f"NodePools {' and '.join(names)} have the same weight {weight}: which is tried"
                " first is not said",
                _UP,
            )
    if fine:
        ordered = ", ".join(order(cluster, declared))
        yield ok(f"the weights of Karpenter's NodePools order {ordered}")


def check_pools(cluster: Cluster) -> Iterator[Remark]:
    """Judge whether Karpenter knows every declared pool, and makes machines for it."""
    found = {item["metadata"]["name"]: item for item in cluster.objects("nodePools")}
    fine = True
    for name in _declared(cluster, sorted(found)):
        if name not in found:
            fine = False
            yield wrong(f"there is no NodePool {name}: no machine is made for it", _UP)
        elif why := _unready(found[name]):
            fine = False
            yield wrong(
                f"NodePool {name} is not Ready{why}: no machine is made for it",
                f"`kubectl describe nodepool {name}` and `kubectl describe aksnodeclass {name}`",
            )
    if fine:
        yield ok(f"{len(found)} NodePools are Ready")
    elif not found:
        yield note(
            "Karpenter's kinds are missing or empty: AKS installs them with node auto-provisioning"
        )


def _declared(cluster: Cluster, otherwise: Sequence[str]) -> Sequence[str]:
    try:
        return [pool.name for pool in cluster.contract.pools]
    except (NoContract, BrokenContract):
        return otherwise


def _unready(item: Object) -> str:
    """Return why a NodePool is not Ready; empty where it is, or has not said it."""
    for condition in (item.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready" and condition.get("status") == "False":
            return f" ({condition.get('message') or condition.get('reason') or 'no reason given'})"
    return ""
