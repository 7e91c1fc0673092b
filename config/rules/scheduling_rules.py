"""Checks of placement by default, of the guard, of the contract and of profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.pool import Capacity, Effect, Pool, Taint
from config.model.reading import doubled, known, of_each, part
from config.model.scheduling import GuardException, KindDefaults, Placement, Profile, Scheduling
from config.placement import node_pools as placed
from config.placement.node_pools import GPU_TAINT
from config.rules.draft import Draft, Rule, each, has_gpus

_EVERYBODY = {
    # cloud.google.com/kubernetes-engine/docs/best-practices/rbac
    "system:authenticated": "everybody who can log in, with any account that the cloud accepts",
    "system:unauthenticated": "everybody who reaches the API server",
}

_KUBERNETES = "kube-"
"""Prefix of Kubernetes' own namespaces; users are not to create such
(kubernetes.io/docs/concepts/overview/working-with-objects/namespaces)."""


def _enabled(draft: Draft) -> Scheduling | None:
    scheduling = draft.scheduling
    return scheduling if scheduling and known(lambda: scheduling.enabled, True) else None


def _disabled(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.scheduling and not draft.scheduling.enabled:
        for name in sorted(draft.scheduling.model_fields_set - {"enabled"}):
            yield Problem(
                f"scheduling.{Scheduling.model_fields[name].alias}",
                "has no effect: scheduling.enabled is false",
                "remove it, or remove `enabled: false`",
                warning=True,
            )


def _kinds(draft: Draft) -> Iterator[tuple[str, KindDefaults]]:
    scheduling = _enabled(draft)
    if scheduling:
        for name, field in type(scheduling.defaults).model_fields.items():
            defaults = part(scheduling.defaults, name)
            if defaults:
                yield f"scheduling.defaults.{field.alias}", defaults


def _defaults(resource: Literal["gpu", "cpu"]) -> Rule:
    @each(_kinds)
    def rule(path: str, defaults: KindDefaults, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
        with_gpus = resource == "gpu"
        if not draft.all_pools or resource not in defaults.model_fields_set:
            return
        # A pool that cannot be read well enough to tell may be the one.
        if with_gpus not in {
            has_gpus(pool, cloud) for pool in draft.pools.values() if pool.taken_back
        }:
            placement: Placement = getattr(defaults, resource)
            yield from _without_spot(
                f"{path}.{resource}", placement, "with" if with_gpus else "without"
            )

    return rule


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
    pools = [
        pool
        for pool, _ in draft.of_pools(
            lambda pool: (pool, pool.reclaimable and cloud.own_notice(pool))
        )
    ]
    notice, grace = placed.spot_notice(pools, cloud), placed.spot_grace(pools, cloud)
    path = "scheduling.gracePeriodSeconds"
    remedy = f"{grace} or less; leave it out for {grace}"
    if seconds is None or notice is None:
        return
    if seconds > notice:
        yield Problem(
            path,
            f"is {seconds}, but {cloud.title} ends a spot machine {notice} s after its notice",
            remedy,
        )
    elif seconds > grace:
        what = (
            f"is {seconds}, but {cloud.spot_rest} take some of {cloud.title}'s {notice} s of notice"
        )
        yield Problem(path, what, remedy, warning=True)


def _platform(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if not scheduling:
        return
    guard = scheduling.guard
    for path, namespace in [
        *_numbered("platformNamespaces", known(lambda: guard.platform_namespaces, ())),
        *_numbered(
            "additionalPlatformNamespaces", known(lambda: guard.additional_platform_namespaces, ())
        ),
    ]:
        if namespace.startswith(_KUBERNETES):
            yield Problem(
                path,
                f"is {namespace}, which holds the cloud's own agents: they must run on every node",
                "remove it: the guard leaves namespaces under kube- alone",
            )


def _numbered(key: str, namespaces: Iterable[str]) -> list[tuple[str, str]]:
    return [
        (f"scheduling.guard.{key}[{index}]", namespace)
        for index, namespace in enumerate(namespaces)
    ]


def _pipelines(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if not scheduling:
        return
    guard = scheduling.guard
    for index, namespace in enumerate(guard.pipeline_namespaces):
        if namespace not in guard.guarded_namespaces:
            yield Problem(
                f"scheduling.guard.pipelineNamespaces[{index}]",
                f"is {namespace}, which is none of scheduling.guard.platformNamespaces",
                "name one of them; profiles need no entry, as their pipelines may use spot anyway",
            )


def _written_exceptions(draft: Draft) -> Iterator[tuple[str, GuardException]]:
    scheduling = _enabled(draft)
    for index, exception in enumerate(scheduling.guard.exceptions if scheduling else ()):
        yield f"scheduling.guard.exceptions[{index}]", exception


@each(_written_exceptions)
def _exceptions(
    path: str, exception: GuardException, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if exception.namespace.startswith(_KUBERNETES):
        yield Problem(
            f"{path}.namespace",
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


def _profiles(draft: Draft) -> Iterator[tuple[str, Profile]]:
    scheduling = _enabled(draft)
    for index, profile in enumerate(scheduling.profiles if scheduling else ()):
        yield f"scheduling.profiles[{index}]", profile


def _doubled_profiles(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, first, profile in doubled(_profiles(draft), lambda profile: profile.namespace):
        yield Problem(
            f"{path}.namespace",
            f"{profile.namespace!r} stands in {first} already",
            "write one entry for each namespace",
        )


@each(_profiles)
def _no_profile(path: str, profile: Profile, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    where, namespace = f"{path}.namespace", profile.namespace
    guard = known(lambda: draft.scheduling.guard if draft.scheduling else None, None)
    platform = known(lambda: guard.guarded_namespaces if guard else (), ())
    steps = known(lambda: guard.pipeline_namespaces if guard else (), ())
    if namespace.startswith(_KUBERNETES):
        # Its quotas allow no pod of a system class (components/layer/scheduling/quota.py).
        yield Problem(
            where,
            f"is {namespace}, whose pods the cluster needs: a profile's quotas would refuse them",
            "remove this entry, or name the namespace of a Kubeflow profile",
        )
    elif namespace in platform and namespace not in steps:
        yield Problem(
            where,
            f"is {namespace}, a namespace of the platform: its quotas hold for Kubeflow's own pods",
            "remove it; if Kubeflow Pipelines runs its steps there, name it in "
            "`guard.pipelineNamespaces` too",
            warning=True,
        )


def _whole_fallback(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn once of all profiles whose quota is no less than the on-demand GPUs."""
    if not draft.all_pools or any(pool.mig for pool in draft.pools.values()):
        return  # the number of MIG instances depends on the GPU's model
    most = sum(_on_demand_gpus(pool, draft, cloud) for pool in draft.pools.values())
    large = [
        (path, profile)
        for path, profile in _profiles(draft)
        if profile.gpus is not None and 0 < most <= profile.gpus
    ]
    if large:
        (path, first), *others = large
        also = f", and so could {', '.join(other.namespace for _, other in others)}"
        yield Problem(
            f"{path}.gpus",
            f"is {first.gpus}, and the on-demand pools have at most {most}: without spot this "
            f"profile alone could hold them all{also if others else ''}",
            f"fewer than {most}, or larger on-demand pools",
            warning=True,
        )


