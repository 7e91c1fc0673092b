"""Whether the names that a stack takes on Google Cloud are free, and what it names is there."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import Remark, note, ok, wrong
from checks.preflight.answers import Answers
from checks.preflight.gcp.machines import settings


def names(answers: Answers) -> Iterator[Remark]:
    """Check the names of the cluster and its network."""
    cloud, name = settings(answers), answers.demand.spec.name
    cluster = answers.part("cluster")
    if not answers.demand.new:
        if cluster is None:
            yield wrong(
                f"{cloud.place} has no cluster {name} to add pools to",
                "correct `cloud.existingCluster`",
            )
        else:
            yield ok(f"cluster {name} exists")
        return
    made = "if this stack made it, there is nothing to do"
    tags, live = answers.demand.spec.cluster.tags, (cluster or {}).get("resourceLabels") or {}
    if tags and tags.items() <= live.items():
        yield note(
            f"{cloud.place} has a cluster {name} with this stack's labels: a first `up` was made"
            " already"
        )
    elif cluster is not None:
        yield wrong(
            f"{cloud.place} has a cluster {name} already", f"choose another `cluster.name`; {made}"
        )
    elif cloud.network.existing is None and answers.part("network") is not None:
        yield wrong(
            f"the project has a network {name} already", f"choose another `cluster.name`; {made}"
        )
    else:
        yield ok(f"the name {name} is free")


def bucket(answers: Answers) -> Iterator[Remark]:
    """Check the bucket for checkpoints: that its name is free, or that it has uniform access."""
    if existing := answers.demand.existing_bucket:
        yield _existing(answers, existing)
        return
    name = answers.demand.bucket
    if not name:
        yield ok("the stack makes no bucket")
    elif answers.part("bucket") is None:
        yield ok(f"the bucket's name {name} is free")
    else:
        yield _readable(answers, name)


def _readable(answers: Answers, name: str) -> Remark:
    """Judge an existing bucket of the wanted name, which outlives its stack (docs/workloads.md)."""
    says, existing = (
        f"there is a bucket {name}, which these credentials may read",
        f"`existing: {name}`",
    )
    if (
        answers.part("cluster") is None
        and settings(answers).network.existing is None
        and answers.part("network") is None
    ):
        return wrong(
            f"{says}, and nothing else of the stack: an `up` would end with 'you already own it',"
            " or that it exists",
            f"write {existing} in `workloads.checkpoints` in place of `name`, or choose another"
            " name",
        )
    return note(
        says,
        "nothing, if an `up` of this stack made it; after a `destroy`, or if it is another's,"
        f" write {existing} in place of"
        " `name` in `workloads.checkpoints`, or choose another name",
    )


def _existing(answers: Answers, name: str) -> Remark:
    live = answers.part("bucket")
    if live is None:
        return wrong(
            f"there is no bucket {name}", "correct `workloads.checkpoints.existing`, or make it"
        )
    access = (live.get("iamConfiguration") or {}).get("uniformBucketLevelAccess") or {}
    if not access.get("enabled"):
        # Conditions of grants need it (page access-control/iam, "Conditions").
        return wrong(
            f"bucket {name} has no uniform bucket-level access, without which Google takes no"
            " rights for a prefix",
            f"gcloud storage buckets update gs://{name} --uniform-bucket-level-access",
        )
    return ok(f"bucket {name} has uniform bucket-level access")
