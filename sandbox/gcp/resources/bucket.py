"""Buckets of Cloud Storage, and members of roles in their policies (terraform-provider-google-beta services/storage)."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud import rules
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_catalogue, gcp_conditions, gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, bad_request, invalid
from sandbox.gcp.resources import gcp_identity
from sandbox.gcp.resources.gcp_requests import CLUSTER
from sandbox.gcp.resources.gcp_resource_type import ROLE, GcpType, Settings

BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
FOLDER = "gcp:storage/managedFolder:ManagedFolder"
FOLDER_MEMBER = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"

_MULTI = ("ASIA", "EU", "US")
_DAY = 86400
_POOL = re.compile(
    r"principal(?:Set)?://iam\.googleapis\.com/projects/(?P<number>\d+)/locations/global"
    r"/workloadIdentityPools/(?P<project>[^/]+)\.svc\.id\.goog/.+"
)

_MEMBER_ID = re.compile(rf"b/(?P<bucket>[^/ ]+)[/ ](?P<role>{ROLE})[/ ](?P<member>[^ ]+)([/ ].*)?")


def taken(existing: Body, wanted: Body) -> GcpRefused:
    """Refuse a name that any project has (googleapis: logs of many projects, such as gitpod-io/gitpod issue 15578)."""
    if existing.get("project") == wanted.get("project"):
        return GcpRefused(
            409, "Your previous request to create the named bucket succeeded and you already own it.", "conflict"
        )
    text = (
        "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a"
        " different name and try again."
    )
    return GcpRefused(409, text, "conflict")


@rules.as_read
def location(request: Body) -> GcpRefused | None:
    # docs.cloud.google.com/storage/docs/locations; words are UNCONFIRMED
    place = request["location"]
    known = place in _MULTI or gcp_catalogue.zones_of_region(place.lower())
    return None if known else invalid(f"The specified location constraint is not valid: {place}")


@rules.as_read
def soft_delete(request: Body) -> GcpRefused | None:
    # docs.cloud.google.com/storage/docs/soft-delete: 0, or 7 to 90 days; words are UNCONFIRMED
    kept = (request.get("softDeletePolicy") or {}).get("retentionDurationSeconds", 7 * _DAY)
    fine = kept == 0 or 7 * _DAY <= kept <= 90 * _DAY
    return None if fine else invalid("Soft delete policy retention duration must be 0 or between 7 and 90 days.")


@rules.as_read
def public_access(request: Body) -> GcpRefused | None:
    # pulumi-gcp, Bucket.publicAccessPrevention; words are UNCONFIRMED
    value = request.get("publicAccessPrevention", "inherited")
    return None if value in ("inherited", "enforced") else invalid(f"Invalid argument: publicAccessPrevention {value}.")


@rules.as_read
def lifecycle(request: Body) -> GcpRefused | None:
    # docs.cloud.google.com/storage/docs/lifecycle: actions, and at least one condition; words are UNCONFIRMED
    for rule in request.get("lifecycleRules") or ():
        action = rule["action"]["type"]
        if action not in ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload"):
            return invalid(f"Invalid lifecycle action type {action}.")
        if not any(value is not None for value in rule["condition"].values()) or rule["condition"].get("age", 0) < 0:
            return invalid("A lifecycle rule needs a condition.")
    return None


BUCKET_RULES: tuple[Callable[[Body], GcpRefused | None], ...] = (location, soft_delete, public_access, lifecycle)


class Bucket(GcpType):
    """`google_storage_bucket`."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        link = f"https://www.googleapis.com/storage/v1/b/{id}"
        body = {**self.service, **wanted, "name": id, "url": f"gs://{id}", "selfLink": link}
        rules.raise_first(BUCKET_RULES, body)
        return {**body, **_labels(body), "projectNumber": int(gcp_ids.project_number(body.get("project", "")))}

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        rules.raise_first(BUCKET_RULES, planned)
        return {**planned, **_labels(planned)}

    def removed(self, resources: Resources, record: Record) -> None:
        """Remove the bucket's policy and managed folders."""
        for token in (BUCKET_MEMBER, FOLDER_MEMBER, FOLDER):
            for inside in resources.of_type(token):
                if inside.body["bucket"] == record.body["name"]:
                    resources.remove(inside.id)


def _labels(body: Body) -> Body:
    labels = dict(body.get("labels") or {})
    return {"effectiveLabels": labels, "pulumiLabels": labels}


@dataclass
class BucketGrant(gcp_identity.GrantRequest):
    """A member of a role at a bucket."""

    @property
    def bucket(self) -> Record | None:
        return self.resources.get(self.wanted["bucket"].removeprefix("b/"))


def bucket_exists(request: BucketGrant) -> GcpRefused | None:
    # Logs of many projects
    return None if request.bucket else GcpRefused(404, "The specified bucket does not exist.", "notFound")


