"""Growth: the order of pools against real node groups, and the autoscaler's own status."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.check import Check, Remark, note, ok, wrong
from checks.findings import State
from checks.ready.autoscaler import Group, Starting
from checks.ready.checks import provisioned
from checks.ready.cloud_facts import CloudFacts
from checks.ready.cluster import BrokenContract, Cluster, NoContract
from components.layer.autoscaler import priorities

_UP = "run `pulumi up`"

_START = 10 * 60
"""Seconds in which the autoscaler reads the cloud and the cluster for the first time."""

_UNKNOWN = "; its name does not say which pool it is, and a spot pool may be without machines"


def _order(cluster: Cluster) -> Iterator[Remark]:
    cloud = cluster.cloud
    if cloud is None:
        yield note("how this cluster's autoscaler chooses among pools is not known here")
    elif provisioned.used(cluster):
        yield from provisioned.check_order(cluster)
    elif cloud.expander:
        yield from _by_priority(cluster, cloud)
    else:
        yield from _by_class(cluster, cloud)


def _by_priority(cluster: Cluster, cloud: CloudFacts) -> Iterator[Remark]:
    name = "kube-system/cluster-autoscaler-priority-expander"
    chosen = cluster.intent.expander
    if chosen not in (None, "priority"):
        yield note(f"the stack file's expander is {chosen}: the order of pools is not declared")
        return
    config_map = cluster.part("expander")
    if config_map is None and chosen is None:
        yield note(
            f"there is no ConfigMap {name}: right where the autoscaler's expander is another than"
            " priority, which the cluster"
            " does not show; else it chooses at random, on-demand as soon as spot",
            "name the stack: `ready --stack STACK` (make ready STACK=...) says which it is",
        )
        return
    if config_map is None:
        yield wrong(
            f"the ConfigMap {name} is missing: the autoscaler chooses at random, on-demand as"
            " soon as spot",
            _UP,
        )
        return
    try:
        tiers = priorities.read_tiers((config_map.get("data") or {}).get("priorities"))
    except ValueError as fault:
        yield wrong(f"the autoscaler refuses the ConfigMap {name}: {fault}", _UP)
        return
    pools = [pool.name for pool in cluster.contract.pools]
    ranks = {pool: priorities.rank(tiers, pool) for pool in pools}
    faults = False
    for pool, rank in ranks.items():
        if rank is None or rank <= priorities.CATCH_ALL:
            faults = True
            yield wrong(f"{name} has no line for pool {pool}, so it grows last", _UP)
    for rank in sorted(
        {rank for rank in ranks.values() if rank is not None and rank > priorities.CATCH_ALL}
    ):
        same = [pool for pool in pools if ranks[pool] == rank]
        if len(same) > 1:
            faults = True
            yield wrong(
                f"{name} gives {' and '.join(same)} the same priority {rank}: the choice is random",
                _UP,
            )
    for group, pool in _foreign(cluster, cloud):
        faults = True
        yield wrong(
            f"node group {group} has the label of pool {pool} and another name than the"
            " expander's lines match",
            "give its nodes a label of their own; an older generation of the pool goes with the"
            " next `pulumi up`",
        )
    if not faults:
        yield ok(f"{name} orders {', '.join(sorted(pools, key=lambda pool: -(ranks[pool] or 0)))}")


def _foreign(cluster: Cluster, cloud: CloudFacts) -> Iterator[tuple[str, str]]:
    """Yield node groups whose nodes have the label of another pool than the group's name says."""
    by_label = {pool.label: pool.name for pool in cluster.contract.pools}
    seen: set[str] = set()
    for node in cluster.nodes:
        group = cloud.group_of(node.name, node.provider_id)
        if group and node.pool in by_label and group not in seen:
            seen.add(group)
            if cluster.pool_of(group) != by_label[node.pool]:
                yield group, by_label[node.pool]


def _by_class(cluster: Cluster, cloud: CloudFacts) -> Iterator[Remark]:
    classed: dict[str, list[str]] = {}
    for pool in cluster.contract.pools:
        if of_class := pool.labels.get(cloud.pool_class):
            classed.setdefault(of_class, []).append(pool.name)
    if not classed:
        yield note("no pool belongs to a ComputeClass: the cloud takes the cheapest pool that fits")
    classes = {item["metadata"]["name"]: item for item in cluster.objects("computeClasses")}
    for name, pools in sorted(classed.items()):
        if name not in classes:
            yield wrong(
                f"ComputeClass {name} is missing, and {', '.join(pools)} carry its taint", _UP
            )
            continue
        ordered = [
            pool
            for rule in classes[name]["spec"].get("priorities") or ()
            for pool in rule.get("nodepools") or ()
        ]
        absent, unknown = sorted(set(pools) - set(ordered)), sorted(set(ordered) - set(pools))
        if absent:
            yield wrong(
                f"ComputeClass {name} does not list {', '.join(absent)}, so they never grow for it",
                _UP,
            )
        if unknown:
            yield wrong(
                f"ComputeClass {name} lists {', '.join(unknown)}, which no pool of the contract is",
                _UP,
            )
        if not absent and not unknown:
            yield ok(f"ComputeClass {name} orders {', '.join(ordered)}")


