"""Checks of the disks of nodes and of their pods."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import nodes_of
from config.clouds.gcp.gcp_traits import DISKS_AS_REPORTED, boot_disks
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Capacity, Pool
from config.placement import object_names
from config.rules.draft import Draft

_HYPERDISK = ("hyperdisk-balanced",)
_ALONE = frozenset({"c4", "n4"})
"""Families that the catalogue does not have and that take no Persistent Disk (issues 1819 and 1820 of
kubernetes-sigs/gcp-compute-persistent-disk-csi-driver). The catalogue's are those whose machines boot from Hyperdisk alone."""


def _type(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    takes, nodes = boot_disks(pool.machine), nodes_of(pool)
    if nodes and nodes.disk_type and takes and nodes.disk_type not in takes:
        machine = cloud.machine(pool.machine)
        yield Problem(
            f"{path}.gcp.diskType",
            f"is {nodes.disk_type}, from which {pool.machine} does not boot",
            f"leave it out, or one of: {', '.join(takes)}",
            warning=machine is not None and machine.family in DISKS_AS_REPORTED,
        )


def _volumes(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Databases and notebooks run on demand: there their claims wait for ever, or their disks cannot be attached.
    machine, family = cloud.machine(pool.machine), pool.machine.lower().partition("-")[0]
    on_demand = (
        not isinstance(pool, Pool)
        or pool.capacity == Capacity.ON_DEMAND
        or object_names.twin_name(pool, cloud)
    )
    # Machines that are sold by reservation alone are bought for training.
    sold = machine is None or machine.on_demand
    if on_demand and sold and (boot_disks(pool.machine) == _HYPERDISK or family in _ALONE):
        yield Problem(
            f"{path}.machine",
            f"is {pool.machine}, which takes Hyperdisks alone: volumes of `kubeflowValues` and `workloads.storageClass` are"
            " pd-balanced, and pods that use one cannot run there",
            "keep another on-demand pool for databases and notebooks, or give them a StorageClass of yours with `type:"
            " hyperdisk-balanced`",
            warning=True,
        )


ANY_POOL_RULES = (_type, _volumes)
