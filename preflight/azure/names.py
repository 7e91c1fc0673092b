"""Whether the names that a stack takes on Azure are free."""

from __future__ import annotations

from collections.abc import Iterator

from config.clouds.azure.settings import Azure
from preflight.answers import Answers
from ready.check import Said, note, ok, wrong


def names(answers: Answers) -> Iterator[Said]:
    """The names of the cluster and its group."""
    cloud, name = answers.demand.spec.cloud, answers.demand.spec.name
    assert isinstance(cloud, Azure)
    if not answers.demand.new:
        if answers.part("cluster") is None:
            yield wrong(f"there is no cluster {name} to add pools to", "correct `cloud.existingCluster`")
        else:
            yield ok(f"cluster {name} exists")
        return
    group = cloud.existing_resource_group or cloud.resource_group or name
    exists = answers.part("resourceGroup") is not None
    fine = True
    if cloud.existing_resource_group and not exists:
        fine = False
        yield wrong(f"there is no resource group {group}", "make it, or leave `cloud.existingResourceGroup` out")
    if _own(answers, "cluster") or (exists and not cloud.existing_resource_group and _own(answers, "resourceGroup")):
        fine = False
        yield note(f"resource group {group} and what is in it carry this stack's tags: a first `up` was made already")
    elif answers.part("cluster") is not None:
        fine = False
        yield wrong(
            f"resource group {group} has a cluster {name} already",
            "choose another `cluster.name`; if this stack made it, there is nothing to do",
        )
    elif exists and not cloud.existing_resource_group:
        fine = False
        yield wrong(
            f"there is a resource group {group} already, which the stack would make",
            "set `cloud.existingResourceGroup`, or another `cloud.resourceGroup`",
        )
    if fine:
        yield ok(
            f"the names are free: cluster {name}, resource group {group}"
            if not exists
            else f"the name {name} is free in {group}"
        )


def _own(answers: Answers, part: str) -> bool:
    """Whether something bears all tags of the stack file, which must have some."""
    tags, live = answers.demand.spec.cluster.tags, (answers.part(part) or {}).get("tags") or {}
    return bool(tags) and tags.items() <= live.items()


def bucket(answers: Answers) -> Iterator[Said]:
    """The name of the storage account for checkpoints."""
    name = answers.demand.bucket
    if not name:
        yield ok("the stack makes no storage account")
        return
    answer = answers.part("accountName") or {}
    if answer.get("nameAvailable"):
        yield ok(f"the storage account's name {name} is free")
    elif answer.get("reason") != "AlreadyExists":
        yield wrong(f"Azure refuses the storage account's name {name}", "choose another `workloads.checkpoints.name`")
    elif any(item.get("name") == name for item in answers.part("accounts") or ()):
        yield note(
            f"there is a storage account {name} in this subscription",
            "nothing, if this stack made it; else set `workloads.checkpoints.existing`",
        )
    else:
        yield wrong(
            f"the storage account's name {name} is taken, and not in this subscription",
            "choose another `workloads.checkpoints.name`",
        )
