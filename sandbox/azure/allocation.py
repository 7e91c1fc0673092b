"""Allocation: the requested nodes that the quotas and the subnets have room for.

On-demand quota is checked before a request is accepted. Spot quota and a subnet that other clusters have filled count
when the machines are requested: the request is accepted, the pool keeps the nodes it had, and ends as Failed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sandbox.azure import azure_ids
from sandbox.azure.azure_catalogue import machines
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.azure_quotas import CORES, LOW_PRIORITY, Excess, Quotas
from sandbox.azure.resources import azure_network, subnet_sizes
from sandbox.azure.resources.azure_requests import CLUSTER, machines_of
from sandbox.cloud.state import Record, Resources

Nodes = Mapping[str, int]
"""Number of nodes of each pool, by its lower-cased id."""

_Pool = tuple[Record, Record]
"""A pool behind its cluster."""


@dataclass(frozen=True)
class Shortage:
    """Why a pool did not get its nodes: the compute service's code and text."""

    pool: Record
    code: str
    message: str


def nodes_now(resources: Resources) -> Nodes:
    return {azure_ids.key(pool.id): pool.body["count"] for _, pool in _pools(resources)}


def quota_at_the_door(resources: Resources, before: Nodes, quotas: Quotas) -> AzureRefused | None:
    """Return AKS' refusal of regular machines beyond a quota; `before` are the nodes before the request."""
    grown = [(cluster, pool) for cluster, pool in _grown(resources, before) if not _spot(pool)]
    for cluster, pool in grown:
        for name in (_family(pool), CORES):
            excess = _excess(resources, cluster, name, before, grown, quotas)
            if excess is not None:
                return aks("ErrCode_InsufficientVCPUQuota", excess.at_the_door)
    return None


def shortages(resources: Resources, before: Nodes, quotas: Quotas) -> list[Shortage]:
    """Return every pool that cannot have its new nodes; its count goes back to the old one."""
    refused = []
    granted = dict(before)
    for cluster, pool in list(_grown(resources, before)):
        short = _spot_quota(resources, cluster, pool, granted, quotas) or _subnet_full(
            resources, cluster, pool, granted
        )
        if short is None:
            granted[azure_ids.key(pool.id)] = pool.body["count"]
        else:
            pool.body["count"] = before.get(azure_ids.key(pool.id), 0)
            refused.append(short)
    return refused


def autoscaler_refusal(resources: Resources, before: Nodes, quotas: Quotas) -> str:
    """Return the answer of the compute service to the autoscaler that made a pool larger; empty when it can have its nodes."""
    for cluster, pool in _grown(resources, before):
        for name in () if _spot(pool) else (_family(pool), CORES):
            excess = _excess(resources, cluster, name, before, [(cluster, pool)], quotas)
            if excess is not None:
                return excess.later
    return next((short.message for short in shortages(resources, before, quotas)), "")


def machine_refusal(resources: Resources, before: Nodes, quotas: Quotas) -> tuple[str, str] | None:
    """Return the compute service's code and text for a machine of its own that a quota or a subnet has no room for."""
    for cluster, pool in _grown(resources, before):
        for name in (LOW_PRIORITY,) if _spot(pool) else (_family(pool), CORES):
            excess = _excess(resources, cluster, name, before, [(cluster, pool)], quotas)
            if excess is not None:
                # Azure/karpenter-provider-azure v1.14.0, pkg/fake/aksmachinesapi.go.
                return "OperationNotAllowed", excess.later
        if short := _subnet_full(resources, cluster, pool, before):
            return short.code, short.message
    return None


def _spot_quota(resources: Resources, cluster: Record, pool: Record, had: Nodes, quotas: Quotas) -> Shortage | None:
    # That it comes later for AKS' scale sets too is [inferred] from KA pkg/fake/aksmachinesapi.go.
    if not _spot(pool):
        return None
    excess = _excess(resources, cluster, LOW_PRIORITY, had, [(cluster, pool)], quotas)
    return Shortage(pool, "QuotaExceeded", excess.later) if excess else None


def _subnet_full(resources: Resources, cluster: Record, pool: Record, had: Nodes) -> Shortage | None:
    """Return the shortage of a pool whose subnet is full.

    AKS compares a subnet with the cluster's own pools alone. It meets those of others when it takes addresses.
    """
    needed = subnet_sizes.taken(cluster.body["networkProfile"], pool.body, _added(pool, had))
    for id, addresses in needed.items():
        subnet = resources.get(id)
        if subnet is None:
            continue
        used = sum(
            subnet_sizes.taken(c.body["networkProfile"], p.body, had.get(azure_ids.key(p.id), 0))[id]
            for c, p in _pools(resources)
        )
        if used + addresses > subnet_sizes.usable(subnet):
            # karpenter-provider-azure #734, Azure/AKS #2531
            prefixes = ",".join(azure_network.prefixes(subnet.body))
            text = (
                f"Subnet {azure_ids.last(id)} with address prefix {prefixes} does not have enough capacity for {addresses} IP "
                "addresses."
            )
            return Shortage(pool, "SubnetIsFull", text)
    return None


def _excess(
    resources: Resources, beside: Record, name: str, had: Nodes, grown: Iterable[_Pool], quotas: Quotas
) -> Excess | None:
    """Return whether the `grown` pools in a cluster's region exceed one of its quotas together."""
    limit = quotas.limit(_place(beside), name)
    if limit is None:
        return None
    used: Counter[str] = Counter()
    for cluster, pool in _pools(resources):
        if _place(cluster) == _place(beside):
            for quota in _counted(pool):
                used[quota] += had.get(azure_ids.key(pool.id), 0) * _vcpus(pool)
    same = [pool for cluster, pool in grown if _place(cluster) == _place(beside) and name in _counted(pool)]
    required = sum(_added(pool, had) * _vcpus(pool) for pool in same)
    if used[name] + required <= limit:
        return None
    return Excess(_place(beside), name, limit, used[name], required)


def _pools(resources: Resources) -> Iterator[_Pool]:
    for cluster in resources.of_type(CLUSTER):
        for pool in machines_of(resources, cluster.id):
            yield cluster, pool


def _grown(resources: Resources, before: Nodes) -> Iterator[_Pool]:
    return ((cluster, pool) for cluster, pool in _pools(resources) if _added(pool, before) > 0)


def _added(pool: Record, before: Nodes) -> int:
    return int(pool.body["count"]) - before.get(azure_ids.key(pool.id), 0)


def _counted(pool: Record) -> tuple[str, ...]:
    """Return the quotas a pool's machines count against."""
    return (LOW_PRIORITY,) if _spot(pool) else (_family(pool), CORES)


def _spot(pool: Record) -> bool:
    return pool.body.get("scaleSetPriority") == "Spot"


def _place(cluster: Record) -> str:
    return str(cluster.body["location"])


def _family(pool: Record) -> str:
    return machines()[pool.body["vmSize"]].family


def _vcpus(pool: Record) -> int:
    return machines()[pool.body["vmSize"]].vcpus
