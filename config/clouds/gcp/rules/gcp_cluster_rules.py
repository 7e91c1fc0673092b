"""Rules of the cluster: location, version, labels, monitoring, registries, buckets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from config.base import near
from config.base.near import with_form
from config.base.problems import Problem, as_path
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import (
    READ,
    accelerator,
    all_channels,
    channels,
    gpu_zones,
    machines,
    zones,
)
from config.clouds.tables import minor_number
from config.clouds.traits import Cloud
from config.model import repairs
from config.model.pool import AnyPool
from config.model.reading import doubled, of_each
from config.model.wording import ITSELF, NO_TEMPLATE
from config.rules.cluster_rules import KEPT, check_offered
from config.rules.declared_alerts_rules import declared_by
from config.rules.draft import Draft
from config.rules.name_rules import of_the_cloud
from config.rules.workload_rules import checkpoints

_MOST_LABELS = 64
_AS_WRITTEN = "it is passed on as written"


def _location(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.location is None:
        yield Problem(
            "cloud.location",
            "is missing",
            "add `location`, a region such as europe-west4 or a zone such as europe-west4-a",
        )


def _zones(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if len(set(gcp.zones)) < len(gcp.zones):
        yield Problem(
            "cloud.zones", f"names a zone twice: {', '.join(gcp.zones)}", "name each zone once"
        )
    yield from _outside("cloud.zones", gcp.zones, gcp, draft.pools.values())


def _zones_of_a_pool(path: str, pool: AnyPool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    gcp = draft.settings(Gcp)
    if gcp:
        written = tuple(zone for zone in pool.zones if re.fullmatch(cloud.zone_form, zone))
        yield from _outside(f"{path}.zones", written, gcp, [pool])


def _outside(
    path: str, written: tuple[str, ...], gcp: Gcp, pools: Iterable[AnyPool]
) -> Iterator[Problem]:
    region = gcp.region
    outside = [zone for zone in dict.fromkeys(written) if zone.rpartition("-")[0] != region]
    if region and outside:
        # Not every region has an a, or what the other has.
        there = zones().get(region, (f"{region}-b",))
        same = {zone: f"{region}-{zone.rpartition('-')[2]}" for zone in outside}
        right = [same.get(zone, zone) for zone in written]
        right = [zone for zone in dict.fromkeys(right) if zone in there] or list(there[:1])
        right = [zone for zone in right if _has_gpus(zone, pools)] or right
        regions = {zone.rpartition("-")[0] for zone in written}
        other = f"; or move to {regions.pop()} by `location`" if len(regions) == 1 else ""
        yield Problem(
            path,
            f"{', '.join(outside)} {'is' if len(outside) == 1 else 'are'} not in {region}, the "
            "cluster's region",
            f"write `zones: [{', '.join(right)}]`; {region} has {', '.join(there)}{other}",
        )


def _has_gpus(zone: str, pools: Iterable[AnyPool]) -> bool:
    """Return whether a zone has the GPUs of pools, as far as that is known."""
    sizes = (machines().get(size) for size in of_each(pools, lambda pool: pool.machine))
    there = (gpu_zones().get(accelerator(size.gpu_model)) for size in sizes if size)
    return all(zone in each for each in there if each)


def _place(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path = "cloud.existingCluster.location" if gcp.existing_cluster else "cloud.location"
    if not gcp.place or not gcp.region:
        return
    if gcp.region not in zones():
        known = chain.from_iterable(zones().values()) if gcp.zonal else zones()
        yield Problem(
            path,
            f"{gcp.place} is not a {'zone' if gcp.zonal else 'region'} that Google had in {READ}",
            near.did_you_mean(gcp.place, known)
            + f"`gcloud compute regions list` has all; {_AS_WRITTEN}",
            warning=True,
        )
    elif gcp.zonal:
        yield from _unknown(path, gcp.place)


def _known_zones(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for index, zone in enumerate(gcp.zones):
        if zone.rpartition("-")[0] == gcp.region:
            yield from _unknown(f"cloud.zones[{index}]", zone)


def _known_zones_of_a_pool(
    path: str, pool: AnyPool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    gcp = draft.settings(Gcp)
    for index, zone in enumerate(pool.zones if gcp else ()):
        if gcp and re.fullmatch(cloud.zone_form, zone) and zone.rpartition("-")[0] == gcp.region:
            yield from _unknown(f"{path}.zones[{index}]", zone)


def _unknown(path: str, zone: str) -> Iterator[Problem]:
    """Warn of a zone that a known region did not have; Google adds zones."""
    had = zones().get(zone.rpartition("-")[0], ())
    if had and zone not in had:
        yield Problem(
            path,
            f"{zone} is not a zone that Google had in {READ}",
            f"one of: {', '.join(had)}; {_AS_WRITTEN}",
            warning=True,
        )


def _version(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = draft.own_version()
    if own:
        command = "gcloud container get-server-config --format='yaml(channels)'"
        yield from check_offered(*own, all_channels(), cloud.title, command)


def _channel(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    version = draft.kubernetes_version
    # `_version` has a version of the file's own that no channel has.
    if not version or (draft.own_version() and not all_channels().has(version)):
        return
    name = gcp.release_channel
    channel, minor = channels()[name], ".".join(version.split(".")[:2])
    if not channel.has(minor):
        others = [other for other, channel in channels().items() if channel.has(minor)]
        kept = f"; {KEPT}" if minor_number(minor) < minor_number(channel.first) else ""
        yield Problem(
            "cloud.releaseChannel",
            f"is {name}, which in {channel.read} had Kubernetes {channel.first} to "
            f"{channel.last}, not {minor}{kept}",
            f"one of: {', '.join(others)}" if others else "another Kubernetes version",
            # Versions enter a channel and leave it (page release-channels); clusters keep them for
            # a while.
            warning=True,
        )


def _patch(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path, version = draft.own_version() or ("", "")
    if version.count(".") == 2:
        yield Problem(
            path,
            f"is {version}: the release channel moves on, and drops this patch for new clusters",
            f'write "{version.rpartition(".")[0]}"',
            warning=True,
        )


_KEY, _VALUE = r"[a-z][-a-z0-9]{0,62}", r"[-a-z0-9]{1,63}"
"""Forms of a label that everybody can type."""


def _labels(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Check tags, which become resource labels (page creating-managing-labels) in any alphabet."""
    tags = draft.cluster.tags if draft.cluster else {}
    if len(tags) > _MOST_LABELS:
        yield Problem("cluster.tags", f"has {len(tags)} tags", f"at most {_MOST_LABELS}")
    for name, value in tags.items():
        path = f"cluster.tags{as_path(name)}"
        wrong_key = not re.fullmatch(r"[^\W\d_][-\w]{0,62}", name) or name != name.lower()
        wrong_value = not re.fullmatch(r"[-\w]{0,63}", value) or value != value.lower()
        template = repairs.is_placeholder(value)
        pair = f"{with_form(name, _KEY)}{with_form(value, _VALUE)}"
        both = re.fullmatch(r"write for example (\S+); write for example (\S+); ", pair)
        if wrong_key and wrong_value and both and not template:
            yield Problem(
                path,
                f"{name!r} is not a valid key of a Google label, nor {value!r} a valid value",
                f"write for example `{both[1]}: {both[2]}`; at most 63 lower-case letters, digits, "
                "_ and -, a letter first in a key",
            )
            continue
        if wrong_key:
            yield Problem(
                path,
                f"{name!r} is not a valid key of a Google label",
                with_form(name, _KEY)
                + "at most 63 lower-case letters, digits, _ and -, a letter first",
            )
        elif name.startswith(cloud.own_beginning):
            yield of_the_cloud(path, cloud)
        if template:
            yield Problem(path, f"is {value!r}, {NO_TEMPLATE}", ITSELF)
        elif wrong_value:
            yield Problem(
                path,
                f"is {value!r}, not a valid value of a Google label",
                with_form(value, _VALUE) + "at most 63 lower-case letters, digits, _ and -",
            )


