"""Whether the names that a stack takes on Azure are free."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import Remark, note, ok, wrong
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand
from config.clouds.azure.azure_settings import Azure, kept_group

_EXISTS = "and nothing else of the stack: an `up` would end with 'already exists'"


def group(demand: Demand) -> str:
    """Return the name of the cluster's resource group."""
    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    if cloud.existing_cluster:
        return cloud.existing_cluster.resource_group
    return cloud.group(demand.spec.name).text


def names(answers: Answers) -> Iterator[Remark]:
    """Check the names of the cluster and its group."""
    cloud, name = answers.demand.spec.cloud, answers.demand.spec.name
    assert isinstance(cloud, Azure)
    if not answers.demand.new:
        if answers.part("cluster") is None:
            yield wrong(
                f"there is no cluster {name} to add pools to", "correct `cloud.existingCluster`"
            )
        else:
            yield ok(f"cluster {name} exists")
        return
    held = group(answers.demand)
    exists = answers.part("resourceGroup") is not None
    fine = True
    if cloud.existing_resource_group and not exists:
        fine = False
        yield wrong(
            f"there is no resource group {held}",
            "make it, or leave `cloud.existingResourceGroup` out",
        )
    if _own(answers, "cluster") or (
        exists and not cloud.existing_resource_group and _own(answers, "resourceGroup")
    ):
        fine = False
        yield note(
            f"resource group {held} and what is in it carry this stack's tags: a first `up` was"
            " made already"
        )
    elif answers.part("cluster") is not None:
        fine = False
        yield wrong(
            f"resource group {held} has a cluster {name} already",
            "choose another `cluster.name`; if this stack made it, there is nothing to do",
        )
    elif exists and not cloud.existing_resource_group:
        fine = False
        yield wrong(
            f"there is a resource group {held} already, which the stack would make",
            "set `cloud.existingResourceGroup`, or another `cloud.resourceGroup`",
        )
    if fine:
        yield ok(
            f"the names are free: cluster {name}, resource group {held}"
            if not exists
            else f"the name {name} is free in {held}"
        )


def _own(answers: Answers, part: str) -> bool:
    """Return whether a resource has all tags of the stack file, which must have some."""
    tags, live = answers.demand.spec.cluster.tags, (answers.part(part) or {}).get("tags") or {}
    return bool(tags) and tags.items() <= live.items()


def bucket(answers: Answers) -> Iterator[Remark]:
    """Check the storage account for checkpoints: that its name is free, or that it exists."""
    if existing := answers.demand.existing_bucket:
        yield from _existing(answers, existing)
        return
    name = answers.demand.bucket
    if not name:
        yield ok("the stack makes no storage account")
        return
    answer = answers.part("accountName") or {}
    kept = kept_group(group(answers.demand), name)
    if (
        answer.get("nameAvailable")
        and _nothing(answers)
        and answers.part("storageGroup") is not None
    ):
        yield wrong(
            f"there is a resource group {kept} without the account, {_EXISTS}",
            f"look what is in it, and delete it: az group delete --name {kept}; or choose another"
            " name",
        )
    elif answer.get("nameAvailable"):
        yield ok(f"the storage account's name {name} is free")
    elif answer.get("reason") != "AlreadyExists":
        yield wrong(
            f"Azure refuses the storage account's name {name}",
            "choose another `workloads.checkpoints.name`",
        )
    elif mine := next(
        (item for item in answers.part("accounts") or () if item.get("name") == name), None
    ):
        yield _mine(answers, name, str(mine.get("id") or "its resource id"))
    else:
        yield wrong(
            f"the storage account's name {name} is taken, and not in this subscription",
            "choose another `workloads.checkpoints.name`",
        )


def _mine(answers: Answers, name: str, id: str) -> Remark:
    """Judge an existing account of the wanted name, which outlives its stack (docs/workloads.md)."""
    existing = f"`workloads.checkpoints.existing: {id}`"
    if _nothing(answers):
        return wrong(
            f"there is a storage account {name} in this subscription, {_EXISTS}",
            f"write {existing} in place of `name`, or choose another name",
        )
    return note(
        f"there is a storage account {name} in this subscription",
        "nothing, if an `up` of this stack made it; after a `destroy`, or if it is another's,"
        f" {existing} in place of `name`",
    )


def _nothing(answers: Answers) -> bool:
    """Return whether neither the cluster nor its group exists, as before a first `up`."""
    return answers.part("cluster") is None and answers.part("resourceGroup") is None


def _existing(answers: Answers, account: str) -> Iterator[Remark]:
    # The owner of the account makes the container (docs/workloads.md).
    name = account.rpartition("/")[2]
    if answers.part("container") is None:
        yield wrong(
            f"there is no container checkpoints in storage account {name}, or no such account",
            "correct `workloads.checkpoints.existing`, or make it: az storage container-rm create"
            " --name checkpoints"
            f" --storage-account {name}",
        )
    else:
        yield ok(f"storage account {name} has a container checkpoints")
