"""Properties of a pool that AKS never changes (docs/adr/0018).

Spot pools are replaced. On-demand pools in use, on-demand twins included, are not: every difference
between the stack file and the live pool is refused in one message, before anything is declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_azure_native import containerservice

from components import immutable, property_edits
from components.azure.azure_live import LiveCluster, at, holds, plain
from components.immutable import Change
from components.last_update import LastUpdate, lasting_settings
from components.target import Stack
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.azure.azure_pool import nodes_of
from config.model.pool import AnyPool
from config.placement.node_pools import NodePool
from config.placement.object_names import next_generation

_CHOSEN_BY_AKS = object()
_RESERVATION = "capacityReservationGroupID"
_SECURITY = "securityProfile"
_KUBELETS_DISK = "OS"


@dataclass(frozen=True)
class Immutable:
    """One property: AKS' name, and the stack file's key; "" if no single key stands for it."""

    wire: str
    key: str = ""
    unset: Any = _CHOSEN_BY_AKS
    """The meaning of an unset property; by default AKS' own choice, equal to any value."""
    given: bool = False
    """Whether only `azure.properties` can set it; `components.property_edits` refuses its edit."""


PROPERTIES = (
    Immutable("vmSize", "machine"),
    Immutable("scaleSetPriority", unset="Regular"),
    Immutable("scaleSetEvictionPolicy"),
    Immutable("spotMaxPrice"),
    Immutable("maxPods", "maxPods"),
    Immutable("osDiskType", "osDisk.type"),
    Immutable("osDiskSizeGB", "osDisk.sizeGb"),
    Immutable("type"),
    Immutable("availabilityZones", "zones", unset=()),
    Immutable("vnetSubnetID", "subnet"),
    Immutable("gpuInstanceProfile", "mig", unset=""),
    Immutable("gpuProfile", "installDriver", unset={"driver": "Install"}),
    Immutable("enableEncryptionAtHost", "cloud.encryption.atHost", unset=False),
    Immutable(_SECURITY, "azure"),
    Immutable(_RESERVATION, "reservation", unset=""),
    # Set at creation only: terraform-provider-azurerm makes such a pool again
    # (kubernetes_cluster_node_pool_resource.go; pages use-ultra-disks, custom-node-configuration).
    *(
        Immutable(name, given=True)
        for name in (
            *("creationData", "enableNodePublicIP", "enableUltraSSD", "hostGroupID"),
            *("kubeletConfig", "kubeletDiskType", "linuxOSConfig", "nodePublicIPPrefixID"),
            *("podSubnetID", "proximityPlacementGroupID", "windowsProfile"),
        )
    ),
)
"""azure-native replaces a pool for `vmSize` and `gpuInstanceProfile` only. For the others it
previews an update, which Azure refuses with PropertyChangeNotAllowed (pulumi-azure-native issue
959)."""

_TAGGED: Mapping[str, Any] = {"tags": {}}
"""Every request of a user pool has tags; that of the system pool only those of the stack file."""

BY_HAND = (
    "put it back; or add a second system pool by hand (az aks nodepool add --mode System), write "
    "its name and settings "
    "here, and delete the old one (az aks nodepool delete)"
)


def differences(
    path: str, declared: Mapping[str, Any], live: Mapping[str, Any], remedy: str
) -> Iterator[Problem]:
    """Yield a problem for each immutable property that differs between a live on-demand pool and
    the wanted one.

    `declared` is the wanted entry, `live` that of the cluster's GET, both keyed by Azure property
    name. A subnet may be the end of its id.
    """
    name = str(declared["name"])
    if declared.get(_RESERVATION) and not live.get(_RESERVATION):
        yield _not_associated(path, name, str(declared[_RESERVATION]), remedy)
        declared = {key: value for key, value in declared.items() if key != _RESERVATION}
    yield from immutable.change_problems(path, name, _changes(declared, live), remedy)


