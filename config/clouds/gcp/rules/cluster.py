"""Checks of the cluster itself that are Google's: place, zones, version and channel, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.clouds.gcp.channels import channels
from config.clouds.gcp.settings import Gcp
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.pool import AnyPool
from config.problems import Problem

_MOST_LABELS = 64


def _location(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.location is None:
        yield Problem(
            "cloud.location",
            "is missing",
            "add `location`, a region such as europe-west4 or a zone such as europe-west4-a",
        )


def _zones(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    zones = gcp.zones
    if len(set(zones)) < len(zones):
        yield Problem("cloud.zones", f"names a zone twice: {', '.join(zones)}", "name each zone once")
    yield from _outside("cloud.zones", zones, gcp)


def _zones_of_a_pool(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    gcp = draft.settings(Gcp)
    if gcp:
        zones = tuple(zone for zone in pool.zones if re.fullmatch(cloud.zone_form, zone))
        yield from _outside(f"{path}.zones", zones, gcp)


def _outside(path: str, zones: tuple[str, ...], gcp: Gcp) -> Iterator[Problem]:
    region = gcp.region
    for zone in dict.fromkeys(zones):
        if region and zone.rpartition("-")[0] != region:
            # Every region has a b; not all have an a or what the other has.
            yield Problem(path, f"{zone} is not in {region}, the cluster's region", f"a zone of it, such as {region}-b")


def _channel(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    version = draft.kubernetes_version
    if not version:
        return
    name = gcp.release_channel
    channel, minor = channels()[name], ".".join(version.split(".")[:2])
    if not channel.has(minor):
        others = [other for other, found in channels().items() if found.has(minor)]
        yield Problem(
            "cloud.releaseChannel",
            f"is {name}, which in {channel.read} had Kubernetes {channel.first} to {channel.last}, not {minor}",
            f"one of: {', '.join(others)}" if others else "another Kubernetes version",
            warning=True,
        )


def _patch(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path, version = draft.own_version() or ("", "")
    if version.count(".") == 2:
        yield Problem(
            path,
            f"is {version}: the release channel moves on to later patches, and drops this one for new clusters",
            f'write "{version.rpartition(".")[0]}"',
            warning=True,
        )


def _labels(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Tags become resource labels (page creating-managing-labels), whose letters may be any alphabet's."""
    tags = draft.cluster.tags if draft.cluster else {}
    if len(tags) > _MOST_LABELS:
        yield Problem("cluster.tags", f"has {len(tags)} tags", f"at most {_MOST_LABELS}")
    for name, value in tags.items():
        path = f"cluster.tags.{name}" if re.fullmatch(r"\w+", name) else f'cluster.tags["{name}"]'
        if not re.fullmatch(r"[^\W\d_][-\w]{0,62}", name) or name != name.lower():
            yield Problem(
                path,
                f"{name!r} is no key of a label of Google's",
                "at most 63 lower-case letters, digits, _ and -, a letter first",
            )
        if not re.fullmatch(r"[-\w]{0,63}", value) or value != value.lower():
            yield Problem(
                path, f"is {value!r}, no value of a label of Google's", "at most 63 lower-case letters, digits, _ and -"
            )


NEW_CLUSTER_RULES = (_location, _channel, _patch)
CLOUD_RULES = (_zones,)
RULES = (_labels,)
ANY_POOL_RULES = (_zones_of_a_pool,)
