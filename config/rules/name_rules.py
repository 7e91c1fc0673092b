"""Rules of names: pools' names, their labels and taints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from config.base.near import with_form
from config.base.problems import Problem
from config.clouds.tables import Machine
from config.clouds.traits import Added, Cloud
from config.model.pool import AnyPool, Pool, Taint
from config.model.reading import known, of_each, part, where
from config.placement import node_pools, object_names
from config.rules.draft import Draft, each_taint, has_gpus


@dataclass(frozen=True)
class _Claim:
    """A name that must be unique."""

    path: str
    name: str
    made_up: str = ""
    """The origin of a name that the program derives; empty for a name in the file."""


def _claims(draft: Draft, cloud: Cloud) -> Iterator[_Claim]:
    """Yield the names in the file, the system pool's first, then derived names."""
    named = of_each(draft.written_pools(), lambda pair: (*pair, pair[1].name))
    for path, _, name in named:
        yield _Claim(f"{path}.name", name)
    for path, pool, _ in named:
        if isinstance(pool, Pool):
            for derived in (_generation, _twin):
                yield from known(partial(derived, path, pool, cloud), [])


def _generation(path: str, pool: Pool, cloud: Cloud) -> list[_Claim]:
    if not pool.generation or pool.reclaimable:
        return []
    made_up = f"generation {pool.generation} of {pool.name}"
    return [_Claim(f"{path}.generation", object_names.cloud_name(pool, cloud), made_up)]


def _twin(path: str, pool: Pool, cloud: Cloud) -> list[_Claim]:
    twin = object_names.twin_cloud_name(pool, cloud)
    number = next(
        iter(where(range(len(pool.fallback)), lambda number: pool.fallback[number].on_demand)), 0
    )
    given = pool.fallback[number].on_demand if twin else None
    if not twin:
        return []
    made_up = "" if given and given.name == twin else f"the on-demand twin of {pool.name}"
    return [_Claim(f"{path}.fallback[{number}].onDemand.name", twin, made_up)]


