"""Rules of what a chain of GPU pools can lose at once: one family and zone, more than its twin
holds. They warn.

Figures: measurements of spot GPUs on AWS, 2022 and 2023 (github.com/skypilot-org/spot-traces,
commit 221da1a, the data of "Can't Be Late", NSDI 2024): single machines were available 12 to 90 %
of the time, by zone; a median gap lasted 12 to 48 minutes, one in ten over 1 to 24 hours.
"Spot-and-Scoot" (2026; AWS and Azure): in over 92 % of co-interruptions the machines of one type
and zone go within three minutes. That a whole family goes together is inferred. Pools without GPUs
were hardly measured, and on-demand CPU machines are available.
"""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.cluster import Growth, seconds
from config.model.fields import Unreadable
from config.model.pool import Pool
from config.model.reading import of_each, where
from config.placement import object_names
from config.rules.draft import Draft, has_gpus

_ACCEPT = "`growth.acceptedWait: 24h` where the work can wait"

_LONGEST_GAP = 24 * 3600
"""A team that accepts this wait waits for spot."""

_SHARE = 4
"""A twin of less than a quarter of its spot draws a warning. Few teams pay for half of it, and a
warning in every stack says nothing: a drill has the figure of each stack."""


def accepted_wait(draft: Draft) -> str:
    """Return the accepted wait for pods of a chain. Raise `Unreadable` if it cannot be read."""
    return (draft.growth or Growth()).accepted_wait


def _waits_for_spot(draft: Draft) -> bool:
    return seconds(accepted_wait(draft)) >= _LONGEST_GAP


def _chain(pool: Pool, draft: Draft, cloud: Cloud) -> list[Pool]:
    """Return a GPU pool's chain, if it begins one, without twin; or raise `Unreadable`."""
    if not (cloud.makes_pools and pool.reclaimable and pool.fallback and has_gpus(pool, cloud)):
        return []
    by_name = dict(draft.of_pools(lambda other: (other.name, other)))
    if not set(object_names.chain(pool)) <= by_name.keys():
        raise Unreadable("fallback")
    return [by_name[name] for name in object_names.chain(pool)]


def _others(members: list[Pool], draft: Draft, cloud: Cloud) -> list[Pool]:
    """Return the readable GPU pools outside the chain, where its pods may run as well."""
    return draft.pools_where(lambda pool: pool not in members and has_gpus(pool, cloud))


def _at_once(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    members = _chain(pool, draft, cloud)
    if not members or object_names.twin_name(pool, cloud) or _waits_for_spot(draft):
        return
    if not all(other.taken_back for other in members):
        return
    machines = [cloud.machine(other.machine) for other in members]
    families = {machine.family for machine in machines if machine}
    zones = {frozenset(cloud.pool_zones(draft.cloud, other)[0]) for other in members}
    if not all(machines) or families & {""} or len(families) > 1 or len(zones) > 1:
        return
    for other in _others(members, draft, cloud):
        machine = cloud.machine(other.machine)
        if (
            not other.taken_back
            or object_names.twin_name(other, cloud)
            or not machine
            or machine.family not in families
        ):
            return
    zone = ", ".join(sorted(zones.pop()))
    yield Problem(
        f"{path}.fallback",
        f"ends on spot of one family ({', '.join(other.name for other in members)}"
        f"{f' in {zone}' if zone else ''}), whose machines are lost together: all pods then wait",
        f"end it with `{{onDemand: {{maxNodes: N}}}}`, or with another family or zones; or {_ACCEPT}",
        warning=True,
    )


def _small_twin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    members = _chain(pool, draft, cloud)
    twins = of_each(pool.fallback, lambda step: step.on_demand.max_nodes if step.on_demand else 0)
    if not members or not any(twins) or _waits_for_spot(draft):
        return

    def gpus(nodes: int, of: Pool) -> int:
        return nodes * cloud.gpus(of)[0]

    spot = sum(gpus(other.most_nodes(draft.cloud), other) for other in members if other.taken_back)
    # Reserved machines are there, and flex-start's may come: neither goes with spot.
    fixed = [other for other in (*members, *_others(members, draft, cloud)) if not other.taken_back]
    on_demand = gpus(sum(twins), pool) + sum(
        gpus(other.most_nodes(draft.cloud), other) for other in fixed
    )
    if _SHARE * on_demand < spot:
        enough = sum(twins) + -(-(-(-spot // _SHARE) - on_demand) // cloud.gpus(pool)[0])
        yield Problem(
            f"{path}.fallback",
            f"has on-demand GPUs for {on_demand} of {spot} on spot: without spot, pods for the other "
            f"{spot - on_demand} wait for hours",
            f"write `onDemand: {{maxNodes: {enough}}}` or more; or {_ACCEPT}",
            warning=True,
        )


def _one_zone(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn once if all spot GPUs of the stack come from one zone of several."""
    if not cloud.makes_pools or _waits_for_spot(draft):
        return
    spot = where(draft.pools.items(), lambda pair: pair[1].taken_back and has_gpus(pair[1], cloud))
    if not spot:
        return
    places = [cloud.pool_zones(draft.cloud, pool) for _, pool in spot]
    named = {zones for zones, _ in places}
    offered = max(most for _, most in places)
    if len(named) == 1 and len(zones := named.pop()) == 1 and offered > 1:
        yield Problem(
            f"pools[{spot[0][0]}].zones",
            f"leaves all spot GPUs to zone {zones[0]}, one of {offered}; zones lose spot at "
            "different hours",
            f"name more zones, or a fallback in another zone; or {_ACCEPT}",
            warning=True,
        )


RULES = (_one_zone,)
POOL_RULES = (_at_once, _small_twin)