def differs(declared: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Return whether any immutable property differs, so that the pool must be replaced."""
    return any(_differences(declared, live))


def _changes(declared: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Change]:
    for property, is_now, is_declared in _differences(declared, live):
        if property.key:
            yield property.key, _shown(property, is_now), _shown(property, is_declared)


def _differences(
    declared: Mapping[str, Any], live: Mapping[str, Any]
) -> Iterator[tuple[Immutable, Any, Any]]:
    """Yield each differing property with its live and its wanted value."""
    for property in PROPERTIES:
        if property.wire == _SECURITY:
            if _trusted(declared) and not _trusted(live):
                yield property, False, True
            continue
        is_now, is_declared = live.get(property.wire), declared.get(property.wire)
        if property.given:
            # A dropped one is replaced as well; AKS shows these defaults of its own.
            dropped = is_declared is None and is_now not in (None, False, _KUBELETS_DISK)
            if dropped or (
                is_declared is not None and not holds(property.wire, is_now, is_declared)
            ):
                yield property, is_now, is_declared
            continue
        if property.unset is not _CHOSEN_BY_AKS:
            is_now, is_declared = is_now or property.unset, is_declared or property.unset
        elif is_declared is None or is_now is None:
            continue
        now, then = _plain(is_now), _plain(is_declared)
        if property.wire == "vnetSubnetID" and now.endswith(then):
            continue
        if now != then:
            yield property, is_now, is_declared


def trusted_launch(
    pool: NodePool, live: LiveCluster
) -> containerservice.AgentPoolSecurityProfileArgs | None:
    """Return a pool's Trusted Launch as AKS holds it.

    AKS keeps what a request omits, so both parts are sent, with the pool's current SSH access. A
    change replaces a spot pool: if the file asks for neither part, nothing is sent, otherwise every
    running spot pool would be replaced.
    """
    nodes = nodes_of(pool.source)
    if pool.spot and not (nodes.secure_boot or nodes.vtpm):
        return None
    ssh = ((live.profiles.get(pool.name) or {}).get(_SECURITY) or {}).get("sshAccess")
    return containerservice.AgentPoolSecurityProfileArgs(
        ssh_access=ssh, enable_secure_boot=nodes.secure_boot, enable_vtpm=nodes.vtpm
    )


def _trusted(profile: Mapping[str, Any]) -> bool:
    """Return whether a pool has Trusted Launch.

    Only a new pool gets the image of Trusted Launch; with it both parts can be switched (page
    use-trusted-launch).
    """
    security = profile.get(_SECURITY) or {}
    parts = (
        security.get("enableSecureBoot"),
        security.get("enableVTPM"),
        "TL" in profile.get("nodeImageVersion", ""),
    )
    return any(parts)


def _plain(value: Any) -> Any:
    return plain(value.get("driver") or "Install") if isinstance(value, Mapping) else plain(value)


def _shown(property: Immutable, value: Any) -> str:
    """Return the value as the stack file writes it."""
    match property.key:
        case "reservation":
            return str(value).rpartition("/")[2] or "unset"
        case "mig":
            return str(value).removeprefix("MIG") or "unset"
        case "installDriver":
            return immutable.as_written(_plain(value) == "install")
        case "subnet":
            *_, network, _, subnet = str(value).split("/")
            return f"{network}/{subnet}"
        case "zones":
            return f"[{', '.join(sorted(value))}]"
        case _:
            return immutable.as_written(value)


def pool_problems(
    stack: Stack, pool: NodePool, declared: Mapping[str, Any], live: LiveCluster
) -> Iterator[Problem]:
    """Yield a problem for each change of a live on-demand pool that AKS refuses or ignores.
    `declared`: the wanted entry.
    """
    profile = live.profiles.get(pool.name)
    if profile is None:
        return
    if profile.get("scaleSetPriority") == "Spot":
        yield from _edits(
            stack.path(pool), pool, {**_TAGGED, **declared}, profile, stack.last_update, None
        )
        return
    if pool.spot:
        yield immutable.becomes_spot(stack, pool)
        return
    path = stack.path(pool)
    letter = next_generation(pool.source, live.profiles, registry.cloud_of(stack.spec.cloud))
    remedy = f"add `generation: {letter}`: a new pool is made before the old one goes"
    yield from differences(path, declared, profile, remedy)
    yield from _dropped(path, pool.name, pool.source, stack.last_update, remedy)
    yield from _edits(path, pool, {**_TAGGED, **declared}, profile, stack.last_update, remedy)


def _edits(
    path: str,
    pool: NodePool,
    declared: Mapping[str, Any],
    profile: Mapping[str, Any],
    last_update: LastUpdate,
    remedy: str | None,
) -> Iterator[Problem]:
    yield from property_edits.of_pool(
        "azure",
        f"{path}.azure.properties",
        pool.name,
        nodes_of(pool.source).properties,
        declared,
        last_update,
        lambda place: at(profile, place),
        remedy,
    )


def _not_associated(path: str, name: str, group: str, remedy: str) -> Problem:
    """Return the problem of a live pool without its reservation.

    Either the pool is older than the line, or AKS did not associate the group, which draws only a
    warning (page use-capacity-reservation-groups). The live pool looks the same.
    """
    shown = group.rpartition("/")[2]
    what = (
        f"{name}: uses no reservation in the cluster, and AKS adds {shown} to no pool that exists"
    )
    advice = (
        f"{remedy}; if the pool was made with this line, AKS did not associate it: before that, "
        f"see that {shown} has machines of "
        "the pool's size and zones and that the cluster's identity is Contributor there, which "
        "may take an hour to work; or "
        "remove the line"
    )
    return Problem(f"{path}.reservation", what, advice)


def _dropped(
    path: str, name: str, pool: AnyPool, last_update: LastUpdate, remedy: str
) -> Iterator[Problem]:
    """Yield a problem for each dropped setting of the last update.

    AKS keeps it, and a GET shows it like a value that AKS chose itself.
    """
    now = lasting_settings(pool)
    for key, value in last_update.lasting_settings(name).items():
        if key not in now:
            shown = str(int(value)) if isinstance(value, float) else value
            yield Problem(
                f"{path}.{key}",
                f"{name}: was {shown}, and AKS keeps that for the pool's life",
                remedy,
            )


def system_problems(
    pool: NodePool, declared: Mapping[str, Any], live: LiveCluster, last_update: LastUpdate
) -> Iterator[Problem]:
    """Yield the problems of the system pool, as `pool_problems`; it has no generations."""
    if not live.profiles:
        return
    profile = live.profiles.get(pool.name)
    if profile is None:
        names = ", ".join(
            sorted(
                name for name, profile in live.profiles.items() if profile.get("mode") == "System"
            )
        )
        what = (
            f"{pool.name}: is no pool of the cluster, whose system pool is {names}; AKS adds none "
            "this way"
        )
        yield Problem("systemPool.name", what, BY_HAND)
        return
    yield from differences("systemPool", declared, profile, BY_HAND)
    yield from _dropped("systemPool", pool.name, pool.source, last_update, BY_HAND)
    yield from _edits("systemPool", pool, declared, profile, last_update, BY_HAND)
