"""Machines and GPUs in the zones that GKE would take for a pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checks.check import NotSeen, Remark, note, ok, some, wrong
from checks.preflight.answers import Answers, Document
from checks.preflight.demand import Need
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator

_TAKEN = 3
"""Zones that GKE takes of a region where nobody names any (page regional-clusters)."""


def settings(answers: Answers) -> Gcp:
    """Return the stack file's `cloud`."""
    cloud = answers.demand.spec.cloud
    assert isinstance(cloud, Gcp)
    return cloud


def last_part(url: object) -> str:
    """Return the name at the end of an address."""
    return str(url).rpartition("/")[2]


def named_zones(cloud: Gcp) -> tuple[str, ...]:
    """Return the file's zones for pools without own zones, with a zonal cluster's own zone."""
    own = (cloud.place,) if cloud.zonal and cloud.place else ()
    return tuple(sorted({*cloud.zones, *own}))


def offered_zones(cloud: Gcp, region: Document | None) -> tuple[str, ...]:
    """Return the zones of a pool that names none: the file's, else all of the region."""
    return named_zones(cloud) or tuple(sorted(map(last_part, (region or {}).get("zones") or ())))


def machines(answers: Answers) -> Iterator[Remark]:
    """Check that each zone of a pool offers its machine and its GPU."""
    cloud = settings(answers)
    region = answers.part("region")
    if region is None:
        yield wrong(
            f"there is no region {cloud.region}, or the project may not use it",
            "correct `cloud.location`",
        )
        return
    if region.get("status") == "DOWN":
        yield wrong(f"region {cloud.region} is down", "wait, or choose another region")
        return
    unknown = sorted(set(cloud.zones) - set(map(last_part, region.get("zones") or ())))
    if unknown:
        yield wrong(
            f"region {cloud.region} has no zone {', '.join(unknown)}", "correct `cloud.zones`"
        )
        return
    fine = True
    for need in answers.demand.needs:
        for remark in _of_machine(answers, need, offered_zones(cloud, region)):
            fine = False
            yield remark
    if fine:
        yield ok(f"{cloud.place} has {some({need.machine for need in answers.demand.needs})}")


def _of_machine(answers: Answers, need: Need, offered: tuple[str, ...]) -> Iterator[Remark]:
    """Check one pool: each zone must have both the machine and the GPU.

    A pool without zones has those of its cluster, and GKE refuses it where one of them lacks the
    GPU (GoogleCloudPlatform/kubernetes-engine-samples 1738).
    """
    named = need.zones or named_zones(settings(answers))
    zones = need.zones or offered
    lacking = {zone: names for zone in zones if (names := _lacking(answers, need, zone))}
    if not lacking:
        return
    what = " and ".join(sorted({name for names in lacking.values() for name in names}))
    having = [zone for zone in zones if zone not in lacking]
    says = f"{what} of pool {need.pool} is not offered in {some(lacking)}"
    remedy = (
        f"write `zones: [{', '.join(having)}]` in the pool, or choose another machine"
        if having
        else "choose zones that have it (gcloud compute accelerator-types list), or another machine"
    )
    if named or not having:
        yield wrong(says, remedy)
        return
    cluster = answers.part("cluster")
    if cluster is not None:
        taken = sorted(set(cluster.get("locations") or ()) & set(lacking))
        if taken:
            yield wrong(f"{says}, and {', '.join(taken)} is a zone of the cluster's nodes", remedy)
    elif len(zones) <= _TAKEN:
        yield wrong(
            f"{says}, and GKE gives a pool without `zones` every zone of"
            f" {settings(answers).region}",
            remedy,
        )
    else:
        yield note(
            f"{says}: of the {len(zones)} zones of the region GKE takes {_TAKEN}, and may take it",
            remedy,
        )


def _lacking(answers: Answers, need: Need, zone: str) -> list[str]:
    kinds = [("machineTypes", need.machine)]
    if need.gpus:
        kinds.append(("acceleratorTypes", accelerator(need.gpu_model)))
    return [name for kind, name in kinds if entry(answers, kind, zone, name) is None]


def entry(answers: Answers, kind: str, zone: str, name: str) -> Any:
    """Return a zone's answer for a name of a kind. Raises `NotSeen`."""
    key = f"{zone}/{name}"
    if key in answers.unseen:
        raise NotSeen(f"{key}: {answers.unseen[key]}")
    return answers.part(kind).get(key)


def groups(cluster: Document | None) -> Iterator[tuple[Document, str, str]]:
    """Yield node pool, zone and name of each instance group of a cluster."""
    for pool in (cluster or {}).get("nodePools") or ():
        for url in pool.get("instanceGroupUrls") or ():
            parts = str(url).split("/")
            if len(parts) > 3:
                yield pool, parts[-3], parts[-1]


def live(answers: Answers) -> Mapping[tuple[str, str], int]:
    """Return the number of live nodes by pool and machine. Raises `NotSeen`."""
    nodes: dict[tuple[str, str], int] = {}
    for pool, zone, group in groups(answers.part("cluster")):
        size = (entry(answers, "groups", zone, group) or {}).get("size", 0)
        key = (pool["name"], str((pool.get("config") or {}).get("machineType", "")))
        nodes[key] = nodes.get(key, 0) + int(size)
    return nodes
