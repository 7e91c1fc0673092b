"""Checks of stacks in a cluster that somebody else made: what is theirs to decide is no setting here."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.existing.settings import Existing
from config.clouds.traits import Cloud
from config.draft import Draft
from config.model.fields import Model, readable
from config.model.stack import Pool
from config.problems import Problem

_THEIRS = "is set for a cluster this stack does not make"
_REMOVE = "remove it: whoever made the cluster decides this"

CLUSTER = ("name", "protect", "kubernetes_version", "reason")
OURS: dict[str, tuple[set[str], set[str]]] = {
    "azure": ({"provider", "existing_cluster", "encryption"}, {"at_host"}),
    "gcp": (
        {"provider", "project", "existing_cluster", "encryption", "fallback", "registries", "service_account"},
        {"boot_disk_key"},
    ),
}
"""What is said of the pools that are added: keys of `cloud`, and of `cloud.encryption`."""

DESCRIBED = ("generation", "subnet", "os_disk", "max_pods", "mig", "install_driver", "upgrade", "zones", "spot", "gcp")
"""What a pool says of how machines are made or bought; of those that are there it is too late to say."""


def _cluster(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.made_here:
        return
    if draft.system_pool:
        yield Problem("systemPool", _THEIRS, _REMOVE)
    if draft.cluster:
        yield from _set("cluster", draft.cluster, *CLUSTER)


def _cloud(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    settings = draft.cloud
    if draft.made_here or settings is None or isinstance(settings, Existing):
        return
    ours, of_pools = OURS[cloud.provider]
    yield from _set("cloud", settings, *sorted(set(type(settings).model_fields) - ours))
    if readable(settings, "encryption"):
        theirs = set(type(settings.encryption).model_fields) - of_pools
        yield from _set("cloud.encryption", settings.encryption, *sorted(theirs))


def _set(path: str, thing: Model, *names: str) -> Iterator[Problem]:
    for name in names:
        if name in thing.model_fields_set:
            yield Problem(f"{path}.{type(thing).model_fields[name].alias}", _THEIRS, _REMOVE)


def _pool(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if cloud.makes_pools:
        return
    for name in DESCRIBED:
        if name in pool.model_fields_set:
            key = Pool.model_fields[name].alias
            yield Problem(f"{path}.{key}", "is set for nodes that this stack does not make", "remove it")


def _twin(path: str, pool: Pool, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for number, step in enumerate(pool.fallback):
        if step.on_demand and not cloud.makes_pools:
            yield Problem(
                f"{path}.fallback[{number}].onDemand",
                "would make nodes, which this stack does not in this cluster",
                "remove it, and describe the on-demand nodes that are there as a pool of their own",
            )


def _kubeconfig(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if not isinstance(draft.cloud, Existing):
        return
    given = draft.cloud.kubeconfig.model_fields_set
    sources = [key for key in ("file", "contents", "stack") if key in given]
    if len(sources) != 1:
        yield Problem(
            "cloud.kubeconfig",
            f"names {' and '.join(sources)}" if sources else "names no source",
            "write one of: `file: PATH`, `contents: ...` (a secret), `stack: organization/project/stack`",
        )
    for key, needs in (("context", "file"), ("output", "stack")):
        if key in given and len(sources) == 1 and needs not in given:
            yield Problem(f"cloud.kubeconfig.{key}", f"has no use without `{needs}`", "remove it")


RULES = (_cluster, _cloud, _kubeconfig)
POOL_RULES = (_pool, _twin)
