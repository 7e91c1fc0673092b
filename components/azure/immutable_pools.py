"""What AKS fixes for a pool's life, and what a change of it does (docs/adr/0008).

Spot pools are replaced. An on-demand pool in use, a twin as well, is not: the stack file is compared with the live pool, and
every difference refused at once, before anything is declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components import last_update
from components.azure.live import LiveCluster, plain
from config.clouds.azure.settings import AzureEncryption
from config.clouds.azure.traits import aks
from config.model.pool import Pool, SystemPool
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool, next_generation
from config.problems import Problem

_CHOSEN_BY_AKS = object()


@dataclass(frozen=True)
class Fixed:
    """One property: AKS' name, and the stack file's key ("" where no key stands for it alone)."""

    wire: str
    key: str = ""
    unset: Any = _CHOSEN_BY_AKS
    """What an unset property means; by default whatever AKS chose, so that no live value differs from it."""


PROPERTIES = (
    Fixed("vmSize", "machine"),
    Fixed("scaleSetPriority", unset="Regular"),
    Fixed("scaleSetEvictionPolicy"),
    Fixed("spotMaxPrice"),
    Fixed("maxPods", "maxPods"),
    Fixed("osDiskType", "osDisk.type"),
    Fixed("osDiskSizeGB", "osDisk.sizeGb"),
    Fixed("type"),
    Fixed("availabilityZones", "zones", unset=()),
    Fixed("vnetSubnetID", "subnet"),
    Fixed("gpuInstanceProfile", "mig", unset=""),
    Fixed("gpuProfile", "installDriver", unset={"driver": "Install"}),
    Fixed("enableEncryptionAtHost", "cloud.encryption.atHost", unset=False),
)
"""azure-native itself replaces for `vmSize` and `gpuInstanceProfile` only and would preview updates that Azure then answers
with PropertyChangeNotAllowed (pulumi-azure-native issue 959)."""

BY_HAND = (
    "put it back; or add a second system pool by hand (az aks nodepool add --mode System), write its name and settings "
    "here, and delete the old one (az aks nodepool delete)"
)


def differences(path: str, wanted: Mapping[str, Any], live: Mapping[str, Any], remedy: str) -> Iterator[Problem]:
    """A problem for every fixed property that a live on-demand pool has otherwise than its arguments want it.

    `live` is the pool's entry in the cluster's GET; a subnet may be wanted by the end of its id.
    """
    for fixed, is_now, is_wanted in _differences(wanted, live):
        if fixed.key:
            where = fixed.key if fixed.key.startswith("cloud.") else f"{path}.{fixed.key}"
            what = f"is {_shown(fixed, is_now)} in the cluster and cannot become {_shown(fixed, is_wanted)}"
            yield Problem(where, f"{wanted.get('agentPoolName') or wanted['name']}: {what}", remedy)


def differs(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Whether a live pool has any fixed property otherwise, so that it can only be made anew."""
    return any(_differences(wanted, live))


def _differences(wanted: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[tuple[Fixed, Any, Any]]:
    """Each with its value now and the one wanted."""
    for fixed in PROPERTIES:
        is_now, is_wanted = live.get(fixed.wire), wanted.get(fixed.wire)
        if fixed.unset is not _CHOSEN_BY_AKS:
            is_now, is_wanted = is_now or fixed.unset, is_wanted or fixed.unset
        elif is_wanted is None or is_now is None:
            continue
        now, then = _plain(is_now), _plain(is_wanted)
        if fixed.wire == "vnetSubnetID" and now.endswith(then):
            continue
        if now != then:
            yield fixed, is_now, is_wanted


def _plain(value: Any) -> Any:
    """Comparable; of a GPU profile the driver."""
    return plain(value.get("driver") or "Install") if isinstance(value, Mapping) else plain(value)


def _shown(fixed: Fixed, value: Any) -> str:
    """In the stack file's words."""
    match fixed.key:
        case "mig":
            return str(value).removeprefix("MIG") or "unset"
        case "installDriver":
            return str(_plain(value) == "install").lower()
        case "subnet":
            *_, network, _, subnet = str(value).split("/")
            return f"{network}/{subnet}"
        case "zones":
            return f"[{', '.join(sorted(value))}]"
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)


