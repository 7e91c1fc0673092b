"""Names of pools in an existing cluster: two stacks, or a stack and a person, may want the same
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from components.target import Stack
from config.base.problems import Problem
from config.placement.node_pools import POOL_LABEL, NodePool

STACK_TAG = "kubeflow-spot-stack"
"""Tag (AKS) or resource label (GKE) of every pool that a stack adds to an existing cluster; Azure
allows no slash in it."""


def name_taken(
    stack: Stack,
    pool: NodePool,
    cluster: str,
    *,
    labels: Mapping[str, str] | None,
    tags: Mapping[str, str] | None,
    names: Iterable[str],
) -> Iterator[Problem]:
    """Yield a problem if the live pool of this name, with these node labels and tags, is not this
    stack's.

    A live pool with the program's label and without the tag may be this stack's. `names`: all pools
    of the cluster.
    """
    owner = (tags or {}).get(STACK_TAG)
    if POOL_LABEL in (labels or {}) and owner in (None, stack.instance):
        return
    whose = f"stack {owner!r}" if owner and owner != stack.instance else "another owner"
    yield Problem(
        f"{stack.path(pool)}.name",
        f"the cluster {cluster!r} has a pool {pool.name!r} already, made by {whose}",
        f"choose a name that is free; taken are: {', '.join(sorted(names))}",
    )
