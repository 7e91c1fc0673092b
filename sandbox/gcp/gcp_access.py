"""Whether a principal may do something with a bucket or its objects: bindings of the bucket's policy, roles, conditions.

docs.cloud.google.com/iam/docs/policies; what a request asks for is docs.cloud.google.com/storage/docs/access-control, page
iam-json. Bindings of projects and folders, groups, deny policies and access control lists are not known here: a bucket has
uniform access or is refused (`resources.bucket`).
"""

from dataclasses import dataclass

from sandbox.cloud.facts import tables
from sandbox.cloud.state import Resources
from sandbox.gcp import gcp_conditions
from sandbox.gcp.resources.bucket import BUCKET_MEMBER, FOLDER_MEMBER


@dataclass(frozen=True)
class Attempt:
    """A request at Cloud Storage."""

    operation: str
    """Such as objects.get; `data/storage-roles.toml` lists them."""
    bucket: str
    object: str = ""
    prefix: str = ""
    """The parameter of objects.list; empty where the request has none."""


def allowed(resources: Resources, principal: str, attempt: Attempt) -> bool:
    """Return whether the principal, as a policy names it, may. Raises KeyError for an operation or a role that is not
    known here.
    """
    facts = tables("gcp", "storage-roles")
    operation = facts["operations"][attempt.operation]
    if resources.get(attempt.bucket) is None:
        return False
    name = f"projects/_/buckets/{attempt.bucket}"
    at_object = operation["at"] == "object"
    asked = gcp_conditions.Asked(
        {
            "name": f"{name}/objects/{attempt.object}" if at_object else name,
            "type": f"storage.googleapis.com/{'Object' if at_object else 'Bucket'}",
            "service": "storage.googleapis.com",
        }
    )
    given: set[str] = set()
    for binding in resources.of_type(BUCKET_MEMBER):
        body = binding.body
        if (body["bucket"].removeprefix("b/"), body["member"]) != (attempt.bucket, principal):
            continue
        condition = body.get("condition")
        if condition is None or gcp_conditions.parse_condition(condition["expression"])(asked):
            given.update(facts["roles"][body["role"]])
    # A managed folder's policy is about objects below it, and lists of them (docs.cloud.google.com/storage/docs/managed-folders).
    below = attempt.object if at_object else attempt.prefix
    for binding in resources.of_type(FOLDER_MEMBER):
        body = binding.body
        if (body["bucket"], body["member"]) == (attempt.bucket, principal) and below.startswith(body["managedFolder"]):
            given.update(facts["roles"][body["role"]])
    return set(operation["permissions"]) <= given