def pool_problems(
    spec: ClusterSpec, pool: NodePool, wanted: Mapping[str, Any], live: LiveCluster, was: Mapping[str, Any]
) -> Iterator[Problem]:
    """What the stack file wants of a live on-demand pool that AKS refuses, or would not do.

    `wanted` are the arguments of its AgentPool, `was` what the stack remembers (`components.last_update`).
    """
    there = live.profiles.get(pool.name)
    if there is None or there.get("scaleSetPriority") == "Spot":
        return
    path = f"pools[{spec.pools.index(pool.source)}]"
    if pool.spot:
        yield Problem(
            f"{path}.capacity",
            f"{pool.name}: is on-demand in the cluster and cannot become spot",
            "give the spot pool another name; the on-demand pool goes when the new one is there",
        )
        return
    letter = next_generation(pool.source, live.profiles, aks())
    remedy = f"add `generation: {letter}`: a new pool is made before the old one goes"
    yield from differences(path, wanted, there, remedy)
    yield from _forgotten(path, pool.name, pool.source, was, remedy)


def _forgotten(path: str, name: str, pool: Pool | SystemPool, was: Mapping[str, Any], remedy: str) -> Iterator[Problem]:
    """What the stack file said at the last update and no longer says: AKS goes on as it was told, and the GET does not tell
    that from what AKS chose itself."""
    now = last_update.asked(pool)
    for key, value in (was.get("asked", {}).get(name) or {}).items():
        if key not in now:
            shown = str(int(value)) if isinstance(value, float) else value
            yield Problem(f"{path}.{key}", f"{name}: was {shown}, and AKS keeps that for the pool's life", remedy)


def system_problems(
    pool: SystemPool, wanted: Mapping[str, Any], live: LiveCluster, was: Mapping[str, Any]
) -> Iterator[Problem]:
    """As `pool_problems`, for the entry in the cluster itself, which has no generations."""
    if not live.profiles:
        return
    there = live.profiles.get(pool.name)
    if there is None:
        names = ", ".join(sorted(name for name, profile in live.profiles.items() if profile.get("mode") == "System"))
        what = f"{pool.name}: is no pool of the cluster, whose system pool is {names}; AKS adds none this way"
        yield Problem("systemPool.name", what, BY_HAND)
        return
    yield from differences("systemPool", wanted, there, BY_HAND)
    yield from _forgotten("systemPool", pool.name, pool, was, BY_HAND)


def key_problems(spec: AzureEncryption, live: LiveCluster) -> Iterator[Problem]:
    """The key of etcd must not go while Secrets are encrypted with it (page use-kms-etcd-encryption)."""
    profile = (live.found or {}).get("securityProfile") or {}
    kms = profile.get("azureKeyVaultKms") or {}
    if kms.get("enabled") and not spec.kms:
        yield Problem(
            "cloud.encryption.kms",
            f"encrypts the cluster's Secrets with {kms.get('keyId')} and cannot just go",
            "put it back; or run `az aks update --disable-azure-keyvault-kms`, then write every Secret anew "
            "(kubectl get secrets -A -o json | kubectl replace -f -), then remove it here",
        )


def upgrade_problems(path: str, version: str, live: LiveCluster) -> Iterator[Problem]:
    """AKS upgrades control plane and pools together where a channel is set, and refuses that beside spot pools (pages
    auto-upgrade-cluster and spot-node-pool). `path` is the key that names the version."""
    found = live.found or {}
    channel = (found.get("autoUpgradeProfile") or {}).get("upgradeChannel") or "none"
    now = str(found.get("currentKubernetesVersion") or found.get("kubernetesVersion") or version)
    if channel == "none" or f"{now}.".startswith(f"{version}."):
        return
    yield Problem(
        path,
        f"{now} cannot become {version} while the cluster's upgrade channel is {channel}: AKS then upgrades control plane and "
        "pools together only, and not beside spot pools",
        f"first keep {now.rpartition('.')[0]}, set `cloud.upgrades.channel: none` and run `pulumi up`; then upgrade; then set "
        "the channel again",
    )


def refuse(problems: Iterable[Problem]) -> None:
    """Raises `pulumi.RunError`, which prints without a traceback, when there are any."""
    found = sorted(problems)
    if found:
        head = f"{len(found)} change{'s' if len(found) > 1 else ''} that AKS refuses; nothing was declared."
        raise pulumi.RunError("\n".join([head, *(f"  {problem}" for problem in found)]))
