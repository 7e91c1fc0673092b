"""Rules of node auto-provisioning: what of a stack file it has no counterpart for, and its traps.

Sources: AKS' pages node-auto-provisioning (limitations), -networking, -disruption, -aksnodeclass and
use-node-auto-provisioning (azure-aks-docs, commit fb060ab of 2026-08); the code of
Azure/karpenter-provider-azure v1.14.0 and of sigs.k8s.io/karpenter v1.14.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec

from config.base.problems import Problem
from config.clouds.azure.azure_pool import nodes_of, settings_of, spot_of
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.model.cluster import ExpanderOptions, seconds
from config.model.fields import given
from config.model.pool import Pool
from config.model.reading import part, written
from config.placement import object_names
from config.rules.draft import Draft

P = ParamSpec("P")

_KEY = "cloud.nodeProvisioning"
_OR_NONE = f"or leave out {_KEY}"
_WITH = "with node auto-provisioning"

_KARPENTERS = ("karpenter.sh", "karpenter.azure.com")
_NAPS_LABELS = ("accelerator", "storageprofile", "storagetier")
"""Labels that the NodePool's CRD refuses beside those that AKS refuses on every pool."""

_CONSTRAINED = re.compile(r"(?i)standard_[a-z]+\d+-\d+.*")
_CONFIDENTIAL = re.compile(r"(?i)standard_(dc|ec|ncc).*")
"""Sizes that the provider leaves out (providers/instancetype, `isSupported`)."""


def _if_on(rule: Callable[P, Iterator[Problem]]) -> Callable[P, Iterator[Problem]]:
    """Make a rule end where the stack's cluster has no node auto-provisioning."""

    @wraps(rule)
    def judged(*args: P.args, **kwargs: P.kwargs) -> Iterator[Problem]:
        draft = next(each for each in args if isinstance(each, Draft))
        azure = draft.new_cluster(Azure)
        if azure and azure.node_provisioning:
            yield from rule(*args, **kwargs)

    return judged


