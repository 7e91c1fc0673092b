"""Checks of where GPU machines are to be had. What is offered changes, so they only warn (config/clouds/README.md)."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds import machines
from config.clouds.gcp.traits import accelerator
from config.clouds.traits import Cloud
from config.draft import Draft, has_gpus
from config.model.stack import Pool
from config.problems import Problem

_SHOWN = 6
"""Regions named in a message."""


def _offered(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not draft.gcp or not draft.gcp.region or not has_gpus(pool, cloud):
        return
    model, region = cloud.gpus(pool)[1], draft.gcp.region
    everywhere, zones = machines.gcp_gpu_zones().get(accelerator(model)), machines.gcp_zones().get(region)
    # Of a GPU that is nowhere any more `gpus` says enough.
    if not everywhere or zones is None:
        return
    here = [zone for zone in zones if zone in everywhere]
    named = sorted(pool.zones or draft.gcp.zones) or ([draft.gcp.place or ""] if draft.gcp.zonal else [])
    remedy = (
        f"write `zones: [{', '.join(here)}]`"
        if here
        else f"another machine, or a region that has it: {_regions(everywhere)}"
    )
    without = [zone for zone in named if zone in zones and zone not in everywhere]
    if without:
        yield Problem(f"{path}.zones", f"has no {model} in {', '.join(without)}", remedy, warning=True)
    elif not named and len(here) < len(zones) and (draft.made_here or not here):
        # Page regional-clusters: three zones of GKE's choice.
        what = f"is unset: GKE chooses zones of {region}, and {model} is in {', '.join(here) or 'none of them'} only"
        yield Problem(f"{path}.zones", what if here else what.removesuffix(" only"), remedy, warning=True)


def _regions(zones: frozenset[str]) -> str:
    found = sorted({zone.rpartition("-")[0] for zone in zones})
    return ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")


POOL_RULES = (_offered,)
