"""Buckets, and who may use what is in them."""

from typing import Any

from sandbox.gcp import gcp_cloud
from sandbox.gcp.gcp_ids import project_number
from sandbox.gcp.resources import bucket
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import PROJECT
from .requests import Again, Make

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
    Row("managed folder in no bucket", bucket.folder_in_a_bucket, "as of a bucket's policy")
    .says("The specified bucket does not exist.")
    .given(_bucket())
    .tries(_folder, bucket=("ml-another", ABSENT)),
    Row("managed folder without a slash", bucket.folder_name, "pulumi-gcp, ManagedFolder.name")
    .assumes("must end with '/'")
    .given(_bucket())
    .tries(_folder, name=("team-a", ABSENT)),
    Row(
        "managed folder beside lists of access",
        bucket.folder_needs_uniform_access,
        "docs.cloud.google.com/storage/docs/managed-folders",
    )
    .assumes("need a bucket with uniform bucket-level access")
    .given(_bucket(), _bucket(name="ml-listed", uniformBucketLevelAccess=False))
    .tries(_folder, bucket=("ml-listed", ABSENT)),
    Row("member of no managed folder", bucket.folder_exists, "the sandbox's own")
    .says("The specified managed folder does not exist.")
    .given(_bucket(), _folder())
    .refuses(_folder_member("team-b/"))
    .accepts(_folder_member()),
    Row("bucket twice", gcp_cloud._exists, "gitpod-io/gitpod issue 15578")
    .says("Error 409: Your previous request to create the named bucket succeeded and you already own it., conflict")
    .given(_bucket())
    .tries(Again, bucket.BUCKET, (_BUCKET, {**_BUCKET, "name": "ml-checkpoints-2"})),
    Row("bucket of somebody else", gcp_cloud._exists, "terraform-google-modules/terraform-example-foundation issue 716")
    .says("Error 409: The requested bucket name is not available.")
    .given(_bucket(project="example-theirs"))
    .tries(Again, bucket.BUCKET, (_BUCKET, {**_BUCKET, "name": "ml-checkpoints-2"})),
    Row("bucket in a zone", bucket.location, "docs.cloud.google.com/storage/docs/locations")
    .assumes("location constraint is not valid")
    .tries(_bucket, location=("EUROPE-WEST44", "EU")),
    Row("soft delete of a day", bucket.soft_delete, "docs.cloud.google.com/storage/docs/soft-delete")
    .assumes("must be 0 or between 7 and 90 days")
    .tries(_bucket, softDeletePolicy={"retentionDurationSeconds": (86400, 7 * 86400)}),
    Row(
        "public access that is no word",
        bucket.public_access,
        "docs.cloud.google.com/storage/docs/public-access-prevention",
    )
    .assumes("publicAccessPrevention enforce")
    .tries(_bucket, publicAccessPrevention=("enforce", "enforced")),
    Row("lifecycle action that does not exist", bucket.lifecycle, "docs.cloud.google.com/storage/docs/lifecycle")
    .assumes("Invalid lifecycle action type delete")
    .tries(_bucket, lifecycleRules=[({**_EXPIRY, "action": {"type": "delete"}}, _EXPIRY)]),
    Row("member at no bucket", bucket.bucket_exists, "logs of many projects")
    .says("Error 404: The specified bucket does not exist., notFound")
    .given(_bucket())
    .tries(_member, of=("ml-checkpoint", ABSENT)),
    Row(
        "member of no pool", bucket.pool_exists, "terraform-google-modules/terraform-google-kubernetes-engine issue 916"
    )
    .says("Error 400: Identity Pool does not exist (another-project.svc.id.goog).")
    .given(_bucket())
    .refuses(_member(_POOL.replace(PROJECT, "another-project")))
    .accepts(_member()),
    Row(
        "condition beside access control lists",
        bucket.condition_needs_uniform_access,
        "docs.cloud.google.com/storage/docs/access-control/iam",
    )
    .assumes("uniform bucket-level access")
    .given(_bucket(uniformBucketLevelAccess=False))
    .tries(_member, expression=(_OWN, ABSENT)),
    Row(
        "condition with a function that is none",
        bucket.condition_form,
        "docs.cloud.google.com/iam/docs/conditions-attribute-reference",
    )
    .assumes("Condition expression compilation failed")
    .given(_bucket())
    .tries(
        _member, expression=(_OWN.replace("startsWith", "contains"), f'{_OWN} || (!(resource.type == "x") && true)')
    ),
    Row("condition without a title", bucket.condition_form, "docs.cloud.google.com/iam/docs/conditions-overview")
    .assumes("title")
    .given(_bucket())
    .tries(_member, expression=_OWN, title=("o" * 101, "o" * 100)),
]
