"""Buckets, and who may use what is in them."""

from __future__ import annotations

from typing import Any

from sandbox.gcp import gcp_cloud
from sandbox.gcp.gcp_ids import project_number
from sandbox.gcp.resources import bucket

from ..conftest import PROJECT
from .row import Again, Make, Row

_BUCKET = {"name": "ml-checkpoints", "project": PROJECT, "location": "EUROPE-WEST4", "uniformBucketLevelAccess": True}
_POOL = f"projects/{project_number(PROJECT)}/locations/global/workloadIdentityPools/{PROJECT}.svc.id.goog"


def _bucket(**changes: Any) -> Make:
    return Make(bucket.BUCKET, {**_BUCKET, **changes})


def _member(pool: str = _POOL, expression: str = "", of: str = "ml-checkpoints", title: str = "own") -> Make:
    member = f"principal://iam.googleapis.com/{pool}/subject/ns/team-a/sa/default-editor"
    condition = {"condition": {"title": title, "expression": expression}} if expression else {}
    inputs = {"bucket": of, "role": "roles/storage.objectUser", "member": member, **condition}
    return Make(bucket.BUCKET_MEMBER, inputs)


_FOLDER = {"bucket": "ml-checkpoints", "name": "team-a/"}


def _folder(**changes: Any) -> Make:
    return Make(bucket.FOLDER, {**_FOLDER, **changes})


def _folder_member(folder: str = "team-a/") -> Make:
    member = f"principal://iam.googleapis.com/{_POOL}/subject/ns/team-a/sa/default-editor"
    role = "roles/storage.objectUser"
    return Make(
        bucket.FOLDER_MEMBER, {"bucket": "ml-checkpoints", "managedFolder": folder, "role": role, "member": member}
    )


_OWN = 'resource.name.startsWith("projects/_/buckets/ml-checkpoints/objects/team-a/")'
_EXPIRY = {"action": {"type": "Delete"}, "condition": {"age": 9}}

ROWS = [
    Row(
        "managed folder in no bucket",
        "as of a bucket's policy",
        bucket.folder_in_a_bucket,
        "The specified bucket does not exist.",
        given=(_bucket(),),
        bad=_folder(bucket="ml-another"),
        good=_folder(),
    ),
    Row(
        "managed folder without a slash",
        "pulumi-gcp, ManagedFolder.name",
        bucket.folder_name,
        "must end with '/'",
        confirmed=False,
        given=(_bucket(),),
        bad=_folder(name="team-a"),
        good=_folder(),
    ),
    Row(
        "managed folder beside lists of access",
        "docs.cloud.google.com/storage/docs/managed-folders",
        bucket.folder_needs_uniform_access,
        "need a bucket with uniform bucket-level access",
        confirmed=False,
        given=(_bucket(), _bucket(name="ml-listed", uniformBucketLevelAccess=False)),
        bad=_folder(bucket="ml-listed"),
        good=_folder(),
    ),
    Row(
        "member of no managed folder",
        "the sandbox's own",
        bucket.folder_exists,
        "The specified managed folder does not exist.",
        given=(_bucket(), _folder()),
        bad=_folder_member("team-b/"),
        good=_folder_member(),
    ),
    Row(
        "bucket twice",
        "gitpod-io/gitpod issue 15578",
        gcp_cloud._exists,
        "Error 409: Your previous request to create the named bucket succeeded and you already own it., conflict",
        given=(_bucket(),),
        bad=Again(bucket.BUCKET, _BUCKET),
        good=Again(bucket.BUCKET, {**_BUCKET, "name": "ml-checkpoints-2"}),
    ),
    Row(
        "bucket of somebody else",
        "terraform-google-modules/terraform-example-foundation issue 716",
        gcp_cloud._exists,
        "Error 409: The requested bucket name is not available.",
        given=(_bucket(project="example-theirs"),),
        bad=Again(bucket.BUCKET, _BUCKET),
        good=Again(bucket.BUCKET, {**_BUCKET, "name": "ml-checkpoints-2"}),
    ),
    Row(
        "bucket in a zone",
        "docs.cloud.google.com/storage/docs/locations",
        bucket.location,
        "location constraint is not valid",
        confirmed=False,
        bad=_bucket(location="EUROPE-WEST44"),
        good=_bucket(location="EU"),
    ),
    Row(
        "soft delete of a day",
        "docs.cloud.google.com/storage/docs/soft-delete",
        bucket.soft_delete,
        "must be 0 or between 7 and 90 days",
        confirmed=False,
        bad=_bucket(softDeletePolicy={"retentionDurationSeconds": 86400}),
        good=_bucket(softDeletePolicy={"retentionDurationSeconds": 7 * 86400}),
    ),
    Row(
        "public access that is no word",
        "docs.cloud.google.com/storage/docs/public-access-prevention",
        bucket.public_access,
        "publicAccessPrevention enforce",
        confirmed=False,
        bad=_bucket(publicAccessPrevention="enforce"),
        good=_bucket(publicAccessPrevention="enforced"),
    ),
    Row(
        "lifecycle action that does not exist",
        "docs.cloud.google.com/storage/docs/lifecycle",
        bucket.lifecycle,
        "Invalid lifecycle action type delete",
        confirmed=False,
        bad=_bucket(lifecycleRules=[{**_EXPIRY, "action": {"type": "delete"}}]),
        good=_bucket(lifecycleRules=[_EXPIRY]),
    ),
    Row(
        "member at no bucket",
        "logs of many projects",
        bucket.bucket_exists,
        "Error 404: The specified bucket does not exist., notFound",
        given=(_bucket(),),
        bad=_member(of="ml-checkpoint"),
        good=_member(),
    ),
    Row(
        "member of no pool",
        "terraform-google-modules/terraform-google-kubernetes-engine issue 916",
        bucket.pool_exists,
        "Error 400: Identity Pool does not exist (another-project.svc.id.goog).",
        given=(_bucket(),),
        bad=_member(_POOL.replace(PROJECT, "another-project")),
        good=_member(),
    ),
    Row(
        "condition beside access control lists",
        "docs.cloud.google.com/storage/docs/access-control/iam",
        bucket.condition_needs_uniform_access,
        "uniform bucket-level access",
        confirmed=False,
        given=(_bucket(uniformBucketLevelAccess=False),),
        bad=_member(expression=_OWN),
        good=_member(),
    ),
    Row(
        "condition with a function that is none",
        "docs.cloud.google.com/iam/docs/conditions-attribute-reference",
        bucket.condition_form,
        "Condition expression compilation failed",
        confirmed=False,
        given=(_bucket(),),
        bad=_member(expression=_OWN.replace("startsWith", "contains")),
        good=_member(expression=f'{_OWN} || (!(resource.type == "x") && true)'),
    ),
    Row(
        "condition without a title",
        "docs.cloud.google.com/iam/docs/conditions-overview",
        bucket.condition_form,
        "title",
        confirmed=False,
        given=(_bucket(),),
        bad=_member(expression=_OWN, title="o" * 101),
        good=_member(expression=_OWN, title="o" * 100),
    ),
]
