"""Properties of a pool and of the cluster that GKE never changes (docs/adr/0018, 0016).

Spot pools are replaced: they hold nothing that must not be evicted. On-demand pools, on-demand
twins included, are not: every difference between the stack file and the live pool is refused in one
message, before anything is declared. A dropped setting is refused too if GKE keeps it and no
request resets it. Labels, taints and zones change in place (terraform-provider-google,
resource_container_node_pool.go).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components import immutable, property_edits
from components.gcp import gcp_nodes
from components.gcp.gcp_live import LiveCluster, at, block, config
from components.immutable import Change
from components.last_update import LastUpdate
from components.target import Stack
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.gcp.gcp_pool import properties_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import local_ssds
from config.model.pool import Capacity
from config.placement.node_pools import NodePool
from config.placement.object_names import next_generation

Pair = tuple[Any, Any]
"""The live and the wanted value; None if it is left to GKE."""


@dataclass(frozen=True)
class Immutable:
    """One property, by the stack file's key (under the pool's, unless it is the cloud's)."""

    key: str
    pair: Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]
    """Returns the pair from the live pool and the wanted arguments, each a whole node pool."""


def _node_config(args: Mapping[str, Any]) -> Mapping[str, Any]:
    nodes: Mapping[str, Any] = args["nodeConfig"]
    return nodes


