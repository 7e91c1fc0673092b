"""Checks of the cluster itself that are Google's: place, zones, version and channel, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.clouds import machines
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.stack import Pool, SystemPool
from config.problems import Problem

_MOST_LABELS = 64


def _location(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.new_gke and draft.new_gke.location is None:
        yield Problem(
            "cloud.location",
            "is missing",
            "add `location`, a region such as europe-west4 or a zone such as europe-west4-a",
        )


def _zones(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    zones = draft.gcp.zones if draft.gcp else ()
    if len(set(zones)) < len(zones):
        yield Problem("cloud.zones", f"names a zone twice: {', '.join(zones)}", "name each zone once")
    yield from _outside("cloud.zones", zones, draft)


def _zones_of_a_pool(path: str, pool: Pool | SystemPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from _outside(
        f"{path}.zones", tuple(zone for zone in pool.zones if re.fullmatch(cloud.zone_form, zone)), draft
    )


def _outside(path: str, zones: tuple[str, ...], draft: Draft) -> Iterator[Problem]:
    region = draft.gcp.region if draft.gcp else None
    for zone in dict.fromkeys(zones):
        if region and zone.rpartition("-")[0] != region:
            # Every region has a b; not all have an a or what the other has.
            yield Problem(path, f"{zone} is not in {region}, the cluster's region", f"a zone of it, such as {region}-b")


def _channel(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    version = draft.kubernetes_version
    if not draft.new_gke or not version:
        return
    name, channels = draft.new_gke.release_channel, machines.gke_channels()
    channel, minor = channels[name], ".".join(version.split(".")[:2])
    if not channel.has(minor):
        others = [other for other, found in channels.items() if found.has(minor)]
        yield Problem(
            "cloud.releaseChannel",
            f"is {name}, which in {channel.read} had Kubernetes {channel.first} to {channel.last}, not {minor}",
            f"one of: {', '.join(others)}" if others else "another Kubernetes version",
            warning=True,
        )


def _patch(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path, version = draft.own_version() or ("", "")
    if draft.new_gke and version.count(".") == 2:
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


RULES = (_location, _zones, _channel, _patch, _labels)
ANY_POOL_RULES = (_zones_of_a_pool,)