def _autoscaler(cluster: Cluster) -> Iterator[Remark]:
    if provisioned.used(cluster):
        yield from provisioned.check_pools(cluster)
        return
    cloud = cluster.cloud
    try:
        groups = cluster.groups
    except Starting as starting:
        yield _starting(cluster, starting)
        return
    except ValueError as fault:
        says, remedy = (
            f"kube-system/cluster-autoscaler-status: {fault}",
            "see its log, and upgrade the cluster if it is old",
        )
        # A cloud that promises no status may write it in its own way.
        yield note(says, remedy) if cloud and not cloud.writes_status else wrong(says, remedy)
        return
    if groups is None:
        if cloud and cloud.writes_status:
            yield wrong(
                "the autoscaler writes no status: no pool grows or shrinks by itself",
                f"{cloud.scale_hint}; its log: {cloud.status_elsewhere}",
            )
        else:
            where = cloud.status_elsewhere if cloud else "the log of the cluster's autoscaler"
            yield note(f"the autoscaler's status is not in the cluster; look at {where}")
        return
    fine, spot = True, _spot(cluster)
    for group in groups:
        pool = cluster.pool_of(group.name)
        for remark in _of_group(group, pool, pool in spot):
            fine = fine and remark.state != State.WRONG
            yield remark
    if cloud and cloud.expander:
        for remark in _unscaled(cluster, {cluster.pool_of(group.name) for group in groups}):
            fine = False
            yield remark
    if fine:
        yield ok(f"{len(groups)} node groups are healthy")


def _starting(cluster: Cluster, starting: Starting) -> Remark:
    """Judge `Initializing`, which the autoscaler replaces after its first scan."""
    age = cluster.seconds_since(starting.since)
    if age is None or age < _START:
        return note(
            "the autoscaler has just started, and says Initializing", "ask again in some minutes"
        )
    return wrong(
        f"kube-system/cluster-autoscaler-status: {starting}, for {age // 60:.0f} minutes: no pool"
        " grows",
        "see its log: it cannot reach the cloud, or may not",
    )


def _of_group(group: Group, pool: str, spot: bool) -> Iterator[Remark]:
    """Judge one node group; `pool` is empty if the group's pool is unknown."""
    why = f": {group.why}" if group.why else ""
    if group.scale_up == "Backoff" and spot:
        says = f"node group {group.name} is left alone for a while"
        if re.search("quota|OperationNotAllowed", group.why, re.IGNORECASE):
            yield note(
                f"{says}, refused for quota as it seems{why}",
                "raise the quota or lower the pool's maxNodes: docs/tasks/gpu-quota.md; the chain"
                " goes on to the next pool",
            )
        else:
            yield note(
                f"{says}{why or ', and its status does not say why'}",
                "the chain goes on to the next pool; see docs/drill.md for how long that takes",
            )
    elif group.scale_up == "Backoff":
        says = "is left alone for a while after a failure"
        remedy = "look at quota and capacity; up to 30 minutes later it is tried again"
        yield (wrong if pool else note)(
            f"node group {group.name} {says}{why}{'' if pool else _UNKNOWN}", remedy
        )
    elif group.health not in ("Healthy", "") and spot:
        yield note(
            f"node group {group.name} is {group.health}: spot machines of it were taken back or"
            " stopped",
            "nothing, unless it stays so for long",
        )
    elif group.health not in ("Healthy", ""):
        yield (wrong if pool else note)(
            f"node group {group.name} is {group.health}: it does not"
            f" grow{'' if pool else _UNKNOWN}",
            "see which of its nodes are not Ready",
        )


def _spot(cluster: Cluster) -> set[str]:
    """Return the declared spot pools, for which missing machines are normal."""
    try:
        return {pool.name for pool in cluster.contract.pools if pool.spot}
    except (NoContract, BrokenContract):
        return set()


def _unscaled(cluster: Cluster, known: set[str]) -> Iterator[Remark]:
    """Yield a defect for each declared pool that the autoscaler does not know."""
    try:
        pools = cluster.contract.pools
    except (NoContract, BrokenContract):
        return
    for pool in pools:
        if pool.name not in known:
            yield wrong(
                f"the autoscaler does not know pool {pool.name}: it stays as large as it is",
                "set its minNodes and maxNodes, and run `pulumi up`",
            )


CHECKS = (
    Check(
        "order",
        _order,
        "kubernetes/autoscaler 1.36.1, expander/priority/readme.md; GKE page"
        " about-custom-compute-classes",
    ),
    Check(
        "autoscaler",
        _autoscaler,
        "learn.microsoft.com/azure/aks/cluster-autoscaler; kubernetes/autoscaler 1.36.1,"
        " clusterstate/api/types.go",
    ),
)
