"""Checks of the zones that offer GPU machines. Offers change, so they only warn (config/clouds/gcp/README.md)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp.gcp_machines import accelerator
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_zones import gpu_zones, zones
from config.clouds.traits import Cloud
from config.model.pool import Pool
from config.rules.draft import Draft, has_gpus

_SHOWN = 6
"""Regions named in a message."""


def _offered(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    gcp = draft.settings(Gcp)
    if not gcp or not gcp.region or not has_gpus(pool, cloud):
        return
    model, region = cloud.gpus(pool)[1], gcp.region
    everywhere, of_the_region = gpu_zones().get(accelerator(model)), zones().get(region)
    # `gpus` reports a GPU that no zone offers any more.
    if not everywhere or of_the_region is None:
        return
    here = [zone for zone in of_the_region if zone in everywhere]
    named = sorted(pool.zones or gcp.zones) or ([gcp.place or ""] if gcp.zonal else [])
    remedy = (
        f"write `zones: [{', '.join(here)}]`"
        if here
        else f"another machine, or a region that has it: {_regions(everywhere)}"
    )
    without = [zone for zone in named if zone in of_the_region and zone not in everywhere]
    if without:
        inherited = (
            "" if pool.zones else f"is unset, and {'cloud.zones' if gcp.zones else 'the cluster'} "
        )
        what = f"{inherited}has no {model} in {', '.join(without)}: GKE refuses the pool, half way through an `up`"
        yield Problem(f"{path}.zones", what, remedy, warning=True)
    elif not named and len(here) < len(of_the_region) and (draft.makes_cluster or not here):
        # Page regional-clusters: three zones of GKE's choice.
        what = f"is unset: GKE chooses zones of {region}, and {model} is in {', '.join(here) or 'none of them'} only"
        yield Problem(
            f"{path}.zones", what if here else what.removesuffix(" only"), remedy, warning=True
        )


def _regions(zones: frozenset[str]) -> str:
    regions = sorted({zone.rpartition("-")[0] for zone in zones})
    return ", ".join(regions[:_SHOWN]) + (", ..." if len(regions) > _SHOWN else "")


POOL_RULES = (_offered,)
