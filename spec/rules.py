"""Checks across fields: each rule yields (path, what is wrong, what to write instead). No network, no Pulumi.

A fact that is not confirmed may warn but never refuse. `Draft` may lack parts that could not be read; a rule that needs
one of them stays silent.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from spec import placement
from spec.catalog import Machine
from spec.clouds import Cloud
from spec.clouds.azure import aks
from spec.model import Azure, Capacity, Cluster, Pool, Release, SystemPool
from spec.problems import Problem


@dataclass(frozen=True)
class Draft:
    """What could be read of a stack file. `pools` keeps each pool's index in the file."""

    release: Release | None
    cluster: Cluster | None
    cloud: Azure | None
    system_pool: SystemPool | None
    pools: dict[int, Pool]


def check(draft: Draft) -> list[Problem]:
    """Every problem that any rule finds."""
    cloud = aks()
    return [problem for rule in _RULES for problem in rule(draft, cloud)]


def _version_override(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    cluster = draft.cluster
    if cluster and cluster.kubernetes_version and not cluster.reason:
        yield Problem(
            "cluster.reason",
            "is missing while kubernetesVersion overrides the release",
            "say why this stack leaves its release, for the reader of the outputs",
        )
    if cluster and cluster.reason and not cluster.kubernetes_version:
        yield Problem(
            "cluster.reason",
            "has nothing to explain: kubernetesVersion is not set",
            "remove it, or set kubernetesVersion",
        )


def _cluster_name(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Azure/azure-rest-api-specs, managedClusters.json 2025-09-01, parameter resourceName
    if draft.cluster and not re.match(r"^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$", draft.cluster.name):
        yield Problem(
            "cluster.name",
            f"{draft.cluster.name!r} is no name for an {cloud.title} cluster",
            "1 to 63 letters, digits, - and _, first and last a letter or digit",
        )


def _pool_names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = [("systemPool.name", draft.system_pool.name)] if draft.system_pool else []
    named += [(f"pools[{index}].name", pool.name) for index, pool in draft.pools.items()]
    for index, pool in draft.pools.items():
        twin = placement.twin_name(pool, cloud)
        step = next((i for i, step in enumerate(pool.fallback) if step.on_demand), 0)
        if twin:
            named.append((f"pools[{index}].fallback[{step}].onDemand.name", twin))
    count = Counter(name for _, name in named)
    seen: set[str] = set()
    for path, name in named:
        if not re.match(cloud.pool_name, name):
            yield Problem(
                path,
                f"{name!r} is no name for an {cloud.title} pool",
                f"at most {cloud.pool_name_length} lower-case letters and digits, a letter first",
            )
        if count[name] > 1 and name in seen:
            first = next(p for p, n in named if n == name)
            yield Problem(path, f"{name!r} is the name of {first} already", "give it another name")
        seen.add(name)


def _machines(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    used = [("systemPool.machine", draft.system_pool.machine)] if draft.system_pool else []
    used += [(f"pools[{index}].machine", pool.machine) for index, pool in draft.pools.items()]
    for path, size in used:
        machine = cloud.machines.get(size.lower())
        if machine is None:
            yield Problem(
                path,
                f"{size!r} is not in the catalogue",
                "check the spelling; it is passed on as written",
                warning=True,
            )
        elif machine.status == "retired":
            yield Problem(
                path,
                f"{machine.size} was retired on {machine.retirement_date}",
                f"use {machine.replacement}" if machine.replacement else "choose another size",
            )
        elif machine.status == "retiring":
            yield Problem(
                path,
                f"{machine.size} is retired on {machine.retirement_date}; new subscriptions may not deploy it",
                f"use {machine.replacement}" if machine.replacement else "choose another size",
                warning=True,
            )


def _system_pool(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pool = draft.system_pool
    if not pool:
        return
    machine = cloud.machines.get(pool.machine.lower())
    if pool.min_nodes > pool.max_nodes:
        yield _bounds("systemPool", pool.min_nodes, pool.max_nodes)
    if pool.min_nodes < 2:
        yield Problem(
            "systemPool.minNodes",
            f"is {pool.min_nodes}: the cluster's own pods need two nodes to survive an upgrade of one",
            "2 or more (learn.microsoft.com/azure/aks/use-system-pools)",
        )
    if machine and machine.gpus:
        yield Problem(
            "systemPool.machine", f"{machine.size} has GPUs, which nothing in this pool uses", "use a size without GPUs"
        )
    # learn.microsoft.com/azure/aks/use-system-pools; whether the floor is 2 or 4 vCPU differs between its editions
    if machine and (machine.vcpus < 2 or machine.memory_gib < 4):
        yield Problem(
            "systemPool.machine",
            f"{machine.size} is too small for AKS' own pods",
            "at least 2 vCPU and 4 GB, better 4 vCPU",
        )
    if re.match(r"standard_b", pool.machine, re.IGNORECASE):
        yield Problem(
            "systemPool.machine",
            f"{pool.machine}: AKS takes no B-series size for a system pool",
            "use Standard_D4ds_v5",
        )
    untainted = [
        p for p in draft.pools.values() if p.capacity == Capacity.ON_DEMAND and not p.taints and not _gpus(p, cloud)
    ]
    if pool.critical_addons_only and not untainted:
        yield Problem(
            "systemPool.criticalAddonsOnly",
            "leaves Kubeflow's own pods nowhere to run: no other pool is on-demand, untainted and without GPUs",
            "set it to false, or add a general pool",
        )


def _pool_bounds(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        if pool.min_nodes is not None and pool.min_nodes > pool.max_nodes:
            yield _bounds(f"pools[{index}]", pool.min_nodes, pool.max_nodes)
        if pool.max_nodes > cloud.max_nodes:
            yield Problem(
                f"pools[{index}].maxNodes",
                f"is {pool.max_nodes}",
                f"{cloud.title} takes at most {cloud.max_nodes} nodes a pool",
            )


def _bounds(path: str, least: int, most: int) -> Problem:
    return Problem(f"{path}.minNodes", f"is {least}, more than maxNodes, which is {most}", f"at most {most}")


def _gpus(pool: Pool, cloud: Cloud) -> bool:
    return placement.is_gpu(pool, cloud.machines.get(pool.machine.lower()))


def _accelerators(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        path = f"pools[{index}]"
        machine = cloud.machines.get(pool.machine.lower())
        if machine is None:
            if pool.gpus is None:
                yield Problem(
                    f"{path}.gpus",
                    f"is missing: the catalogue does not know {pool.machine!r}",
                    "write the GPUs of one machine, 0 for none",
                )
        else:
            yield from _stated_accelerator(path, pool, machine)


def _stated_accelerator(path: str, pool: Pool, machine: Machine) -> Iterator[Problem]:
    if pool.gpus is not None and pool.gpus != machine.gpus:
        yield Problem(
            f"{path}.gpus",
            f"is {pool.gpus}, but {machine.size} has {machine.gpus}",
            f"write {machine.gpus} or leave it out",
        )
    if pool.gpu_model is not None and pool.gpu_model != machine.gpu_model:
        has = machine.gpu_model or "no GPU"
        yield Problem(f"{path}.gpuModel", f"is {pool.gpu_model!r}, but {machine.size} has {has}", "leave it out")
    if machine.gpu_model.startswith("amd-"):
        yield Problem(
            f"{path}.machine",
            f"{machine.size} has an AMD GPU; this program installs NVIDIA's device plugin only",
            "use a size with an NVIDIA GPU, such as Standard_NC4as_T4_v3",
        )


def _spot(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        path = f"pools[{index}]"
        machine = cloud.machines.get(pool.machine.lower())
        if pool.capacity != Capacity.SPOT:
            if pool.spot:
                yield Problem(f"{path}.spot", "is set on an on-demand pool", "remove it, or write `capacity: spot`")
            if pool.fallback:
                yield Problem(
                    f"{path}.fallback", "is set on an on-demand pool, which is what one falls back to", "remove it"
                )
            continue
        if machine and machine.spot == "no" and machine.status != "retired":
            yield Problem(
                f"{path}.capacity",
                f"{machine.size} cannot be had as spot",
                "write `capacity: on-demand`, or use another size",
            )
        price = pool.spot.max_price if pool.spot else -1
        # learn.microsoft.com/azure/aks/spot-node-pool: -1, or positive with at most five decimals
        if price != -1 and (price <= 0 or round(price, 5) != price):
            yield Problem(
                f"{path}.spot.maxPrice",
                f"is {price:g}",
                "-1 (never evicted for price), or dollars an hour above 0 with at most five decimals",
            )
        if pool.spot and pool.spot.eviction_policy == "Deallocate":
            yield Problem(
                f"{path}.spot.evictionPolicy",
                "is Deallocate: stopped machines count against the quota and confuse the autoscaler (Azure/AKS issue 5211)",
                "leave it out; the default is Delete",
                warning=True,
            )


def _fallback(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pools = {pool.name: pool for pool in draft.pools.values()}
    for index, pool in draft.pools.items():
        if pool.capacity != Capacity.SPOT:
            continue
        named: set[str] = set()
        for number, step in enumerate(pool.fallback):
            path = f"pools[{index}].fallback[{number}]"
            if (step.pool is None) == (step.on_demand is None):
                yield Problem(path, "must name one thing", "write `{pool: NAME}` or `{onDemand: {maxNodes: N}}`")
            elif step.on_demand and number < len(pool.fallback) - 1:
                yield Problem(
                    path, "is not the last step: every spot pool is tried before on-demand", "move onDemand to the end"
                )
            elif step.pool:
                yield from _fallback_pool(f"{path}.pool", pool, step.pool, pools, named, cloud)
                named.add(step.pool)


def _fallback_pool(
    path: str, pool: Pool, name: str, pools: dict[str, Pool], named: set[str], cloud: Cloud
) -> Iterator[Problem]:
    other = pools.get(name)
    if name == pool.name:
        yield Problem(path, "is the pool itself", "name another spot pool")
    elif name in named:
        yield Problem(path, f"names {name!r} a second time", "remove it")
    elif other is None:
        known = sorted(n for n, p in pools.items() if p.capacity == Capacity.SPOT and n != pool.name)
        yield Problem(path, f"there is no pool {name!r}", f"one of: {', '.join(known) or '(no other spot pool)'}")
    elif other.capacity != Capacity.SPOT:
        yield Problem(
            path, f"{name!r} is not a spot pool", "name a spot pool, or write `{onDemand: {maxNodes: N}}` for a twin"
        )
    elif _gpus(other, cloud) != _gpus(pool, cloud):
        yield Problem(
            path, f"only one of {pool.name!r} and {name!r} has GPUs: no pod fits both", "name a pool of the same kind"
        )


def _fallback_cycles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    index_of = {pool.name: index for index, pool in draft.pools.items()}
    following: dict[str, set[str]] = {name: set() for name in index_of}
    for pool in draft.pools.values():
        for before, later in pairwise(placement.chain(pool)):
            if later in following and later != before:
                following[before].add(later)
    # Peel off pools that nothing waits for; what is left stands in a circle or behind one.
    while leaves := [name for name, later in following.items() if not later]:
        for leaf in leaves:
            del following[leaf]
        for others in following.values():
            others.difference_update(leaves)
    for name in sorted(following):
        if any(step.pool in following for step in draft.pools[index_of[name]].fallback):
            yield Problem(
                f"pools[{index_of[name]}].fallback",
                f"goes in a circle: {', '.join(sorted(following))} fall back to one another",
                "put them in one order, and leave the last without a way back",
            )


def _labels(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        for key in pool.labels:
            domain = key.rpartition("/")[0]
            path = f'pools[{index}].labels["{key}"]'
            if domain == placement.PREFIX:
                yield Problem(path, "is a label the program derives from the pool", "remove it")
            elif key in cloud.reserved_labels or any(
                domain == prefix or domain.endswith("." + prefix) for prefix in cloud.reserved_label_prefixes
            ):
                if cloud.spot_labels.get(key) == pool.labels[key] and pool.capacity == Capacity.SPOT:
                    continue
                yield Problem(
                    path, f"{cloud.title} keeps this key for itself", "use a domain of your own, such as example.com/"
                )


def _taints(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, pool in draft.pools.items():
        count = Counter((taint.key, taint.effect) for taint in pool.taints)
        for number, taint in enumerate(pool.taints):
            path = f"pools[{index}].taints[{number}]"
            if count[taint.key, taint.effect] > 1 and (taint.key, taint.effect) in {
                (t.key, t.effect) for t in pool.taints[:number]
            }:
                yield Problem(path, f"{taint.key}:{taint.effect} stands in the list already", "remove one of them")
            if taint.key == placement.GPU_TAINT.key and _gpus(pool, cloud):
                yield Problem(path, f"the program taints GPU pools {placement.GPU_TAINT} itself", "remove it")
            elif any(taint.key == own.key for own in cloud.spot_taints) and taint not in cloud.spot_taints:
                yield Problem(path, f"{cloud.title} sets this key itself", "remove it")


def _ranges(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.cloud:
        return
    written = {
        "addressSpace": draft.cloud.network.address_space,
        "nodeSubnet": draft.cloud.network.node_subnet,
        "podCidr": draft.cloud.network.pod_cidr,
        "serviceCidr": draft.cloud.network.service_cidr,
    }
    ranges: dict[str, ipaddress.IPv4Network] = {}
    for key, text in written.items():
        try:
            ranges[key] = ipaddress.IPv4Network(text)
        except ValueError as reason:
            yield Problem(f"cloud.network.{key}", f"{text!r} is not a range: {reason}", "write for example 10.8.0.0/16")
    if {"addressSpace", "nodeSubnet"} <= ranges.keys() and not ranges["nodeSubnet"].subnet_of(ranges["addressSpace"]):
        yield Problem(
            "cloud.network.nodeSubnet",
            f"{ranges['nodeSubnet']} is not inside addressSpace {ranges['addressSpace']}",
            "choose a part of it",
        )
    for one, other in (("podCidr", "addressSpace"), ("serviceCidr", "addressSpace"), ("serviceCidr", "podCidr")):
        if {one, other} <= ranges.keys() and ranges[one].overlaps(ranges[other]):
            yield Problem(
                f"cloud.network.{one}",
                f"{ranges[one]} overlaps {other} {ranges[other]}",
                "choose ranges that share no address",
            )


_RULES: tuple[Callable[[Draft, Cloud], Iterator[Problem]], ...] = (
    _version_override,
    _cluster_name,
    _pool_names,
    _machines,
    _system_pool,
    _pool_bounds,
    _accelerators,
    _spot,
    _fallback,
    _fallback_cycles,
    _labels,
    _taints,
    _ranges,
)