@_if_on
def _autoscaler(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for name in given(azure, "autoscaler"):
        yield Problem(
            f"cloud.{name}",
            "is set beside nodeProvisioning: AKS takes a cluster with the cluster autoscaler or "
            "with node auto-provisioning, not with both",
            "remove one of them",
        )
    for name in given(draft.expander, *ExpanderOptions.model_fields) if draft.expander else ():
        yield Problem(
            f"expander.{ExpanderOptions.model_fields[name].alias}",
            f"is never read {_WITH}, whose order is the weights of its pools",
            "remove it; `growth.order` counts",
        )


@_if_on
def _back_to_spot(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.scheduling and written(draft.scheduling, "back_to_spot"):
        yield Problem(
            "scheduling.backToSpot",
            "is set beside nodeProvisioning: Karpenter moves pods back to spot itself, and the two "
            "would evict the same pods",
            "remove it",
        )


@_if_on
def _network(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if azure.network.policy == "calico":
        yield Problem(
            "cloud.network.policy",
            f"is calico, which AKS does not support {_WITH}",
            "write `dataplane: cilium` and `policy: cilium`, as AKS advises",
        )
    elif azure.network.policy == "azure":
        yield Problem(
            "cloud.network.policy",
            f"is azure: no page of AKS says whether it works {_WITH}",
            "write `dataplane: cilium` and `policy: cilium`, as AKS advises",
            warning=True,
        )


@_if_on
def _expiry(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = azure.node_provisioning
    if not own or own.expire_after is None:
        return
    if seconds(own.expire_after) == 0:
        yield Problem(f"{_KEY}.expireAfter", "is 0: no node would live", "leave it out for never")
    else:
        yield Problem(
            f"{_KEY}.expireAfter",
            f"is {own.expire_after}: at that age a node is drained whatever runs there, and no "
            "budget slows it",
            "leave it out, unless every pod may move",
            warning=True,
        )


@_if_on
def _stopped(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    own = azure.node_provisioning
    if own and re.fullmatch(r"0%?", own.disruption_budget or ""):
        yield Problem(
            f"{_KEY}.disruptionBudget",
            f"is {own.disruption_budget}: nothing moves back to spot, and no node with pods is "
            "upgraded",
            'at least "1"',
            warning=True,
        )


@_if_on
def _room(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn where pods without tolerations have the system pool's nodes alone."""
    system = draft.system_pool
    if not system or not draft.all_pools:
        return
    plain = draft.pools_where(lambda pool: not pool.reclaimable and not pool.taints)
    if system.max_nodes == system.min_nodes and not [
        pool for pool in plain if not cloud.gpus(pool)[0]
    ]:
        yield Problem(
            "systemPool.maxNodes",
            f"is {system.max_nodes}, as minNodes, and no other pool takes pods without tolerations: "
            "what does not fit there waits for ever",
            "a larger maxNodes, or an on-demand pool without GPUs and taints",
            warning=True,
        )


NEW_CLUSTER_RULES = (_autoscaler, _back_to_spot, _network, _expiry, _stopped, _room)


def _refused(path: str, key: str, what: str, remedy: str) -> Problem:
    return Problem(f"{path}.{key}", what, f"{remedy}, {_OR_NONE}")


@_if_on
def _nodes(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # Its pools with a fixed number (`replicas`) are alpha and off in v1.14, and cannot grow.
    if pool.min_nodes:
        yield _refused(
            path,
            "minNodes",
            f"is {pool.min_nodes}: Karpenter makes machines for waiting pods alone and keeps none",
            "write 0; a Deployment of `pause` pods keeps a machine warm",
        )


@_if_on
def _spot(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    # providers/instance/vminstance.go, `setVMPropertiesBillingProfile`.
    if not pool.reclaimable:
        return
    spot = spot_of(pool)
    if part(spot, "eviction_policy") != "Delete" and written(spot, "eviction_policy"):
        yield _refused(
            path,
            "spot.evictionPolicy",
            "is not Delete: Karpenter's machines are always deleted when they are evicted",
            "remove it",
        )
    if part(spot, "max_price") != -1 and written(spot, "max_price"):
        yield _refused(
            path,
            "spot.maxPrice",
            "is not -1: Karpenter buys spot at any price up to on demand",
            "remove it",
        )


@_if_on
def _gpus(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if written(pool, "mig"):
        yield _refused(path, "mig", "is set: AKSNodeClass has no GPU instance profile", "remove it")
    if written(pool, "gpu_sharing"):
        # providers/instancetype/instancetype.go, `computeCapacity`: the machine's own number.
        yield _refused(
            path,
            "gpuSharing",
            "is set: Karpenter plans with a machine's own number of GPUs, so pods that could share "
            "one get a machine each",
            "remove it",
        )


@_if_on
def _reservation(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if written(pool, "reservation"):
        yield _refused(
            path,
            "reservation",
            "is set: AKSNodeClass names no capacity reservation group",
            "remove it",
        )


@_if_on
def _upgrade(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if written(pool, "upgrade"):
        yield _refused(
            path,
            "upgrade",
            "is set: Karpenter makes the new node first, as many at a time as "
            f"{_KEY}.disruptionBudget allows",
            "remove it",
        )


@_if_on
def _labels(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for key in pool.labels:
        domain = key.partition("/")[0] if "/" in key else ""
        if key in _NAPS_LABELS or any(
            domain == own or domain.endswith(f".{own}") for own in _KARPENTERS
        ):
            yield Problem(
                f"{path}.labels",
                f"{key!r} belongs to Karpenter or AKS, and the NodePool's CRD refuses it",
                "choose another key",
            )


@_if_on
def _one_zone(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of a chain that a full zone stops whole.

    After ZonalAllocationFailed and AllocationFailed the size is off in that zone for an hour, on
    demand too (offerings/commonerrorhandlers.go).
    """
    twin = object_names.twin_name(pool, cloud)
    if twin and len(pool.zones) == 1:
        yield Problem(
            f"{path}.zones",
            f"names one zone: when Azure cannot allocate a spot machine there, Karpenter leaves "
            f"{pool.machine} out for an hour, also of {twin}",
            "name more zones, or none",
            warning=True,
        )


@_if_on
def _disk(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    disk = settings_of(pool).os_disk
    if part(disk, "type") != "Ephemeral" and written(disk, "type"):
        yield _refused(
            path,
            "osDisk.type",
            "is not Ephemeral: Karpenter takes an ephemeral disk wherever one of that size fits",
            "remove it",
        )


@_if_on
def _trusted_launch(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for name in given(nodes_of(pool), "secure_boot", "vtpm", "properties"):
        key = type(nodes_of(pool)).model_fields[name].alias
        yield _refused(
            path, f"azure.{key}", "is set: AKSNodeClass has no such property", "remove it"
        )


@_if_on
def _size(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for form, kind in ((_CONSTRAINED, "constrained"), (_CONFIDENTIAL, "confidential")):
        if form.fullmatch(pool.machine):
            yield _refused(
                path,
                "machine",
                f"{pool.machine} is a {kind} size, which Karpenter leaves out",
                "use another size",
            )


POOL_RULES = (
    _nodes,
    _spot,
    _gpus,
    _reservation,
    _upgrade,
    _labels,
    _one_zone,
    _disk,
    _trusted_launch,
    _size,
)
