"""Rules of the cluster autoscaler's settings. They warn: AKS takes all of them, but spot and
fallback suffer.

Sources: recordings of the real cluster-autoscaler 1.36.1; AKS' page cluster-autoscaler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import wraps
from typing import TypeAlias

from config.base.problems import Problem
from config.clouds.azure import unready
from config.clouds.azure.azure_autoscaler import AzureAutoscaler, pinned_autoscaler
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.rules.azure_expander_rules import grown
from config.clouds.traits import Cloud, PoolBounds
from config.model.cluster import seconds
from config.model.pool import Pool
from config.placement import object_names
from config.rules.chain_rules import accepted_wait
from config.rules.draft import Draft, has_gpus

CloudRule: TypeAlias = Callable[[Azure, Draft, Cloud], Iterator[Problem]]

_PATH = "cloud.autoscaler"

_LONGER = "a longer growth.acceptedWait"

_AGE = {True: 30, False: 2}
"""Seconds that a pod must be pending before a pool grows, with GPUs and without (recordings)."""

_FIRST_PAUSE, _LONGEST_PAUSE = 300, 1800
"""Seconds for which a failed pool is skipped: the first time, and at most; it doubles in between.
AKS has no key for either (`--initial-node-group-backoff-duration`,
`--max-node-group-backoff-duration`)."""

_COMES = {True: 10, False: 4}
"""Minutes until a machine of AKS works, with GPUs and without. No source has the distribution.
Seen: 3 to 7 minutes for a node (ANZAzureDevs/New-Breakpoint, pull request 37), 5 to 11 with
A100s (question 12767836 of learn.microsoft.com/answers, 2026), more than 10 for A10s, A100s and
H100s (Azure/telescope, pull request 1322, 2026)."""

_ENDLESS = 24 * 3600
"""A chain that goes round for so many seconds does not end."""


@dataclass(frozen=True)
class _Timers:
    """The timers that a cluster of the stack file gets."""

    provision: str
    scan: str
    delay: str
    pinned: bool
    """Whether `provision` is the release's own."""

    @property
    def step(self) -> int:
        """Seconds for which a pool delays the next one: a request is given up at the next look."""
        return seconds(self.provision) + seconds(self.scan)

    def first(self, gpus: bool) -> int:
        """Return the seconds before the first pool grows for a pod."""
        return max(_AGE[gpus], seconds(self.delay))

    def requests(self, pools: int) -> int:
        """Return how often silent pools are asked before the next one: again after each pause."""
        free, pauses, now, count = [0] * pools, [_FIRST_PAUSE] * pools, 0, 0
        while (
            now < _ENDLESS
            and (asked := next((index for index, at in enumerate(free) if at <= now), None))
            is not None
        ):
            now, count = now + self.step, count + 1
            free[asked], pauses[asked] = now + pauses[asked], min(2 * pauses[asked], _LONGEST_PAUSE)
        return count

    def wait(self, pools: int, gpus: bool) -> int:
        """Return the seconds that a pod waits for the next step, at most `_ENDLESS`."""
        return min(self.first(gpus) + self.requests(pools) * self.step, _ENDLESS)


def _timers(own: AzureAutoscaler, release: AzureAutoscaler) -> _Timers:
    return _Timers(
        own.max_node_provision_time or release.max_node_provision_time or "15m",
        own.scan_interval or release.scan_interval or "10s",
        own.new_pod_scale_up_delay or release.new_pod_scale_up_delay or "0s",
        pinned=not own.max_node_provision_time,
    )


