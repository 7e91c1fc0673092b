"""Checks of placement by default, of the guard, and of what users are told."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.traits import Cloud
from config.draft import Draft, has_gpus
from config.model.fields import readable
from config.model.pool import Capacity, Pool
from config.model.scheduling import Defaults, KindDefaults, Placement, Scheduling
from config.model.taint import Effect
from config.placement import node_pools as placed
from config.placement.node_pools import GPU_TAINT
from config.problems import Problem

_EVERYBODY = {
    # cloud.google.com/kubernetes-engine/docs/best-practices/rbac
    "system:authenticated": "on GKE everybody with a Google account",
    "system:unauthenticated": "everybody who reaches the API server",
}

_KUBERNETES = "kube-"
"""Namespaces of Kubernetes' own; nobody else is to make such
(kubernetes.io/docs/concepts/overview/working-with-objects/namespaces)."""


def _enabled(draft: Draft) -> Scheduling | None:
    return draft.scheduling if draft.scheduling and draft.scheduling.enabled else None


def _disabled(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.scheduling and not draft.scheduling.enabled:
        for name in sorted(draft.scheduling.model_fields_set - {"enabled"}):
            yield Problem(
                f"scheduling.{Scheduling.model_fields[name].alias}",
                "has no effect: scheduling.enabled is false",
                "remove it, or remove `enabled: false`",
                warning=True,
            )


def _defaults(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if not scheduling or not draft.all_pools or not readable(scheduling, "defaults"):
        return
    there = {has_gpus(pool, cloud) for pool in draft.pools.values() if pool.reclaimable}
    for name, kind in Defaults.model_fields.items():
        if not readable(scheduling.defaults, name):
            continue
        defaults: KindDefaults = getattr(scheduling.defaults, name)
        for resource, gpus in (("gpu", True), ("cpu", False)):
            if gpus not in there and resource in defaults.model_fields_set and readable(defaults, resource):
                path = f"scheduling.defaults.{kind.alias}.{resource}"
                yield from _without_spot(path, getattr(defaults, resource), "with" if gpus else "without")


def _without_spot(path: str, placement: Placement, sort: str) -> Iterator[Problem]:
    none = f"no spot pool {sort} GPUs is in the stack file"
    if placement == Placement.REQUIRE_SPOT:
        yield Problem(
            path,
            f"is {placement}, but {none}: such pods would never run",
            f"write one under `pools`, or {Placement.PREFER_SPOT} or {Placement.ON_DEMAND} here",
        )
    elif placement == Placement.PREFER_SPOT:
        yield Problem(
            path,
            f"is {placement}, but {none}: such pods stay on demand",
            "write one under `pools`, or leave this out",
            warning=True,
        )


def _grace(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    seconds = scheduling.grace_period_seconds if scheduling else None
    pools = [pool for pool in draft.pools.values() if readable(pool, "capacity", *pool.cloud_keys)]
    notice, grace = placed.spot_notice(pools, cloud), placed.spot_grace(pools, cloud)
    path = "scheduling.gracePeriodSeconds"
    remedy = f"{grace} or less; leave it out for {grace}"
    if seconds is None or notice is None:
        return
    if seconds > notice:
        yield Problem(path, f"is {seconds}, but {cloud.title} ends a spot machine {notice} s after its notice", remedy)
    elif seconds > grace:
        what = f"is {seconds}: of {cloud.title}'s {notice} s {cloud.spot_rest} take some"
        yield Problem(path, what, remedy, warning=True)


def _platform(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if not scheduling:
        return
    for index, namespace in enumerate(scheduling.guard.platform_namespaces):
        if namespace.startswith(_KUBERNETES):
            yield Problem(
                f"scheduling.guard.platformNamespaces[{index}]",
                f"is {namespace}, which holds the cloud's own agents: they must run on every node",
                "remove it: the guard leaves namespaces under kube- alone",
            )


def _exceptions(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    for index, exception in enumerate(scheduling.guard.exceptions if scheduling else ()):
        if readable(exception, "namespace") and exception.namespace.startswith(_KUBERNETES):
            yield Problem(
                f"scheduling.guard.exceptions[{index}].namespace",
                f"is {exception.namespace}, which the guard leaves alone anyway",
                "remove the exception",
            )


def _readers(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    for index, group in enumerate(scheduling.contract.readers if scheduling else ()):
        if group in _EVERYBODY:
            yield Problem(
                f"scheduling.contract.readers[{index}]",
                f"is {group}: {_EVERYBODY[group]}, not this cluster's users alone",
                "name a group of your own; service accounts may read it anyway",
            )


def _doubled_profiles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    seen: dict[str, int] = {}
    for index, profile in enumerate(scheduling.profiles if scheduling else ()):
        if readable(profile, "namespace"):
            first = seen.setdefault(profile.namespace, index)
            if first != index:
                yield Problem(
                    f"scheduling.profiles[{index}].namespace",
                    f"{profile.namespace!r} stands in scheduling.profiles[{first}] already",
                    "write one entry for each namespace",
                )


def _whole_fallback(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if not scheduling or not scheduling.profiles or not draft.all_pools:
        return
    if any(pool.mig for pool in draft.pools.values()):
        return  # into how many instances a GPU is cut depends on its model
    most = sum(_on_demand_gpus(pool, draft, cloud) for pool in draft.pools.values())
    for index, profile in enumerate(scheduling.profiles):
        if readable(profile, "gpus") and profile.gpus is not None and 0 < most <= profile.gpus:
            yield Problem(
                f"scheduling.profiles[{index}].gpus",
                f"is {profile.gpus}, and the on-demand pools have {most} at most: this profile alone could hold them all"
                " when spot is dry",
                f"fewer than {most}, or larger on-demand pools",
                warning=True,
            )


def _on_demand_gpus(pool: Pool, draft: Draft, cloud: Cloud) -> int:
    """Most GPUs, or shares of GPUs, of the pool or of its twin that no cloud takes back."""
    each = cloud.gpus(pool)[0] * (pool.gpu_sharing.replicas if pool.gpu_sharing else 1)
    if pool.capacity == Capacity.ON_DEMAND:
        return each * pool.most_nodes(draft.cloud)
    return each * sum(step.on_demand.max_nodes for step in pool.fallback if step.on_demand)


def _nothing_keeps_off(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools:
        return  # and taints them
    # Every pod that asks for a GPU tolerates the key of GPU_TAINT by itself.
    telling = {
        index: {
            taint for taint in pool.taints if taint.effect != Effect.PREFER_NO_SCHEDULE and taint.key != GPU_TAINT.key
        }
        for index, pool in draft.pools.items()
    }
    on_demand = {
        taint for index, pool in draft.pools.items() if pool.capacity == Capacity.ON_DEMAND for taint in telling[index]
    }
    for index, pool in draft.pools.items():
        if pool.reclaimable and not telling[index] - on_demand:
            yield Problem(
                f"pools[{index}].taints",
                f"tell {pool.name} from no on-demand pool: nothing keeps pods that must not vanish off it",
                "taint its nodes, for example example.com/spot=true:NoSchedule, and write the taint here",
                warning=True,
            )


RULES = (
    _disabled,
    _defaults,
    _grace,
    _platform,
    _exceptions,
    _readers,
    _doubled_profiles,
    _whole_fallback,
    _nothing_keeps_off,
)
