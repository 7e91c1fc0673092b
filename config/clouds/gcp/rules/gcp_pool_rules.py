"""Rules of pools: bounds, disks, spot, reservations, upgrades, system pool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_pool import GcpPool, nodes_of, options_of
from config.clouds.gcp.gcp_traits import DISKS_AS_REPORTED, boot_disks
from config.clouds.tables import minor_number
from config.clouds.traits import Cloud
from config.model.fields import given
from config.model.pool import AnyPool, Capacity, Pool
from config.model.reading import known, part, written
from config.placement import object_names
from config.rules.draft import Draft, most_nodes
from config.rules.pool_rules import two_system_nodes


def _one_kind(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool) or GcpPool()
    zonal = [
        str(GcpPool.model_fields[name].alias)
        for name in given(options, "min_nodes_per_zone", "max_nodes_per_zone")
    ]
    total = [str(Pool.model_fields[name].alias) for name in given(pool, "min_nodes", "max_nodes")]
    if zonal and total:
        yield Problem(
            f"{path}.gcp.{zonal[-1]}",
            f"is set beside {' and '.join(total)}: bound the whole pool or each zone, not both",
            "keep minNodes and maxNodes, or gcp.minNodesPerZone and gcp.maxNodesPerZone",
        )
    elif zonal == ["minNodesPerZone"]:
        yield Problem(
            f"{path}.gcp.maxNodesPerZone",
            "is missing",
            "add `maxNodesPerZone`, or write minNodes and maxNodes",
        )


def _per_zone(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if not options or options.max_nodes_per_zone is None:
        return
    least, most = part(options, "min_nodes_per_zone"), options.max_nodes_per_zone
    if least is not None and least > most:
        what = f"is {least}, more than maxNodesPerZone, which is {most}"
        yield Problem(f"{path}.gcp.minNodesPerZone", what, f"at most {most}")
    if most > cloud.max_nodes:
        remedy = f"{cloud.title} takes at most {cloud.max_nodes} nodes a zone"
        yield Problem(f"{path}.gcp.maxNodesPerZone", f"is {most}", remedy)


def _location_policy(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where, options = f"{path}.gcp.locationPolicy", options_of(pool)
    if not options or not options.location_policy:
        return
    if known(lambda: pool.zone_count(draft.cloud), 0) == 1:
        yield Problem(where, "has no use for a pool in one zone", "remove it", warning=True)
    elif pool.reclaimable and options.location_policy == "balanced":
        kind = "spot" if pool.taken_back else pool.capacity
        yield Problem(
            where,
            f"is balanced for a {kind} pool, which then misses machines that only one zone has",
            "write any, or leave it out",
            warning=True,
        )


def _none_at_first(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The zones of an existing cluster are unknown.
    if not draft.makes_cluster and not pool.zones:
        return
    most, zones = most_nodes(pool, draft), pool.zone_count(draft.cloud)
    # pulumi-gcp, `initialNodeCount`: in each zone
    if pool.least_nodes(draft.cloud) and most and most < zones:
        yield Problem(
            f"{path}.maxNodes",
            f"is {most} in {zones} zones: GKE begins with the same number of nodes in each, here "
            "none, and adds them as pods wait",
            f"{zones} or more, or name fewer `zones`",
            warning=True,
        )


_HYPERDISK = ("hyperdisk-balanced",)
_ALONE = frozenset({"c4", "n4"})
"""Families outside the catalogue that take no Persistent Disk (issues 1819 and 1820 of
kubernetes-sigs/gcp-compute-persistent-disk-csi-driver). Of the catalogue's, those that boot from
Hyperdisk only."""


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
    # Databases and notebooks run on demand: their claims would wait forever, or their disks not
    # attach.
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
            f"is {pool.machine}, which takes only Hyperdisks: volumes of `kubeflowValues` and "
            "`workloads.storageClass` are pd-balanced, and pods that use one cannot run there",
            "keep another on-demand pool for databases and notebooks, or give them your own "
            "StorageClass with `type: hyperdisk-balanced`",
            warning=True,
        )


_GRACE_SINCE = 35
"""Page spot-vms: from 1.35.0-gke.1171000."""

_GRACES = (30, 120)
"""Page node-system-config, quoted in magic-modules pull request 17556; page spot-vms: up to 120."""


def _preemptible(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity == Capacity.PREEMPTIBLE:
        yield Problem(
            f"{path}.capacity",
            "is preemptible: such machines end after 24 hours at most, and have 30 s of notice",
            "write `capacity: spot`, which has neither limit",
            warning=True,
        )


def _both(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.capacity == Capacity.PREEMPTIBLE and written(pool, "spot"):
        yield Problem(
            f"{path}.spot",
            "is set on a preemptible pool: a machine is bought in one way",
            "write `capacity: spot`",
        )


def _grace(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    options = options_of(pool)
    if not options or not written(options, "shutdown_grace_seconds"):
        return
    where, version = f"{path}.gcp.shutdownGraceSeconds", draft.kubernetes_version
    if pool.capacity != Capacity.SPOT:
        what = f"is set on a pool that is {pool.capacity}: only spot nodes can be given more notice"
        yield Problem(where, what, "remove it, or write `capacity: spot`")
    elif version and minor_number(version) < _GRACE_SINCE:
        yield Problem(
            where, f"needs Kubernetes 1.35, not {version}", "remove it, or take another release"
        )
    elif options.shutdown_grace_seconds not in _GRACES:
        what = f"is {options.shutdown_grace_seconds}: by one source GKE takes 30 and 120 only"
        yield Problem(where, what, "write 120, or leave it out", warning=True)


_NAME = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_RESERVATION = rf"(projects/[^/\s]+/reservations/)?{_NAME}(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?"
"""GoogleCloudPlatform/cluster-toolkit, gke-node-pool: the forms of reservation-name."""


def _form(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if pool.reservation and not re.fullmatch(_RESERVATION, pool.reservation):
        yield Problem(
            f"{path}.reservation",
            f"is {pool.reservation!r}, which names no reservation",
            "write its name, such as l4-prod, or projects/PROJECT/reservations/NAME",
        )


def _zones(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # The page: reservations are of a zone; a pool in several zones needs one of the name in each.
    zones = known(lambda: pool.zone_count(draft.cloud), 1)
    if pool.reservation and not pool.reclaimable and zones > 1:
        yield Problem(
            f"{path}.reservation",
            f"is in one zone, and the pool may grow in {zones}, of which the others get no node",
            "name the reservation's zone in `zones`, or reserve under one name in each",
            warning=True,
        )


def _surge(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Page node-upgrades-quota: surge nodes use the reservation; without room for one the upgrade
    # fails.
    if not pool.reservation or not pool.upgrade or pool.reclaimable:
        return
    if (pool.upgrade.max_unavailable or "0") == "0" != (pool.upgrade.max_surge or "0"):
        yield Problem(
            f"{path}.upgrade",
            "adds a node first, which needs free room in the reservation, or no upgrade ends",
            'write `maxUnavailable: "1"`, or leave `upgrade` out: nodes are replaced in turn',
            warning=True,
        )


def _ignored(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Page node-pool-upgrade-strategies: "If you use Spot VMs in your node pool, surge upgrade values
    # are ignored". The pool's on-demand twin has the same settings.
    twin = object_names.twin_name(pool, cloud)
    if pool.taken_back and written(pool, "upgrade") and not twin:
        yield Problem(
            f"{path}.upgrade",
            "has no effect on a spot pool: GKE ends its nodes without a surge",
            "remove it",
            warning=True,
        )


_MOST_AT_ONCE = 20


def _whole_nodes(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not pool.upgrade:
        return
    for key, name in {"maxSurge": "max_surge", "maxUnavailable": "max_unavailable"}.items():
        text = part(pool.upgrade, name)
        if text and text.endswith("%"):
            yield Problem(
                f"{path}.upgrade.{key}",
                f"is {text}: GKE takes whole nodes, no shares",
                _whole(pool, cloud),
            )


_NO_SURGE = "GKE ends spot nodes without a surge"


def _whole(pool: AnyPool, cloud: Cloud) -> str:
    if not isinstance(pool, Pool) or not known(lambda: pool.taken_back, False):
        return 'write for example "1"'
    if object_names.twin_name(pool, cloud):
        return f'write for example "1", which counts for `onDemand` alone: {_NO_SURGE}'
    return f"remove `upgrade`: {_NO_SURGE}"


def _no_way(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # pulumi-gcp, `upgradeSettings`: one of them must be greater than zero
    if (
        pool.upgrade
        and (pool.upgrade.max_surge or "0") == (pool.upgrade.max_unavailable or "0") == "0"
    ):
        yield Problem(
            f"{path}.upgrade",
            "leaves no way to exchange a node: maxSurge and maxUnavailable are both 0",
            'write `upgrade: {maxSurge: "1"}`, or `maxUnavailable: "1"` if quota is short, or leave it out',
        )


def _at_once(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    texts = (
        (pool.upgrade.max_surge or "0", pool.upgrade.max_unavailable or "0") if pool.upgrade else ()
    )
    # `_whole_nodes` reports shares.
    at_once = sum(int(text) for text in texts if not text.endswith("%"))
    # terraform-provider-google, container_node_pool, `upgrade_settings`; page
    # node-pool-upgrade-strategies
    if at_once > _MOST_AT_ONCE:
        yield Problem(
            f"{path}.upgrade",
            f"exchanges {at_once} nodes at once, maxSurge and maxUnavailable together",
            f"at most {_MOST_AT_ONCE} together",
        )


def _nodes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.makes_cluster and draft.system_pool and draft.system_pool.min_nodes < 2:
        yield Problem(
            "systemPool.minNodes",
            f"is {draft.system_pool.min_nodes}: without that node all of the cluster's own pods "
            "end",
            two_system_nodes(draft.system_pool),
            warning=True,
        )


POOL_RULES = (
    _one_kind,
    _per_zone,
    _location_policy,
    _preemptible,
    _both,
    _grace,
    _form,
    _zones,
    _surge,
    _ignored,
)
ANY_POOL_RULES = (_none_at_first, _type, _volumes, _whole_nodes, _no_way, _at_once)
RULES = (_nodes,)