def _of_the_autoscaler(rule: CloudRule) -> CloudRule:
    """Make a rule end where node auto-provisioning takes the autoscaler's place."""

    @wraps(rule)
    def judged(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        if azure.node_provisioning is None:
            yield from rule(azure, draft, cloud)

    return judged


def _warning(key: str, what: str, remedy: str) -> Problem:
    return Problem(f"{_PATH}.{key}", what, remedy, warning=True)


@_of_the_autoscaler
def _expander(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = azure.autoscaler
    if draft.spot_pools() and profile.expander != "priority":
        yield _warning(
            "expander",
            f"is {profile.expander}: neither spot pools nor fallback chains keep their order",
            "write priority, or leave it out",
        )


@_of_the_autoscaler
def _provision_time(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn if pods of a chain wait longer than accepted; once, for the chain that waits longest."""
    if not draft.release or azure.autoscaler.expander != "priority":
        return
    timers = _timers(azure.autoscaler, pinned_autoscaler(draft.release))
    accepted = accepted_wait(draft)
    kept = {pool.name for pool in draft.pools_where(lambda pool: not pool.reclaimable)}
    order = grown(draft, draft.pools_where(lambda pool: True), cloud)
    chains = draft.of_pools(
        lambda pool: (
            (_steps(pool, kept, order, cloud), has_gpus(pool, cloud))
            if pool.reclaimable
            else ([], False)
        )
    )
    waits = {
        timers.wait(len(steps) - 1, gpus): (steps, gpus) for steps, gpus in chains if len(steps) > 1
    }
    if not waits or max(waits) <= seconds(accepted):
        return
    wait = max(waits)
    steps, gpus = waits[wait]
    silent = steps[:-1]
    times = [f"{minutes}m" for minutes in range(_COMES[gpus], 61)]
    enough = [
        time
        for time in times
        if replace(timers, provision=time).wait(len(silent), gpus) <= seconds(accepted)
    ]
    yield _warning(
        "maxNodeProvisionTime",
        f"is {timers.provision}{' by the release' if timers.pinned else ''}: if no machine "
        f"comes, pods of {steps[0]} "
        f"{f'wait {_words(wait)} for' if wait < _ENDLESS else 'never get'} {steps[-1]} "
        f"({timers.first(gpus)} s, then {timers.provision} for {_requests(timers, silent)}); "
        f"growth.acceptedWait is {accepted}",
        f"at most {enough[-1]}, or {_LONGER}" if enough else f"a shorter chain, or {_LONGER}",
    )


@_of_the_autoscaler
def _too_short(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn if machines are given up while they boot, and ordered again endlessly."""
    limit, with_gpus = (
        azure.autoscaler.max_node_provision_time,
        any(draft.of_pools(lambda pool: has_gpus(pool, cloud))),
    )
    if limit and with_gpus and seconds(limit) < 60 * _COMES[True]:
        yield _warning(
            "maxNodeProvisionTime",
            f"is {limit}: AKS takes 4 to 11 minutes for a machine with GPUs; a later one is "
            "deleted and ordered again, endlessly",
            f"at least {_COMES[True]}m, or leave it out, unless you have measured your machines",
        )


def _requests(timers: _Timers, silent: Sequence[str]) -> str:
    # A pool is asked again, before later ones, after its back-off.
    count = timers.requests(len(silent))
    often = "endless" if count * timers.step >= _ENDLESS else str(count)
    return f"{often} request{'' if count == 1 else 's'} to {', '.join(silent)}"


def _steps(pool: Pool, kept: Set[str], order: Sequence[str], cloud: Cloud) -> list[str]:
    """Return a chain's pools, as they grow, up to the first that is not evicted, or its twin."""
    steps: list[str] = []
    for name in object_names.chain(pool):
        steps.append(name)
        if name in kept:
            return steps
    twin = object_names.twin_name(pool, cloud)
    before = order[: order.index(twin)] if twin in order else order
    return [
        *(name for name in steps if name in before or name not in order),
        *([twin] if twin else []),
    ]


def _words(wait: int) -> str:
    return f"{wait // 60} min {wait % 60} s"


@_of_the_autoscaler
def _scan(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    profile = azure.autoscaler
    limit = profile.max_node_provision_time
    if (
        draft.spot_pools()
        and limit
        and profile.scan_interval
        and seconds(profile.scan_interval) >= seconds(limit)
    ):
        yield _warning(
            "scanInterval",
            f"is {profile.scan_interval}: machines that miss {limit} are given up at the next look",
            "much shorter than maxNodeProvisionTime; AKS has 10s",
        )


@_of_the_autoscaler
def _unready(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn if losing some pools leaves so few nodes that the autoscaler stops for all."""
    release, system = draft.release, draft.system_pool
    if not release or not system or not draft.all_pools:
        return
    bounds = list(_bounds(draft, cloud))
    limits = unready.chosen(azure.autoscaler, pinned_autoscaler(release), bounds, system.min_nodes)
    stopping = [
        loss for loss in unready.losses(bounds, system.min_nodes) if limits.stopped_by(loss)
    ]
    if stopping:
        loss = max(stopping, key=lambda loss: loss.percentage)
        yield _warning(
            "maxTotalUnreadyPercentage",
            f"is {limits.percentage}: {loss.lost} unready nodes ({', '.join(loss.pools)}) can be "
            f"{loss.percentage} % of all; the autoscaler then stops for every pool until they are "
            "ready or gone",
            f"leave it and okTotalUnreadyCount out, or set that to {loss.lost}",
        )


def _bounds(draft: Draft, cloud: Cloud) -> Iterator[PoolBounds]:
    for pool in draft.pools.values():
        least = pool.least_nodes(draft.cloud)
        if least is None:
            least = 0 if pool.reclaimable or cloud.gpus(pool)[0] else 1
        yield PoolBounds(pool.name, least, pool.most_nodes(draft.cloud), pool.reclaimable)
        if twin := object_names.twin_name(pool, cloud):
            steps = (step.on_demand for step in pool.fallback if step.on_demand)
            yield PoolBounds(twin, 0, next(steps).max_nodes, reclaimable=False)


@_of_the_autoscaler
def _unread_order(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and azure.autoscaler.expander != "priority":
        yield Problem(
            "growth.order",
            f"is never read: {_PATH}.expander is {azure.autoscaler.expander}",
            "remove it, or set that to priority",
            warning=True,
        )


@_of_the_autoscaler
def _unread_groups(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.expander and draft.expander.other_groups and azure.autoscaler.expander != "priority":
        yield Problem(
            "expander.otherGroups",
            f"is never read: {_PATH}.expander is {azure.autoscaler.expander}",
            "remove it, or set that to priority",
        )


@_of_the_autoscaler
def _balanced(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.autoscaler.balance_similar_node_groups:
        yield _warning(
            "balanceSimilarNodeGroups",
            "does nothing: similar pools have equal labels, and each pool of a stack has its own",
            "remove it",
        )


NEW_CLUSTER_RULES = (
    _expander,
    _balanced,
    _provision_time,
    _too_short,
    _scan,
    _unready,
    _unread_order,
    _unread_groups,
)
