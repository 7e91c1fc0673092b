"""Checks of the cluster and its system pool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spec.clouds import Cloud
from spec.model import Capacity
from spec.problems import Problem
from spec.rules.draft import Draft, has_gpus
from spec.rules.pools import bounds


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
    if not draft.cluster or not draft.made_here:
        return
    name = draft.cluster.name
    if name is None:
        yield Problem("cluster.name", "is missing", "add `name`")
        return
    # The name also becomes the DNS prefix, the identity's and the network's name: the narrowest of their rules counts
    # (learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
    if not re.fullmatch(r"[a-zA-Z0-9][-a-zA-Z0-9]{1,52}[a-zA-Z0-9]", name):
        yield Problem(
            "cluster.name",
            f"{name!r} is no name for an {cloud.title} cluster",
            "3 to 54 letters, digits and -, first and last a letter or digit",
        )
    elif draft.azure:
        group = draft.azure.existing_resource_group or draft.azure.resource_group or name
        nodes_group = f"MC_{group}_{name}_{draft.azure.location}"
        if len(nodes_group) > 80:
            yield Problem(
                "cluster.name",
                f"the resource group of the nodes would be {nodes_group!r}, {len(nodes_group)} characters long",
                "shorten the cluster's or the resource group's name until it has at most 80",
            )


def _system_pool(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pool = draft.system_pool
    if not pool:
        return
    machine = cloud.machine(pool.machine)
    if pool.min_nodes > pool.max_nodes:
        yield bounds("systemPool", pool.min_nodes, pool.max_nodes)
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
        p for p in draft.pools.values() if p.capacity == Capacity.ON_DEMAND and not p.taints and not has_gpus(p, cloud)
    ]
    if pool.critical_addons_only and not untainted and not draft.unreadable:
        yield Problem(
            "systemPool.criticalAddonsOnly",
            "leaves Kubeflow's own pods nowhere to run: no other pool is on-demand, untainted and without GPUs",
            "set it to false, or add a general pool",
        )


RULES = (
    _version_override,
    _cluster_name,
    _system_pool,
)
