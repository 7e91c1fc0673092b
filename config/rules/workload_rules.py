"""Rules of what workloads use: checkpoints and their profiles, queues, image pull secrets."""

from __future__ import annotations

from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.fields import given
from config.model.reading import doubled, of_each, part
from config.model.workloads import Checkpoints, ProfileAccess
from config.rules.draft import Draft, has_gpus

_CHECKPOINTS = "workloads.checkpoints"


def checkpoints(draft: Draft) -> Checkpoints | None:
    """Return the readable settings of the checkpoints."""
    found: Checkpoints | None = part(draft.workloads, "checkpoints") if draft.workloads else None
    return found


def profiles(draft: Draft) -> list[tuple[str, ProfileAccess]]:
    """Return the profiles with their paths."""
    found = part(draft.workloads, "profiles") if draft.workloads else None
    return [(f"workloads.profiles[{index}]", profile) for index, profile in enumerate(found or ())]


def _cluster(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse workloads for an existing cluster, whose issuer and identities are unknown."""
    if draft.workloads is None or draft.makes_cluster:
        return
    if not cloud.makes_pools:
        what = (
            "needs a cloud's identity for each profile; a cluster known only by its kubeconfig "
            "has no known cloud"
        )
        remedy = "remove it; make bucket and identities with that cloud's own tools"
    else:
        what = "is set for a cluster this stack does not make"
        remedy = "remove it: the cluster's owner makes the bucket and grants the profiles access"
    yield Problem("workloads", what, remedy)


def _one_source(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    if wanted is None:
        return
    if wanted.name is None and wanted.existing is None:
        remedy = "add `name` for one that the stack makes, or `existing`"
        yield Problem(f"{_CHECKPOINTS}.name", "is missing, and so is `existing`", remedy)
    if wanted.name is not None and wanted.existing is not None:
        remedy = "keep one: the stack makes what `name` names, and only uses what `existing` names"
        yield Problem(f"{_CHECKPOINTS}.existing", "is set beside `name`", remedy)


def _owners_settings(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    if wanted is None or wanted.existing is None:
        return
    for name in given(wanted, "expire_after_days", "soft_delete_days"):
        key = Checkpoints.model_fields[name].alias
        what = "is set for storage that this stack does not make"
        yield Problem(f"{_CHECKPOINTS}.{key}", what, "remove it: the owner decides this")


def _no_storage(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    listed = profiles(draft)
    # A key that could not be read is in the file all the same.
    if listed and draft.workloads and "checkpoints" not in draft.workloads.model_fields_set:
        yield Problem(
            "workloads.profiles",
            "name profiles, and there are no checkpoints for them to reach",
            "add `checkpoints`",
        )


def _namespaces(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, first, profile in doubled(profiles(draft), lambda profile: profile.namespace):
        what = f"{profile.namespace!r} is the namespace of {first} already"
        yield Problem(f"{path}.namespace", what, "name each namespace once")


def _accounts(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, names in of_each(profiles(draft), lambda pair: (pair[0], pair[1].service_accounts)):
        listed = [(f"{path}.serviceAccounts[{index}]", name) for index, name in enumerate(names)]
        for again, first, name in doubled(listed, lambda name: name):
            yield Problem(again, f"{name!r} is {first} already", "name each service account once")


def _prefixes(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    """Refuse a prefix within another: the outer profile would reach the inner one's objects."""
    paths = of_each(profiles(draft), lambda pair: (*pair, pair[1].path))
    for number, (path, profile, own) in enumerate(paths):
        for other, _, theirs in paths[:number]:
            if own.startswith(theirs) or theirs.startswith(own):
                key = "prefix" if profile.prefix else "namespace"
                what = f"{own} and {theirs} of {other} hold each other's objects"
                yield Problem(
                    f"{path}.{key}", what, "write prefixes of which none begins with another"
                )


def _storage_class(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    name = part(draft.workloads, "storage_class") if draft.workloads else None
    if name in cloud.storage_classes:
        what = f"{name!r} is a StorageClass that {cloud.title} brings"
        yield Problem(
            "workloads.storageClass", what, "take another name, or remove it and use that one"
        )


def _no_gpus(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    enabled = draft.queueing and part(draft.queueing, "enabled")
    if not enabled or not draft.all_pools:
        return
    known = draft.of_pools(lambda pool: has_gpus(pool, cloud))
    if len(known) == len(draft.pools) and not any(known):
        what = "is true, and no pool has GPUs that work could wait for"
        yield Problem("queueing.enabled", what, "add a pool with GPUs, or remove `queueing`")


def _queue_namespaces(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    named = (part(draft.queueing, "namespaces") if draft.queueing else None) or ()
    listed = [(f"queueing.namespaces[{index}]", name) for index, name in enumerate(named)]
    for path, first, name in doubled(listed, lambda name: name):
        yield Problem(path, f"{name!r} is {first} already", "name each namespace once")


def _unread(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if draft.queueing and draft.queueing.namespaces and not draft.queueing.enabled:
        what = "is never read: queueing is not enabled"
        yield Problem(
            "queueing.namespaces", what, "add `enabled: true`, or remove `queueing`", warning=True
        )


def _doubled_secrets(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    secrets = [
        (f"imagePullSecrets[{index}]", secret)
        for index, names in of_each(
            draft.image_pull_secrets.items(),
            lambda pair: (pair[0], [(name, pair[1].name) for name in pair[1].namespaces]),
        )
        for secret in names
    ]
    for path, first, (namespace, name) in doubled(secrets, lambda secret: secret):
        yield Problem(
            path,
            f"makes the Secret {name!r} in namespace {namespace!r}, as {first} does",
            "give it another name, or name each namespace once",
        )


RULES = (
    _cluster,
    _one_source,
    _owners_settings,
    _no_storage,
    _namespaces,
    _accounts,
    _prefixes,
    _storage_class,
    _no_gpus,
    _queue_namespaces,
    _unread,
    _doubled_secrets,
)