def _names(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    seen: dict[str, _Claim] = {}
    doubled: tuple[str, ...] = ()
    for claim in _claims(draft, cloud):
        if not re.fullmatch(cloud.pool_name, claim.name) and not claim.made_up:
            yield Problem(
                claim.path,
                f"{claim.name!r} is not a valid name for {cloud.article} {cloud.title} pool",
                with_form(claim.name, cloud.pool_name) + cloud.pool_name_words,
            )
        other = seen.setdefault(claim.name, claim)
        if other is not claim and not claim.path.startswith(doubled):
            what = f"{claim.name!r} is the name of {other.path} already"
            if claim.made_up:
                what = (
                    f"{claim.made_up} is called {claim.name!r}, which is the name of "
                    f"{other.path} already"
                )
            remedy = f"give it another name, such as {_other_name(claim, draft, cloud)}"
            if claim.made_up:
                remedy += f", or remove {other.path.removesuffix('.name')}: the twin is declared"
            else:
                # The names that derive from this one change with it.
                doubled = (*doubled, claim.path.removesuffix("name"))
            yield Problem(claim.path, what, remedy)


def _other_name(claim: _Claim, draft: Draft, cloud: Cloud) -> str:
    """Return a name for a pool that has another's: the one that a chain misses, or its GPU's."""
    chains = draft.of_pools(lambda pool: pool.fallback)
    named = {name for chain in chains for name in of_each(chain, lambda step: step.pool) if name}
    missing = named - set(draft.of_pools(lambda pool: pool.name))
    if len(missing) == 1 and re.fullmatch(cloud.pool_name, next(iter(missing))):
        return missing.pop()
    pools = (pool for path, pool in draft.written_pools() if claim.path == f"{path}.name")
    sizes = [known(partial(_machine, pool, cloud), None) for pool in pools]
    gpu = sizes[0].short_gpu if sizes and sizes[0] else ""
    if gpu and not claim.name.startswith(gpu):
        return gpu
    plain = re.sub("[^a-z0-9]", "", claim.name.lower())[: cloud.pool_name_length - 1]
    fits = re.fullmatch(cloud.pool_name, f"{claim.name}b")
    return f"{claim.name}b" if fits else f"{plain}b"


def _machine(pool: AnyPool, cloud: Cloud) -> Machine | None:
    return cloud.machine(pool.machine)


def _removed(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse names in `cluster.removedPools` of pools that are declared."""
    removed = draft.cluster.removed_pools if draft.cluster else ()
    declared = {claim.name: claim.path for claim in _claims(draft, cloud)}
    for index, name in enumerate(removed):
        path = f"cluster.removedPools[{index}]"
        if not cloud.makes_pools:
            yield Problem(path, "this stack makes no pools in its cluster", "remove it")
        elif name in declared:
            what = f"{name!r} is declared, as {declared[name]}, and stays"
            yield Problem(path, what, "remove the line, or the pool")


_NOTHING = Added({}, ())

_OF_CONTROLLERS = frozenset({
    *(
        f"node.kubernetes.io/{state}"
        for state in (
            *("not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable"),
            *("unschedulable", "out-of-service"),
        )
    ),
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
})  # fmt: skip
"""Taints of a node's state (kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration
and reference/labels-annotations-taints; cluster-autoscaler, utils/taints). The node controller
removes those that contradict a node's conditions; the others keep every pod off, or mark a node
for removal."""

_OF_KUBERNETES = ("kubernetes.io", "k8s.io")
"""kubernetes.io/docs/concepts/overview/working-with-objects/labels: reserved for Kubernetes."""


def _labels(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    capacity = part(pool, "capacity")  # of an unreadable one each may be meant
    kinds = [capacity] if capacity else cloud.added
    derived = {
        pair for kind in kinds for pair in cloud.added.get(kind, _NOTHING).labels.items()
    } & set(pool.labels.items())
    also = "".join(f"; {key} may stay, as the program's own" for key, _ in derived)
    for key, value in pool.labels.items():
        domain = key.rpartition("/")[0]
        where = f'{path}.labels["{key}"]'
        if domain == node_pools.PREFIX:
            own = key in (
                node_pools.POOL_LABEL,
                node_pools.CAPACITY_LABEL,
                node_pools.ACCELERATOR_LABEL,
            )
            what = "is a label the program derives from the pool"
            if not own:
                what = f"is under {node_pools.PREFIX}/, which this program keeps for its own labels"
            remedy = "remove it" if own else "use a domain of your own, such as example.com/"
            yield Problem(where, what, remedy)
        elif key in cloud.reserved_labels or any(
            domain == prefix or domain.endswith("." + prefix)
            for prefix in cloud.reserved_label_prefixes
        ):
            if (key, value) in derived:
                continue
            yield Problem(
                where,
                f"{cloud.title} keeps this key for itself",
                f"remove it: {cloud.title} sets such labels itself, and selectors of pods find them; "
                f"a label of yours has your own domain{also}",
            )
        elif cloud.own_beginning and key.startswith(cloud.own_beginning):
            yield of_the_cloud(where, cloud)


def _labels_of_the_twin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Warn of a label that says spot, which the on-demand twin has as well."""
    if not any(part(step, "on_demand") for step in pool.fallback):
        return
    own = {key for key, _ in cloud.spot_labels}
    for key, value in pool.labels.items():
        if value.lower() in ("spot", "preemptible") and key not in own:
            yield Problem(
                f'{path}.labels["{key}"]',
                f"is {value}, and the on-demand twin gets the pool's labels too",
                f"remove it, and select by {node_pools.CAPACITY_LABEL}, which each node has",
                warning=True,
            )


def of_the_cloud(path: str, cloud: Cloud) -> Problem:
    """Return the warning of a label whose key begins as the cloud's own do."""
    return Problem(
        path,
        f"begins with {cloud.own_beginning}, as labels do that {cloud.title} sets by itself",
        "take another name",
        warning=True,
    )


@each_taint
def _doubled_taints(
    path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if (taint.key, taint.effect) in of_each(
        pool.taints[:number], lambda other: (other.key, other.effect)
    ):
        yield Problem(
            path, f"{taint.key}:{taint.effect} stands in the list already", "remove one of them"
        )


@each_taint
def _derived_taints(
    path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if not cloud.makes_pools:
        return  # existing taints may be described
    if any(taint.key == own.key for own in cloud.spot_taints):
        if taint not in cloud.added.get(pool.capacity, _NOTHING).taints:
            yield Problem(
                path,
                "is the taint of spot pools, which the program adds to them and no others have",
                "remove it",
            )
    elif taint.key == node_pools.GPU_TAINT.key and has_gpus(pool, cloud):
        yield Problem(
            path,
            f"the program adds the taint {node_pools.GPU_TAINT} to GPU pools itself",
            "remove it",
        )


@each_taint
def _controllers_taints(
    path: str, number: int, taint: Taint, pool: Pool, draft: Draft, cloud: Cloud
) -> Iterator[Problem]:
    if not cloud.makes_pools:
        return
    prefix = taint.key.rpartition("/")[0]
    if taint.key in _OF_CONTROLLERS:
        yield Problem(
            f"{path}.key",
            f"is {taint.key}, which Kubernetes' controllers add to nodes and remove",
            "remove this taint; one of your own has your own domain, such as example.com/",
        )
    elif any(prefix == kept or prefix.endswith(f".{kept}") for kept in _OF_KUBERNETES):
        yield Problem(
            f"{path}.key",
            f"is under {prefix}/, a domain that Kubernetes keeps for its own components",
            "use a domain of your own, such as example.com/",
            warning=True,
        )


RULES = (_names, _removed)
POOL_RULES = (_labels, _labels_of_the_twin, _doubled_taints, _derived_taints, _controllers_taints)
