"""What GKE fixes for a pool's life, and what a change of it does (docs/adr/0008).

Spot pools and twins are replaced: they hold nothing that may not vanish. An on-demand pool is not: the stack file is compared
with the live pool, and every difference refused at once, before anything is declared. Machine, disk, labels, taints, zones
and image change in place (terraform-provider-google, resource_container_node_pool.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components.gcp.live import LiveCluster, block, config
from spec.clouds.gcp import gke
from spec.model import ClusterSpec
from spec.placement import NodePool, next_generation
from spec.problems import Problem

Pair = tuple[Any, Any]
"""A value now, and the one that is wanted; None where it is left to GKE."""


@dataclass(frozen=True)
class Fixed:
    """One property, by the stack file's key (under the pool's, unless it is the cloud's)."""

    key: str
    of: Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]
    """From the live pool and the wanted arguments, each a node pool whole."""


def _wanted(args: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = args["nodeConfig"]
    return found


def _gpu(live: Mapping[str, Any], args: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return block(config(live), "guestAccelerators"), (_wanted(args).get("guestAccelerators") or [{}])[0]


def _accelerators(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    return tuple(f"{int(one['count'])} {one['type']}" if one else "none" for one in _gpu(live, args))  # type: ignore[return-value]


def _driver(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    now, then = _gpu(live, args)
    wanted = then.get("gpuDriverInstallationConfig", {}).get("gpuDriverVersion")
    is_now = block(now, "gpuDriverInstallationConfigs").get("gpuDriverVersion")
    return is_now or wanted, wanted


def _partition(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    return tuple(one.get("gpuPartitionSize") or "unset" for one in _gpu(live, args))  # type: ignore[return-value]


def _sharing(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    now, then = _gpu(live, args)
    shared = block(now, "gpuSharingConfigs"), then.get("gpuSharingConfig") or {}
    return tuple(  # type: ignore[return-value]
        f"{one['gpuSharingStrategy']} {int(one['maxSharedClientsPerGpu'])}"
        if one.get("gpuSharingStrategy")
        else "unset"
        for one in shared
    )


def _shielded(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]:
    def of(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
        wanted = _wanted(args)["shieldedInstanceConfig"][name]
        return block(config(live), "shieldedInstanceConfigs").get(name, wanted), wanted

    return of


def _plain(name: str) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Pair]:
    return lambda live, args: (config(live).get(name) or "unset", _wanted(args).get(name) or "unset")


def _max_pods(live: Mapping[str, Any], args: Mapping[str, Any]) -> Pair:
    wanted = args.get("maxPodsPerNode")
    now = live.get("maxPodsPerNode")
    return (int(now) if now else wanted), wanted


PROPERTIES = (
    Fixed("gpus", _accelerators),
    Fixed("gcp.driverVersion", _driver),
    Fixed("mig", _partition),
    Fixed("gpuSharing", _sharing),
    Fixed("gcp.secureBoot", _shielded("enableSecureBoot")),
    Fixed("gcp.integrityMonitoring", _shielded("enableIntegrityMonitoring")),
    Fixed("maxPods", _max_pods),
    Fixed("cloud.encryption.bootDiskKey", _plain("bootDiskKmsKey")),
    Fixed("cloud.serviceAccount", _plain("serviceAccount")),
)
"""What replaces a pool, of what this program sends (same source as above), but for spot, which `pool_problems` knows."""


def differences(path: str, args: Mapping[str, Any], live: Mapping[str, Any], remedy: str) -> Iterator[Problem]:
    """A problem for every fixed property that a live pool has otherwise than `args` want it.

    `args` are those of the NodePool, with the account's address in plain text.
    """
    for fixed in PROPERTIES:
        now, wanted = fixed.of(live, args)
        if wanted is not None and now != wanted:
            where = fixed.key if fixed.key.startswith("cloud.") else f"{path}.{fixed.key}"
            what = f"is {_shown(now)} in the cluster and cannot become {_shown(wanted)}"
            yield Problem(where, f"{args['name']}: {what}", remedy)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def pool_problems(spec: ClusterSpec, pool: NodePool, args: Mapping[str, Any], live: LiveCluster) -> Iterator[Problem]:
    """What the stack file wants of a live on-demand pool that would replace it."""
    there = live.pools.get(pool.name)
    if there is None or pool.twin or _vanishes(there):
        return
    path = f"pools[{spec.pools.index(pool.source)}]"
    if pool.spot:
        yield Problem(
            f"{path}.capacity",
            f"{pool.name}: is on-demand in the cluster and cannot become {pool.source.capacity}",
            "give that pool another name; the on-demand pool goes when the new one is there",
        )
        return
    letter = next_generation(pool.source, live.pools, gke())
    yield from differences(path, args, there, f"add `generation: {letter}`: a new pool is made before the old one goes")


def system_problems(args: Mapping[str, Any], live: LiveCluster) -> Iterator[Problem]:
    """As `pool_problems`, for the system pool, which has no generations; under another name it is another pool."""
    there = live.pools.get(args["name"])
    if there:
        yield from differences(
            "systemPool", args, there, "give it another name as well: the new pool is made before the old one goes"
        )


def _vanishes(live: Mapping[str, Any]) -> bool:
    return bool(config(live).get("spot") or config(live).get("preemptible"))


def refuse(problems: Iterable[Problem]) -> None:
    """Raises `pulumi.RunError`, which prints without a traceback, when there are any."""
    found = sorted(problems)
    if found:
        head = f"{len(found)} change{'s' if len(found) > 1 else ''} that GKE refuses; nothing was declared."
        raise pulumi.RunError("\n".join([head, *(f"  {problem}" for problem in found)]))