def _on_demand_gpus(pool: Pool, draft: Draft, cloud: Cloud) -> int:
    """Return the most on-demand GPUs, or shares of GPUs, of the pool or its twin."""
    each = cloud.gpus(pool)[0] * (pool.gpu_sharing.replicas if pool.gpu_sharing else 1)
    if pool.capacity == Capacity.ON_DEMAND:
        return each * pool.most_nodes(draft.cloud)
    return each * sum(step.on_demand.max_nodes for step in pool.fallback if step.on_demand)


def _nothing_keeps_off(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools:
        return  # and taints them
    telling = of_each(
        draft.pools.items(),
        lambda pair: (pair[0], pair[1].name, pair[1].capacity, _telling(pair[1])),
    )
    on_demand = {
        taint
        for _, _, capacity, taints in telling
        if capacity == Capacity.ON_DEMAND
        for taint in taints
    }
    for index, name, capacity, taints in telling:
        if capacity != Capacity.ON_DEMAND and not taints - on_demand:
            yield Problem(
                f"pools[{index}].taints",
                f"no taint separates spot pool {name} from the on-demand pools: pods that must "
                "not be evicted can run on it",
                "taint its nodes, such as example.com/spot=true:NoSchedule, and write the taint "
                "here",
                warning=True,
            )


def _telling(pool: Pool) -> set[Taint]:
    """Return the taints that keep a pod off; pods that request GPUs tolerate GPU_TAINT's key."""
    return {
        taint
        for taint in pool.taints
        if taint.effect != Effect.PREFER_NO_SCHEDULE and taint.key != GPU_TAINT.key
    }


def _back_to_spot(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = _enabled(draft)
    if scheduling and scheduling.back_to_spot and draft.names_are_known():
        capacities = set(draft.of_pools(lambda pool: pool.taken_back))
        if True not in capacities:
            yield Problem(
                "scheduling.backToSpot",
                "has nothing to do: no pool is bought as spot",
                "remove it, or write a spot pool under `pools`",
                warning=True,
            )


RULES = (
    _disabled,
    _back_to_spot,
    _defaults("gpu"),
    _defaults("cpu"),
    _grace,
    _platform,
    _pipelines,
    _exceptions,
    _readers,
    _doubled_profiles,
    _no_profile,
    _whole_fallback,
    _nothing_keeps_off,
)