def pool_exists(request: BucketGrant) -> GcpRefused | None:
    # terraform-google-modules/terraform-google-kubernetes-engine issue 916. The pool comes with the project's first cluster.
    match = _POOL.fullmatch(request.wanted["member"])
    if match is None:
        return None
    project, name = match["project"], f"{match['project']}.svc.id.goog"
    used = any(
        (cluster.body.get("workloadIdentityConfig") or {}).get("workloadPool") == name
        for cluster in request.resources.of_type(CLUSTER)
    )
    if used and match["number"] == gcp_ids.project_number(project):
        return None
    return bad_request(
        f"Identity Pool does not exist ({name}). Please check that you specified a valid resource name as returned in the `name`"
        " attribute in the configuration API."
    )


@rules.as_read
def condition_needs_uniform_access(request: BucketGrant) -> GcpRefused | None:
    # docs.cloud.google.com/storage/docs/access-control/iam, "Conditions"; words are UNCONFIRMED
    if not request.wanted.get("condition") or (request.bucket and request.bucket.body["uniformBucketLevelAccess"]):
        return None
    return invalid("Conditions can be set only on buckets with uniform bucket-level access enabled.")


@rules.as_read
def condition_form(request: BucketGrant) -> GcpRefused | None:
    # docs.cloud.google.com/iam/docs/conditions-overview; words are UNCONFIRMED
    if not (condition := request.wanted.get("condition")):
        return None
    if not 1 <= len(condition["title"]) <= 100:
        return invalid("The title of a condition has 1 to 100 characters.")
    try:
        gcp_conditions.parse_condition(condition["expression"])
    except gcp_conditions.Malformed as malformed:
        return invalid(f"Condition expression compilation failed: {malformed}.")
    return None


MEMBER_RULES: tuple[Callable[[BucketGrant], GcpRefused | None], ...] = (
    *(bucket_exists, pool_exists, condition_needs_uniform_access, condition_form),
)


class BucketMember(gcp_identity.Member):
    """`google_storage_bucket_iam_member`. Bindings of one role and member with two conditions are two.

    Title, description and expression tell conditions apart, in this order in the id (package tpgiamresource, conditionKey).
    """

    def id(self, inputs: Body, settings: Settings) -> str:
        condition = inputs.get("condition")
        named = [condition.get(key, "") for key in ("title", "description", "expression")] if condition else []
        return "/".join([super().id(inputs, settings), *named])

    def matches(self, id: str) -> dict[str, str] | None:
        match = _MEMBER_ID.fullmatch(id)
        return match.groupdict() if match else None

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        rules.raise_first(MEMBER_RULES, BucketGrant(wanted, resources))
        return super().create(resources, id, wanted)


@dataclass
class FolderRequest:
    """A managed folder that is to be made."""

    wanted: Body
    resources: Resources

    @property
    def bucket(self) -> Record | None:
        return self.resources.get(self.wanted["bucket"])


def folder_in_a_bucket(request: FolderRequest) -> GcpRefused | None:
    # As of a bucket's policy
    return None if request.bucket else GcpRefused(404, "The specified bucket does not exist.", "notFound")


@rules.as_read
def folder_name(request: FolderRequest) -> GcpRefused | None:
    # pulumi-gcp, ManagedFolder.name: with a `/` at its end; words are UNCONFIRMED
    return (
        None if request.wanted["name"].endswith("/") else invalid("Invalid managed folder name: it must end with '/'.")
    )


@rules.as_read
def folder_needs_uniform_access(request: FolderRequest) -> GcpRefused | None:
    # docs.cloud.google.com/storage/docs/managed-folders; words are UNCONFIRMED
    if request.bucket and request.bucket.body["uniformBucketLevelAccess"]:
        return None
    return invalid("Managed folders need a bucket with uniform bucket-level access.")


FOLDER_RULES: tuple[Callable[[FolderRequest], GcpRefused | None], ...] = (
    *(folder_in_a_bucket, folder_name, folder_needs_uniform_access),
)


class Folder(GcpType):
    """`google_storage_managed_folder`: a prefix of objects with a policy of its own."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        rules.raise_first(FOLDER_RULES, FolderRequest(wanted, resources))
        return super().create(resources, id, wanted)

    def removed(self, resources: Resources, record: Record) -> None:
        """Remove the folder's policy."""
        for member in resources.of_type(FOLDER_MEMBER):
            if (member.body["bucket"], member.body["managedFolder"]) == (record.body["bucket"], record.body["name"]):
                resources.remove(member.id)


def folder_exists(request: BucketGrant) -> GcpRefused | None:
    # Words are UNCONFIRMED
    if request.resources.get(f"{request.wanted['bucket']}/{request.wanted['managedFolder']}"):
        return None
    return GcpRefused(404, "The specified managed folder does not exist.", "notFound")


FOLDER_MEMBER_RULES: tuple[Callable[[BucketGrant], GcpRefused | None], ...] = (
    *(bucket_exists, folder_exists, pool_exists),
)


class FolderMember(gcp_identity.Member):
    """`google_storage_managed_folder_iam_member`, here without conditions, which are refused."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        if wanted.get("condition"):
            raise Refused("the sandbox knows no conditions in the policies of managed folders")
        rules.raise_first(FOLDER_MEMBER_RULES, BucketGrant(wanted, resources))
        return super().create(resources, id, wanted)