_SYSTEM = "SYSTEM_COMPONENTS"


def _logging(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    yield from _doubled("cloud.logging.components", gcp.logging.components)


def _monitoring(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    path, kept = "cloud.monitoring.components", gcp.monitoring.components
    yield from _doubled(path, kept)
    if kept and _SYSTEM not in kept:
        # cloud.google.com/stackdriver/docs/solutions/gke/managing-metrics: GKE always keeps them.
        yield Problem(
            path,
            f"is without {_SYSTEM}, which GKE keeps if it keeps any",
            f"add {_SYSTEM}, or write []",
        )


def _doubled(path: str, kept: tuple[str, ...]) -> Iterator[Problem]:
    for index, component in enumerate(kept):
        if component in kept[:index]:
            yield Problem(
                f"{path}[{index}]", f"{component} is in the list twice", "remove one of them"
            )


_MULTI_REGIONS = ("asia", "europe", "us")
"""docs.cloud.google.com/artifact-registry/docs/repositories/repo-locations"""


def _registry_doubled(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    registries = [
        (f"cloud.registries[{index}]", registry) for index, registry in enumerate(gcp.registries)
    ]
    for path, first, _ in doubled(
        registries,
        lambda registry: (registry.project or gcp.project, registry.location, registry.repository),
    ):
        yield Problem(path, f"is the repository of {first}", "remove one of them")


def _registry_location(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, location in of_each(
        enumerate(gcp.registries),
        lambda numbered: (f"cloud.registries[{numbered[0]}].location", numbered[1].location),
    ):
        if location not in (*zones(), *_MULTI_REGIONS):
            yield Problem(
                path,
                f"{location} is not a location that Google had in {READ}",
                near.did_you_mean(location, (*zones(), *_MULTI_REGIONS))
                + "`gcloud artifacts locations list` has all; it is passed on as written",
                warning=True,
            )


_BUCKET = r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]"
"""docs.cloud.google.com/storage/docs/buckets, "Bucket name requirements". A name with dots needs a
verified domain; the stack makes no such bucket."""

_DOTTED = r"[a-z0-9][a-z0-9_.-]{1,220}[a-z0-9]"


def _name(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    name = wanted.name if wanted else None
    path = "workloads.checkpoints.name"
    if name is None:
        return
    if not re.fullmatch(_BUCKET, name):
        what = f"{name!r} is not a valid name for a bucket"
        remedy = "3 to 63 lower-case letters, digits, - and _, first and last a letter or digit"
        yield Problem(path, what, with_form(name.removeprefix("gs://"), _BUCKET) + remedy)
    # Same page. Spellings near `google` are refused as well, which the page does not list.
    elif name.startswith("goog") or "google" in name:
        yield Problem(
            path,
            f"{name!r} begins with goog or holds google, which Google keeps",
            "take another name",
        )


def _existing(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    name = wanted.existing if wanted else None
    if name is not None and not re.fullmatch(_DOTTED, name):
        what = f"{name!r} is not the name of a bucket"
        yield Problem(
            "workloads.checkpoints.existing", what, "write the bucket's name alone, without gs://"
        )


def _alerts(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if declared_by(draft) == "cloud" and not gcp.monitoring.managed_prometheus:
        yield Problem(
            "alerts.declare",
            "is cloud, and no managed Prometheus reads the rules",
            "remove `managedPrometheus: false` under `cloud.monitoring`, or write `operator`",
        )


NEW_CLUSTER_RULES = (
    _location,
    _version,
    _channel,
    _patch,
    _logging,
    _monitoring,
    _name,
    _existing,
    _alerts,
)
CLOUD_RULES = (_place, _zones, _known_zones, _registry_doubled, _registry_location)
RULES = (_labels,)
ANY_POOL_RULES = (_zones_of_a_pool, _known_zones_of_a_pool)
