"""Rules of the order of GPU pools in a ComputeClass (page about-custom-compute-classes)."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.gcp import gcp_traits
from config.clouds.gcp.gcp_settings import Gcp, GcpFallback
from config.clouds.traits import Cloud
from config.model.fields import Unreadable
from config.model.pool import Pool, Taint
from config.model.release import has_mutating_policies
from config.placement import object_names
from config.releases import names
from config.rules.draft import Draft, each_taint, has_gpus

_PATH = "cloud.fallback"


def _by_default(draft: Draft) -> bool:
    return draft.scheduling is None or draft.scheduling.enabled


def _is_old(draft: Draft) -> bool:
    return not has_mutating_policies(draft.kubernetes_version or "1.36")


def _has_class(draft: Draft, cloud: Cloud) -> bool:
    """Return whether the stack has a ComputeClass. Raise `Unreadable` if that is unknown."""
    gcp = draft.settings(Gcp)
    if not gcp or not draft.all_pools or (draft.makes_cluster and not draft.kubernetes_version):
        raise Unreadable("fallback")
    version, pools = draft.kubernetes_version or "1.0", draft.pools.values()
    return (
        gcp_traits.compute_class_mode(gcp, pools, cloud, version, by_default=_by_default(draft))
        == "compute-class"
    )


def _no_order(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    chains = draft.pools_where(lambda pool: pool.fallback and has_gpus(pool, cloud))
    if not chains or _has_class(draft, cloud):
        return
    if gcp.fallback.mode:
        why, remedy = "", "write compute-class"
    elif gcp.existing_cluster:
        why, remedy = (
            " in an existing cluster",
            "write `mode: compute-class` where its GPU pods are this stack's",
        )
    elif not _by_default(draft):
        why, remedy = (
            " while scheduling.enabled is false",
            "write `mode: compute-class`, and a nodeSelector in your pods",
        )
    else:
        yield Problem(
            "release",
            f"has Kubernetes {draft.kubernetes_version}: GKE takes the cheapest available machines "
            "and ignores the pools' `fallback`",
            f"write `kubeflow-spot:release: {names()[-1]}`, or leave `fallback` out",
            warning=True,
        )
        return
    yield Problem(
        f"{_PATH}.mode",
        f"is affinity{why}: GKE takes the cheapest available machines and ignores `fallback`",
        remedy,
        warning=True,
    )


def _no_order_of_cpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if any(step.pool for step in pool.fallback) and not has_gpus(pool, cloud):
        yield Problem(
            f"{path}.fallback",
            "is the order of pools without GPUs, which GKE ignores: the ComputeClass has GPU "
            "pools only",
            "leave it out, or keep `onDemand` alone",
            warning=True,
        )


def _not_by_default(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.fallback.mode != "compute-class":
        return
    version = draft.kubernetes_version
    if not _by_default(draft):
        why = "scheduling.enabled is false"
    elif version and not has_mutating_policies(version):
        why = f"Kubernetes {version} has no MutatingAdmissionPolicy"
    else:
        return
    yield Problem(
        f"{_PATH}.mode",
        f"is compute-class, but {why}: no pod asks for the class by itself",
        f"write the nodeSelector {gcp_traits.COMPUTE_CLASS_LABEL}: {gcp.fallback.class_name} in "
        "every pod that asks for a GPU",
        warning=True,
    )


def _no_members(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.fallback.mode != "compute-class" or not draft.all_pools:
        return
    with_gpus = [pool for pool in draft.pools.values() if has_gpus(pool, cloud)]
    # `_all_in` reports a chain without members.
    if not any(cloud.may_join_class(pool) or pool.fallback for pool in with_gpus):
        yield Problem(
            f"{_PATH}.mode",
            "is compute-class, but no pool with GPUs is in the class, so none is made",
            "remove it, or add such a pool"
            if not with_gpus
            else "remove it, or a pool's `gcp.computeClass: false`",
            warning=True,
        )


def _unused(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    settings = gcp.fallback
    if not settings.model_fields_set - {"mode"} or _has_class(draft, cloud):
        return
    if not (settings.mode or gcp.existing_cluster) and _by_default(draft) and _is_old(draft):
        return  # the release is told to be too old for it
    for name in sorted(settings.model_fields_set - {"mode"}):
        yield Problem(
            f"{_PATH}.{GcpFallback.model_fields[name].alias}",
            "has no use: this stack has no ComputeClass",
            "remove it, or write `mode: compute-class`",
            warning=True,
        )


def _unread_order(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.growth and draft.growth.order and not _has_class(draft, cloud):
        yield Problem(
            "growth.order",
            "is never read: this stack has no ComputeClass",
            f"remove it, or write `mode: compute-class` in {_PATH}",
            warning=True,
        )


def _migration(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if gcp.fallback.active_migration and _has_class(draft, cloud):
        yield Problem(
            f"{_PATH}.activeMigration",
            "is true: GKE evicts running pods when a pool further up has room again",
            "annotate training that writes no checkpoints "
            'cluster-autoscaler.kubernetes.io/safe-to-evict: "false"',
            warning=True,
        )


def _two_movers(gcp: Gcp, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    scheduling = draft.scheduling
    if (
        scheduling
        and scheduling.enabled
        and scheduling.back_to_spot
        and gcp.fallback.active_migration
    ):
        yield Problem(
            "scheduling.backToSpot",
            f"is set beside {_PATH}.activeMigration, with which GKE moves every pod of the class "
            "back: both evict the same pods",
            "keep one of them: this one moves pods that ask for it, once an hour at most",
            warning=True,
        )


def _all_in(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.may_join_class(pool) or not has_gpus(pool, cloud) or not _has_class(draft, cloud):
        return
    joining = set(draft.of_pools(lambda other: other.name if cloud.may_join_class(other) else ""))
    for chain in draft.of_pools(object_names.chain):
        members = joining.intersection(chain)
        if pool.name in chain and members:
            yield Problem(
                f"{path}.gcp.computeClass",
                f"is false, but {', '.join(sorted(members))} of the same chain is in the "
                "ComputeClass, which knows no other pools",
                "remove it, or take the pool out of the chain",
            )
            return
    if pool.fallback:
        yield Problem(
            f"{path}.gcp.computeClass",
            "is false for the whole chain: GKE takes the cheapest machines and ignores `fallback`",
            "remove it, or leave out `fallback`",
            warning=True,
        )


@each_taint
def _taints(
    path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if taint.key == gcp_traits.COMPUTE_CLASS_LABEL:
        yield Problem(
            path,
            "has the key of ComputeClasses, of which a pool is in one at most",
            "remove it: this program taints the pools of its class itself",
        )


CLOUD_RULES = (_no_order, _not_by_default, _no_members, _unused, _migration, _two_movers)
RULES = (_unread_order,)
POOL_RULES = (_no_order_of_cpus, _all_in, _taints)
