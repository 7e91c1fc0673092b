"""Rules of pools: system pool, disks, spot, reservations, Trusted Launch, upgrades."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of, settings_of, spot_of
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.model.pool import AnyPool, Pool, Upgrade
from config.model.reading import known, part, written
from config.rules.draft import Draft, has_gpus
from config.rules.pool_rules import two_system_nodes


def _nodes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.makes_cluster and draft.system_pool and draft.system_pool.min_nodes < 2:
        yield Problem(
            "systemPool.minNodes",
            f"is {draft.system_pool.min_nodes}: the cluster's own pods need two nodes during an "
            "upgrade",
            f"{two_system_nodes(draft.system_pool)} (learn.microsoft.com/azure/aks/use-system-pools)",
        )


def _machine(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    pool = draft.system_pool
    if not pool or not draft.makes_cluster:
        return
    machine = cloud.machine(pool.machine)
    # The page asks for 4 vCPU, AKS takes 2 (MicrosoftDocs/azure-docs issue 121181).
    if machine and machine.vcpus < 4:
        yield Problem(
            "systemPool.machine",
            f"{machine.size} has {machine.vcpus} vCPU; AKS advises 4 for its own pods",
            "use Standard_D4ds_v5",
            warning=True,
        )
    if re.match(r"standard_b", pool.machine, re.IGNORECASE):
        yield Problem(
            "systemPool.machine",
            f"{pool.machine}: AKS takes no B-series size for a system pool",
            "use Standard_D4ds_v5",
        )


def _upgrade(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.makes_cluster or not draft.system_pool or not draft.system_pool.upgrade:
        return
    # learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
    if draft.system_pool.upgrade.max_unavailable is not None:
        yield Problem(
            "systemPool.upgrade.maxUnavailable",
            "is set: AKS takes it on other pools only",
            "use `maxSurge` instead",
        )
    elif draft.system_pool.upgrade.max_surge in (None, "0"):
        yield Problem(
            "systemPool.upgrade.maxSurge",
            "leaves no way to replace a node: a system pool is upgraded with additional nodes",
            'write at least "1", or leave out `upgrade`',
        )


_DEFAULT_GB = 128
"""The default size in GB of an ephemeral disk (learn.microsoft.com/azure/aks/concepts-storage)."""


def _ephemeral(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    machine, disk = cloud.machine(pool.machine), settings_of(pool).os_disk
    if disk.type != "Ephemeral" or machine is None or machine.local_disk_gib is None:
        return
    has = machine.local_disk_gib
    if not has:
        # learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks
        yield Problem(
            f"{path}.osDisk.type",
            f"is Ephemeral, but {machine.size} has no local disk",
            "write Managed, or use a size with a d, such as Standard_D8ds_v5",
        )
    elif (needs := disk.size_gb or _DEFAULT_GB) > has:
        yield Problem(
            f"{path}.osDisk.sizeGb",
            f"is {needs}{'' if disk.size_gb else ' by default'}, but {machine.size} has {has:g} "
            "locally",
            f"at most {has:g}, or `type: Managed`",
        )


def _kept_when_stopped(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    deallocate = pool.reclaimable and spot_of(pool).eviction_policy == "Deallocate"
    if deallocate and settings_of(pool).os_disk.type == "Ephemeral":
        # learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks-faq
        yield Problem(
            f"{path}.osDisk.type",
            "is Ephemeral: such machines cannot be stopped, which evictionPolicy Deallocate needs",
            "write Managed, or leave out evictionPolicy",
        )


_DEAREST = 1000
"""Dollars an hour. The most expensive machine of the price list (November 2026) costs 128 on
demand; a higher value is in another unit, or means no limit, which is -1."""


def _price(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    price = spot_of(pool).max_price if known(lambda: pool.reclaimable, True) else -1
    # learn.microsoft.com/azure/aks/spot-node-pool: -1, or positive with at most five decimals
    if price != -1 and (price <= 0 or round(price, 5) != price):
        yield Problem(
            f"{path}.spot.maxPrice",
            f"is {price:g}",
            "-1 (never evicted for price), or dollars an hour above 0 with at most five decimals",
        )
    elif price > _DEAREST:
        yield Problem(
            f"{path}.spot.maxPrice",
            f"is {price:g} dollars an hour, more than any machine costs",
            "-1 (never evicted for price), or dollars, not cents, of one machine and hour",
        )


def _eviction(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reclaimable and spot_of(pool).eviction_policy == "Deallocate":
        yield Problem(
            f"{path}.spot.evictionPolicy",
            "is Deallocate: stopped machines use quota and confuse the autoscaler (AKS issue 5211)",
            "leave it out; the default is Delete",
            warning=True,
        )


_TYPE = "Microsoft.Compute/capacityReservationGroups"
_ID = r"(?i)/subscriptions/[^/\s]+/resourceGroups/[^/\s]+/providers/[^/\s]+(/[^/\s]+/[^/\s]+)+"

_NOT_RESERVED = re.compile(r"(?i)standard_(nd.*|nc\d+ads_h100_v5)")
"""learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview of 2026-02,
"Limitations": ND and NCads H100 v5."""


def _group(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where, id = f"{path}.reservation", pool.reservation
    if not id:
        return
    if not re.fullmatch(_ID, id):
        yield Problem(
            where,
            f"is {id!r}, not the id of a capacity reservation group",
            f"/subscriptions/.../resourceGroups/.../providers/{_TYPE}/NAME",
        )
        return
    yield from azure_id_rules.check_id_type(where, id, _TYPE, "a capacity reservation group")
    yield from azure_id_rules.check_subscription(where, id)


def _size(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reservation and _NOT_RESERVED.fullmatch(pool.machine):
        yield Problem(
            f"{path}.reservation",
            f"is set for {cloud.size(pool.machine)}, of which Azure takes no reservations",
            "use another size, or remove it",
            warning=True,
        )


def _identity(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The page: a system-assigned identity does not work, and Contributor is granted before.
    if pool.reservation and not draft.makes_cluster:
        yield Problem(
            f"{path}.reservation",
            "is used by the identity of the existing cluster, which this program gives no roles",
            "let that be a user-assigned identity with Contributor at the group",
            warning=True,
        )


def _driver(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if nodes_of(pool).secure_boot and pool.install_driver and has_gpus(pool, cloud):
        yield Problem(
            f"{path}.azure.secureBoot",
            "is true, but AKS installs its GPU driver, which Secure Boot refuses",
            "remove it, or bring a signed driver with `installDriver: false`; `vtpm` may stay",
        )


def _pool_upgrade(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not written(pool, "upgrade"):
        return
    if known(lambda: pool.reclaimable, False):
        # hashicorp/terraform-provider-azurerm pull request 31129
        yield Problem(
            f"{path}.upgrade",
            "is set on a spot pool: AKS refuses maxSurge and maxUnavailable there",
            "remove it",
        )
        return
    # learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
    upgrade = pool.upgrade or Upgrade()
    surge, unavailable = upgrade.max_surge or "0", upgrade.max_unavailable or "0"
    if surge == unavailable == "0":
        yield Problem(
            f"{path}.upgrade",
            "leaves no way to exchange a node: maxSurge and maxUnavailable are both 0",
            'write `upgrade: {maxSurge: "1"}`, or `maxUnavailable: "1"` if quota is short, or leave it out',
        )
    elif "0" not in (surge, unavailable):
        yield Problem(
            f"{path}.upgrade",
            "sets maxSurge and maxUnavailable: AKS has both together in preview only",
            "keep one of them",
            warning=True,
        )


def _more_than_all(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.upgrade:
        return
    for key, text in {
        "maxSurge": part(pool.upgrade, "max_surge"),
        "maxUnavailable": part(pool.upgrade, "max_unavailable"),
    }.items():
        # Page upgrade-aks-node-pools-rolling: above the pool's nodes AKS takes as many as it has;
        # others read it as refused.
        if text and text.endswith("%") and int(text[:-1]) > 100:
            yield Problem(
                f"{path}.upgrade.{key}",
                f"is {text}, more than all nodes of the pool",
                'at most "100%"',
                warning=True,
            )


RULES = (_nodes, _machine, _upgrade)
ANY_POOL_RULES = (_ephemeral, _more_than_all)
POOL_RULES = (
    _kept_when_stopped,
    _price,
    _eviction,
    _group,
    _size,
    _identity,
    _driver,
    _pool_upgrade,
)
