"""The cluster against a stack file: every policy, the contract and the order as the program would
declare them now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from checks.check import Check, Remark, ok, wrong
from checks.ready.checks import provisioned
from checks.ready.cluster import Cluster
from components.layer import names
from components.layer.autoscaler import priorities
from components.layer.autoscaler.priorities import Wanted
from config.clouds import registry
from config.model.pool import Capacity
from config.model.spec import ClusterSpec
from config.placement.growth_order import growth_order
from config.placement.node_pools import NodePool, node_pools, spot_grace

_PREVIEW = "run `pulumi preview` to see the difference, and `pulumi up`"
PARTS = {
    "ValidatingAdmissionPolicy": "validatingPolicies",
    "ValidatingAdmissionPolicyBinding": "validatingBindings",
    "MutatingAdmissionPolicy": "mutatingPolicies",
    "MutatingAdmissionPolicyBinding": "mutatingBindings",
}
"""The part of a snapshot that holds a kind."""
_MUTATING = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")


def declared_check(spec: ClusterSpec, stack: str) -> Check[Cluster]:
    """Return the check against a stack file; the stack's name names its objects."""
    return Check("declared", partial(_declared, spec, names.instance(stack)), "the stack file")


def _declared(spec: ClusterSpec, instance: str, cluster: Cluster) -> Iterator[Remark]:
    cloud = registry.cloud_of(spec.cloud)
    pools = node_pools(spec, cloud)
    version = str((cluster.part("version") or {}).get("gitVersion", ""))
    compared, fine = 0, True
    for kind, body in objects(spec, pools, instance, version):
        compared += 1
        name = body["metadata"]["name"]
        live = next(
            (item for item in cluster.objects(PARTS[kind]) if item["metadata"]["name"] == name),
            None,
        )
        if live is None:
            continue  # the check of policies says so
        if path := difference(body["spec"], live.get("spec") or {}, "spec"):
            fine = False
            yield wrong(f"{kind} {name} is not as the stack file declares it: {path}", _PREVIEW)
    for remark in (*_contract(spec, pools, cluster), *_order(spec, pools, cluster)):
        fine = False
        yield remark
    if fine:
        yield ok(
            f"{compared} policies and bindings, the contract and the order are as stack"
            f" {instance} declares them"
        )


def objects(
    spec: ClusterSpec, pools: tuple[NodePool, ...], instance: str, version: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the policies and bindings of a stack in a cluster of this version, with their kinds."""
    # Pulumi's SDKs take a second, and only a stack needs them.
    from components.layer.scheduling import defaults, guard, kept_pods
    from components.resources import wire
    from config.model import release

    cloud, scheduling = registry.cloud_of(spec.cloud), spec.scheduling
    if not scheduling.enabled:
        return
    for _, (policy, binding) in guard.policies(scheduling, pools, cloud, instance):
        yield "ValidatingAdmissionPolicy", wire(policy)
        yield "ValidatingAdmissionPolicyBinding", wire(binding)
    if release.has_mutating_policies(version):
        grace = scheduling.grace_period_seconds or spot_grace(
            (pool.source for pool in pools), cloud
        )
        namespaces = scheduling.guard.pipeline_namespaces
        for within in ((), namespaces) if namespaces else ((),):
            also = kept_pods.unless_on_spot(cloud) if spec.moves_pods else ""
            pair = defaults.policy(scheduling, pools, grace, instance, within, also=also)
            yield from zip(_MUTATING, map(wire, pair), strict=True)
        if spec.moves_pods:
            yield from zip(
                _MUTATING, map(wire, kept_pods.policy(scheduling, cloud, instance)), strict=True
            )


def _contract(spec: ClusterSpec, pools: tuple[NodePool, ...], cluster: Cluster) -> Iterator[Remark]:
    if not spec.scheduling.enabled:
        return
    contract = cluster.contract
    if contract.release != spec.release.name:
        yield wrong(
            f"the contract is of release {contract.release}, the stack file of {spec.release.name}",
            _PREVIEW,
        )
    live, declared = {pool.label for pool in contract.pools}, {pool.label for pool in pools}
    for label in sorted(declared - live):
        yield wrong(f"the stack file has a pool {label}, and the contract has none", _PREVIEW)
    for label in sorted(live - declared):
        yield wrong(f"the contract has a pool {label}, and the stack file has none", _PREVIEW)


def _order(spec: ClusterSpec, pools: tuple[NodePool, ...], cluster: Cluster) -> Iterator[Remark]:
    cloud, facts = registry.cloud_of(spec.cloud), cluster.cloud
    order = growth_order(spec, pools, cloud)
    if not spec.cloud.autoscaled:
        live = provisioned.order(cluster, order)
        yield from _in_order(live, order, "the weights of Karpenter's NodePools order")
    elif facts and facts.expander and (config_map := cluster.part("expander")):
        spot = {pool.name for pool in pools if pool.capacity == Capacity.SPOT}
        try:
            tiers = priorities.read_tiers((config_map.get("data") or {}).get("priorities"))
        except ValueError:
            return  # the check of the order says so
        for fault in priorities.faults(tiers, Wanted(order, spot)):
            yield wrong(f"pools do not grow as the stack file says: {fault}", _PREVIEW)
    elif facts and facts.pool_class and (wanted := cloud.pool_class(spec)):
        for item in cluster.objects("computeClasses"):
            if item["metadata"]["name"] != wanted.name:
                continue
            listed = [
                pool
                for rule in item["spec"].get("priorities") or ()
                for pool in rule.get("nodepools") or ()
            ]
            yield from _in_order(listed, order, f"ComputeClass {wanted.name} orders")


def _in_order(live: list[str], order: Sequence[str], who: str) -> Iterator[Remark]:
    """Yield that live pools stand in another order than that of the stack file."""
    expected = [name for name in order if name in live]
    if live != expected:
        yield wrong(f"{who} {', '.join(live)}; the stack file {', '.join(expected)}", _PREVIEW)


def difference(declared: Any, live: Any, path: str) -> str:
    """Return the path of the first declared value that the live object lacks; "" for none."""
    if isinstance(declared, Mapping):
        if not isinstance(live, Mapping):
            return path
        return next(
            (
                found
                for key in declared
                if (found := difference(declared[key], live.get(key), f"{path}.{key}"))
            ),
            "",
        )
    if isinstance(declared, list | tuple):
        if not isinstance(live, list | tuple) or len(live) != len(declared):
            return path
        pairs = enumerate(zip(declared, live, strict=True))
        return next(
            (found for index, pair in pairs if (found := difference(*pair, f"{path}[{index}]"))), ""
        )
    return "" if declared == live else path