def _gpu(
    live: Mapping[str, Any], args: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return block(config(live), "guestAccelerators"), (
        _node_config(args).get("guestAccelerators") or [{}]
    )[0]


def _accelerators(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    return tuple(
        f"{int(gpu['count'])} {gpu['type']}" if gpu else "none" for gpu in _gpu(live, args)
    )  # type: ignore[return-value]


def _driver(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    now, then = _gpu(live, args)
    declared = then.get("gpuDriverInstallationConfig", {}).get("gpuDriverVersion")
    is_now = block(now, "gpuDriverInstallationConfigs").get("gpuDriverVersion")
    return is_now or declared, declared


def _partition(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    return tuple(gpu.get("gpuPartitionSize") or "unset" for gpu in _gpu(live, args))  # type: ignore[return-value]


def _sharing(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    now, then = _gpu(live, args)
    shared = block(now, "gpuSharingConfigs"), then.get("gpuSharingConfig") or {}
    return tuple(  # type: ignore[return-value]
        f"{sharing['gpuSharingStrategy']} {int(sharing['maxSharedClientsPerGpu'])}"
        if sharing.get("gpuSharingStrategy")
        else "unset"
        for sharing in shared
    )


def _shielded(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]:
    def pair(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
        declared = _node_config(args)["shieldedInstanceConfig"][name]
        return block(config(live), "shieldedInstanceConfigs").get(name, declared), declared

    return pair


def _plain(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]:
    return lambda live, args: (
        config(live).get(name) or "unset",
        _node_config(args).get(name) or "unset",
    )


def _reservation(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    then = _node_config(args).get("reservationAffinity") or {}
    return gcp_nodes.reservation_of_pool(live) or "unset", ", ".join(
        then.get("values") or ()
    ) or "unset"


def _local_ssd(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    then, now = _node_config(args), config(live)
    declared = _ssds(
        then.get("ephemeralStorageLocalSsdConfig"), then.get("localNvmeSsdBlockConfig")
    )
    machine = local_ssds(then["machineType"])
    if declared == "unset" and machine and machine.fixed:
        return None, None  # GKE shows the disks that the machine always has
    return _ssds(
        block(now, "ephemeralStorageLocalSsdConfigs"), block(now, "localNvmeSsdBlockConfigs")
    ), declared


def _ssds(ephemeral: Mapping[str, Any] | None, raw: Mapping[str, Any] | None) -> str:
    for use, disks in (("ephemeral", ephemeral), ("block", raw)):
        if disks and disks.get("localSsdCount"):
            return f"{int(disks['localSsdCount'])} {use}"
    return "unset"


def _max_pods(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    declared = args.get("maxPodsPerNode")
    now = live.get("maxPodsPerNode")
    return (int(now) if now else declared), declared


def _sized(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]:
    """Read a property; fall back to the live value if the file omits it."""

    def pair(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
        declared = _node_config(args).get(name)
        return config(live).get(name) or declared, declared

    return pair


PROPERTIES = (
    Immutable("machine", _sized("machineType")),
    Immutable("osDisk.sizeGb", _sized("diskSizeGb")),
    Immutable("gcp.diskType", _sized("diskType")),
    Immutable("gcp.imageType", _sized("imageType")),
    Immutable("gpus", _accelerators),
    Immutable("gcp.driverVersion", _driver),
    Immutable("mig", _partition),
    Immutable("gpuSharing", _sharing),
    Immutable("gcp.secureBoot", _shielded("enableSecureBoot")),
    Immutable("gcp.integrityMonitoring", _shielded("enableIntegrityMonitoring")),
    Immutable("gcp.localSsd", _local_ssd),
    Immutable("maxPods", _max_pods),
    Immutable("reservation", _reservation),
    Immutable("cloud.encryption.bootDiskKey", _plain("bootDiskKmsKey")),
    Immutable("cloud.serviceAccount", _plain("serviceAccount")),
)
"""Properties whose change deletes a pool's nodes. `pool_problems` handles spot.

GKE changes the first four by recreating every node, as in an upgrade but outside maintenance
windows: a GPU pool, which has no surge, loses its nodes one by one (page managing-clusters). The
others replace the pool."""

_DEFAULT_DISKS = ("pd-balanced", "hyperdisk-balanced")
"""GKE's choices for a machine (terraform-provider-google, container_node_pool, `disk_type`)."""

_ZONES = 3
"""Zones that GKE chooses in a region by default (page regional-clusters)."""


def differences(
    path: str,
    args: Mapping[str, Any],
    live: Mapping[str, Any],
    remedy: str,
    unknown: Collection[str] = (),
) -> Iterator[Problem]:
    """Yield a problem for each immutable property that differs between a live pool and the wanted
    one.

    `args`: the NodePool's, keyed by Google property name, with the account's address in plain text;
    `unknown`: keys of the stack file whose value another resource makes.
    """
    changes = (change for change in _changes(args, live) if change[0] not in unknown)
    yield from immutable.change_problems(path, args["name"], changes, remedy)


def unknown(cloud: Gcp) -> set[str]:
    """Return the keys of pools whose value is unknown now."""
    account, key = cloud.service_account, cloud.encryption.boot_disk_key
    references = {"cloud.serviceAccount": account, "cloud.encryption.bootDiskKey": key}
    return {path for path, reference in references.items() if reference and reference.made_up}


def _changes(args: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Change]:
    for property in PROPERTIES:
        now, declared = property.pair(live, args)
        if declared is not None and now != declared:
            yield property.key, immutable.as_written(now), immutable.as_written(declared)


def cluster_problems(name: str, cloud: Gcp, live: LiveCluster) -> Iterator[Problem]:
    """Yield a problem for each dropped setting that the cluster keeps."""
    if not live.answer:
        return
    cidr = block(live.answer, "privateClusterConfigs").get("masterIpv4CidrBlock")
    if cidr and not cloud.network.control_plane_cidr:
        yield Problem(
            "cloud.network.controlPlaneCidr",
            f"is {cidr} for the cluster's life",
            f"write `controlPlaneCidr: {cidr}`; only another cluster can be without",
        )
    if live.zones and not cloud.zones and len(live.zones) != (1 if cloud.zonal else _ZONES):
        zones = ", ".join(live.zones)
        where = f"{name} --location {cloud.place} --project {cloud.project}"
        yield Problem(
            "cloud.zones",
            f"is unset: GKE keeps the zones that the cluster has, {zones}",
            f"write `zones: [{zones}]`, or the zones you want; for GKE's own choice run `gcloud "
            f"container clusters update {where}"
            f" --node-locations {cloud.place if cloud.zonal else 'ZONE,ZONE,ZONE'}` first",
        )


def _kept_gpus(path: str, args: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for attached GPUs that are dropped: GKE would keep them."""
    now, declared = _accelerators(live, args)
    if now != declared == "none":
        yield Problem(
            f"{path}.gpus",
            f"{args['name']}: has {now} a machine, which GKE does not take from a pool",
            "give the pool another name: the new one is made before the old one goes",
        )


def _kept_disk(path: str, args: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem for a dropped disk type on a machine that the catalogue lacks."""
    disk = config(live).get("diskType")
    if not _node_config(args).get("diskType") and disk and disk not in _DEFAULT_DISKS:
        yield Problem(
            f"{path}.gcp.diskType",
            f"{args['name']}: is {disk} in the cluster, and GKE's choice for "
            f"{_node_config(args)['machineType']} is unknown",
            f"write `diskType: {disk}`, or another type",
        )


def pool_problems(
    stack: Stack, pool: NodePool, args: Mapping[str, Any], live: LiveCluster
) -> Iterator[Problem]:
    """Yield a problem for each change that GKE ignores, or that would delete on-demand nodes."""
    live_pool = live.pools.get(pool.name)
    if live_pool is None:
        return
    path = stack.path(pool)
    if _is_reclaimable(live_pool):
        yield from _kept_gpus(path, args, live_pool)
        yield from _kept_disk(path, args, live_pool)
        yield from _edits(path, pool, args, live_pool, stack.last_update, None)
        return
    if pool.capacity != Capacity.ON_DEMAND:
        yield immutable.becomes_spot(stack, pool)
        return
    letter = next_generation(pool.source, live.pools, registry.cloud_of(stack.spec.cloud))
    remedy = f"add `generation: {letter}`: a new pool is made before the old one goes"
    assert isinstance(stack.spec.cloud, Gcp)
    yield from differences(path, args, live_pool, remedy, unknown(stack.spec.cloud))
    yield from _kept_disk(path, args, live_pool)
    yield from _edits(path, pool, args, live_pool, stack.last_update, remedy)


def _edits(
    path: str,
    pool: NodePool,
    args: Mapping[str, Any],
    live_pool: Mapping[str, Any],
    last_update: LastUpdate,
    remedy: str | None,
) -> Iterator[Problem]:
    yield from property_edits.of_pool(
        "gcp",
        f"{path}.gcp.properties",
        pool.name,
        properties_of(pool.source),
        args,
        last_update,
        lambda place: at(live_pool, place),
        remedy,
    )


def system_problems(
    cloud: Gcp,
    pool: NodePool,
    args: Mapping[str, Any],
    live: LiveCluster,
    last_update: LastUpdate,
) -> Iterator[Problem]:
    """Yield the problems of the system pool, as `pool_problems`. It has no generations: another
    name makes another pool.
    """
    live_pool = live.pools.get(args["name"])
    if live_pool:
        remedy = "give it another name as well: the new pool is made before the old one goes"
        yield from differences("systemPool", args, live_pool, remedy, unknown(cloud))
        yield from _kept_disk("systemPool", args, live_pool)
        yield from _edits("systemPool", pool, args, live_pool, last_update, remedy)


def _is_reclaimable(live: Mapping[str, Any]) -> bool:
    """Return whether Google ends the nodes: spot, preemptible and flex-start ones."""
    return any(config(live).get(way) for way in ("spot", "preemptible", "flexStart"))
